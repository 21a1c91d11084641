"""Add and remove nails."""

import bpy
from mathutils import Vector

from .. import members
from ..timeline import present_frame, present_subframe
from .entries import AddEntry, RemoveEntry
from .light import Behaviour
from .poll import unless
from .setup import empty_beside, middle_of


class CONJAC_OT_add_nail(AddEntry, Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and unless(
            cls, context.object, members.is_sharp, "Cloth with Sharp Edges takes no nails: pin it instead") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        size = max(*obj.dimensions, 1.0e-3)
        empty = empty_beside(obj, "Nail", "SINGLE_ARROW", 0.75 * size)
        empty.location = middle_of(obj)
        if members.is_cloth(obj):  # through it: a nail along it would hold a whole row
            empty.rotation_mode = "QUATERNION"
            empty.rotation_quaternion = _across(obj).to_track_quat("Z", "Y")
        nail = obj.conjac.nails.add()
        nail.frame, nail.subframe, nail.object = present_frame(context.scene), present_subframe(context.scene), empty
        nail.radius = max(obj.conjac.edge_length, 0.08 * size)
        return {"FINISHED"}


def _across(obj: bpy.types.Object) -> Vector:
    """Return the way through a flat object: the axis of its box along which it is thinnest, in the world."""
    thin = min(range(3), key=lambda axis: obj.dimensions[axis])
    return obj.matrix_world.to_3x3().inverted_safe().transposed().col[thin].normalized()


class CONJAC_OT_remove_nail(RemoveEntry, Behaviour):
    entries = "nails"
