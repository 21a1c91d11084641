"""A round table, and a cloth that falls on it."""

import bpy
from mathutils import Vector

from .. import kinds
from . import made

RADIUS, HEIGHT, SIDE = 0.6, 0.7, 1.8


def make(context: bpy.types.Context, at: Vector) -> list[bpy.types.Object]:
    table = made.add_mesh(context, "Table", made.cylinder(RADIUS, HEIGHT), at + Vector((0.0, 0.0, 0.5 * HEIGHT)), False)
    table.conjac.kind = kinds.COLLIDER
    cloth = made.add_mesh(context, "Tablecloth", made.grid(SIDE, SIDE, 40), at + Vector((0.0, 0.0, HEIGHT + 0.1)))
    made.choose(context, cloth)
    bpy.ops.conjac.quick_cloth(falls_from=0.0)
    return [table, cloth]
