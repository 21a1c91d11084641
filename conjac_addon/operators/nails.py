"""Add and remove nails."""

import bpy

from ..timeline import present_frame, present_subframe
from .entries import AddEntry, RemoveEntry
from .light import Behaviour
from .setup import empty_beside, middle_of


class CONJAC_OT_add_nail(AddEntry, Behaviour):
    of_volumes = True

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        size = max(*obj.dimensions, 1.0e-3)
        empty = empty_beside(obj, "Nail", "SINGLE_ARROW", 0.75 * size)
        empty.location = middle_of(obj)
        nail = obj.conjac.nails.add()
        nail.frame, nail.subframe, nail.object = present_frame(context.scene), present_subframe(context.scene), empty
        nail.radius = max(obj.conjac.edge_length, 0.08 * size)
        return {"FINISHED"}


class CONJAC_OT_remove_nail(RemoveEntry, Behaviour):
    entries = "nails"
