"""A rope between two pegs, and a ball of jelly that falls on it."""

import bmesh
import bpy
from mathutils import Vector

from . import made
from .jelly_ball import RADIUS

LENGTH, POINTS, HEIGHT = 3.0, 60, 1.6


def make(context: bpy.types.Context, at: Vector) -> list[bpy.types.Object]:
    def line(rope: bmesh.types.BMesh) -> None:
        points = [rope.verts.new((LENGTH * (number / POINTS - 0.5), 0.0, 0.0)) for number in range(POINTS + 1)]
        for first, second in zip(points, points[1:]):
            rope.edges.new((first, second))

    rope = made.add_mesh(context, "Tightrope", line, at + Vector((0.0, 0.0, HEIGHT)), False)
    made.paint(rope, rope.conjac.pin_group, lambda place: float(abs(place.x) > 0.499 * LENGTH))
    made.choose(context, rope)
    bpy.ops.conjac.add_rope()
    ball = made.add_mesh(context, "Jelly Ball", lambda one: bmesh.ops.create_icosphere(
        one, subdivisions=3, radius=0.6 * RADIUS), at + Vector((0.2, 0.0, HEIGHT + 0.6)))
    made.choose(context, ball)
    bpy.ops.conjac.quick_jelly(falls_from=0.0)
    return [rope, ball]
