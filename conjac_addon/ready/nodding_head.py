"""A soft monkey that is moved by its chin and then stopped: the head swings on and its ears flap."""

import bmesh
import bpy
from mathutils import Vector

from . import made

CHIN = -0.35  #: below this height its mesh is pinned [Blender units]
FIRMER = 5.0  #: times as stiff as what lies on the ground: it stands on its chin
WAY, FRAMES = 0.8, 10  #: how far it is moved along X [Blender units], and in how many frames


def make(context: bpy.types.Context, at: Vector) -> list[bpy.types.Object]:
    head = made.add_mesh(context, "Nodding Head", bmesh.ops.create_monkey, at + Vector((0.0, 0.0, 1.0)))
    made.paint(head, head.conjac.pin_group, lambda place: float(place.z < CHIN))
    start = context.scene.frame_start
    # its delta, so that the head can be put elsewhere as it is
    for frame, x in ((start, -WAY), (start + FRAMES, 0.0)):
        head.delta_location.x = x
        head.keyframe_insert("delta_location", index=0, frame=frame)
    context.scene.frame_set(context.scene.frame_current)
    made.choose(context, head)
    bpy.ops.conjac.quick_jelly(falls_from=0.0)
    head.conjac.youngs_modulus *= FIRMER
    return [head]
