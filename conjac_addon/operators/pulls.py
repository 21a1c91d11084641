"""Add and remove pulls."""

import bpy

from .entries import AddEntry, RemoveEntry
from .setup import empty_beside, middle_of


class CONJAC_OT_add_pull(AddEntry, bpy.types.Operator):
    """Pull the active soft body at a spot with a new Empty: animate it, and what is near it at the start follows"""

    bl_idname = "conjac.add_pull"
    bl_label = "Add Pull"

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        size = max(*obj.dimensions, 1.0e-3)
        empty = empty_beside(obj, "Pull", "SPHERE", 0.25 * size)
        empty.location = middle_of(obj)
        pull = obj.conjac.pulls.add()
        pull.object, pull.radius = empty, 0.25 * size
        return {"FINISHED"}


class CONJAC_OT_remove_pull(RemoveEntry, bpy.types.Operator):
    """Forget this pull; its Empty stays"""

    bl_idname = "conjac.remove_pull"
    bl_label = "Remove Pull"
    entries = "pulls"


classes = (CONJAC_OT_add_pull, CONJAC_OT_remove_pull)
