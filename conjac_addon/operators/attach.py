"""Operators that attach parts of a soft body to bones and rigid body objects, and remove attachments."""

import bpy

from .. import members
from ..redraw import redraw_panels
from .entries import AddEntry, RemoveEntry
from .light import Behaviour


class CONJAC_OT_add_attachment(AddEntry, Behaviour):
    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        one = obj.conjac.attachments.add()
        rig = rig_of(obj, context)
        if rig is None:
            one.object, one.part = _rigid_of(obj, context)
        else:
            one.object = rig
            one.part = rig.data.bones.active.name if rig.data.bones.active is not None else ""
        redraw_panels()
        return {"FINISHED"}


class CONJAC_OT_remove_attachment(RemoveEntry, Behaviour):
    entries = "attachments"


def _rigid_of(obj: bpy.types.Object, context: bpy.types.Context) -> tuple[bpy.types.Object | None, str]:
    """Return the Empty of a mechanism that is selected or has a selected rigid body object, and that object's name; the
    only one of the scene where neither is."""
    empties = [empty for empty in context.scene.objects if empty.type == "EMPTY" and members.is_mechanism(empty)]
    for empty in empties:
        collection = empty.conjac.mechanism.collection
        parts = [] if collection is None else collection.all_objects.values()
        for selected in context.selected_objects:
            if selected != obj and selected.rigid_body is not None and selected in parts:
                return empty, selected.name
    chosen = [empty for empty in empties if empty.select_get()] or empties
    return (chosen[0], "") if len(chosen) == 1 else (None, "")


def rig_of(obj: bpy.types.Object, context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the armature that deforms or carries a mesh, else one that is selected."""
    found = [modifier.object for modifier in obj.modifiers if modifier.type == "ARMATURE"]
    candidates = [*found, obj.parent, *context.selected_objects]
    return next((candidate for candidate in candidates if candidate is not None and candidate.type == "ARMATURE"), None)
