"""Add and remove nails."""

import bpy

from ..settings import present_frame
from .entries import AddEntry, RemoveEntry
from .setup import empty_beside, middle_of


class CONJAC_OT_add_nail(AddEntry, bpy.types.Operator):
    """Hold the active soft body from the present frame on, along the Z axis of a new Empty through its middle"""

    bl_idname = "conjac.add_nail"
    bl_label = "Add Nail"
    of_volumes = True

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        size = max(*obj.dimensions, 1.0e-3)
        empty = empty_beside(obj, "Nail", "SINGLE_ARROW", 0.75 * size)
        empty.location = middle_of(obj)
        nail = obj.conjac.nails.add()
        nail.frame, nail.object = present_frame(context.scene), empty
        nail.radius = max(obj.conjac.edge_length, 0.08 * size)
        return {"FINISHED"}


class CONJAC_OT_remove_nail(RemoveEntry, bpy.types.Operator):
    """Forget this nail; its Empty stays"""

    bl_idname = "conjac.remove_nail"
    bl_label = "Remove Nail"
    entries = "nails"


classes = (CONJAC_OT_add_nail, CONJAC_OT_remove_nail)
