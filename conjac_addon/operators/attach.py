"""Add and remove what of a soft body follows bones."""

import bpy

from ..redraw import redraw_panels
from .entries import AddEntry, RemoveEntry
from .light import Behaviour


class CONJAC_OT_add_attachment(AddEntry, Behaviour):
    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        one = obj.conjac.attachments.add()
        one.object = rig_of(obj, context)
        if one.object is not None and one.object.data.bones.active is not None:
            one.part = one.object.data.bones.active.name
        redraw_panels()
        return {"FINISHED"}


class CONJAC_OT_remove_attachment(RemoveEntry, Behaviour):
    entries = "attachments"


def rig_of(obj: bpy.types.Object, context: bpy.types.Context) -> bpy.types.Object | None:
    """The armature that deforms or carries a mesh, else one that is selected."""
    found = [modifier.object for modifier in obj.modifiers if modifier.type == "ARMATURE"]
    candidates = [*found, obj.parent, *context.selected_objects]
    return next((one for one in candidates if one is not None and one.type == "ARMATURE"), None)
