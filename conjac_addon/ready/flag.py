"""A flag that hangs on a pole, and the wind in which it flies."""

from math import pi

import bpy
from mathutils import Euler, Vector

from .. import kinds
from . import made

WIDE, HIGH, POLE = 1.5, 1.0, 2.4
WIND = 8.0  #: strength of the force field


def make(context: bpy.types.Context, at: Vector) -> list[bpy.types.Object]:
    middle = at + Vector((0.5 * WIDE + 0.03, 0.0, POLE - 0.55 * HIGH))
    pole = made.add_mesh(context, "Pole", made.cylinder(0.02, POLE, 24), at + Vector((0.0, 0.0, 0.5 * POLE)), False)
    pole.conjac.kind = kinds.COLLIDER
    flag = made.add_mesh(context, "Flag", made.grid(WIDE, HIGH, 45), middle)
    flag.rotation_euler = Euler((0.5 * pi, 0.0, 0.0))
    made.paint(flag, flag.conjac.pin_group, lambda place: float(place.x < -0.499 * WIDE))
    # a force field has no other maker than its operator
    bpy.ops.object.effector_add(type="WIND", location=at + Vector((-1.0, -0.3, POLE)), rotation=(0.1, 0.5 * pi, 0.2))
    wind = context.object
    assert wind is not None and wind.field is not None
    wind.field.strength = WIND
    made.choose(context, flag)
    bpy.ops.conjac.quick_cloth(falls_from=0.0, colliders=False)
    return [pole, wind, flag]
