"""A ball of jelly above a ground."""

import bmesh
import bpy
from mathutils import Vector

from . import made

RADIUS = 0.5


def make(context: bpy.types.Context, at: Vector) -> list[bpy.types.Object]:
    def fill(ball: bmesh.types.BMesh) -> None:
        bmesh.ops.create_icosphere(ball, subdivisions=4, radius=RADIUS)

    ball = made.add_mesh(context, "Jelly Ball", fill, at)
    made.choose(context, ball)
    bpy.ops.conjac.quick_jelly(falls_from=1.0)
    return [ball]
