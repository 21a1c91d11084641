"""A rounded cube of jelly above a ground, turned so that it lands on an edge and rolls over."""

import bpy
from mathutils import Euler, Vector

from . import made

SIZE = 1.0


def make(context: bpy.types.Context, at: Vector) -> list[bpy.types.Object]:
    cube = made.add_mesh(context, "Jelly Cube", made.rounded_cube(SIZE, 7), at)
    cube.rotation_euler = Euler((0.5, 0.3, 0.0))
    made.choose(context, cube)
    bpy.ops.conjac.quick_jelly(falls_from=0.7)
    return [cube]
