"""Add and remove damped springs between parts of a mechanism."""

from __future__ import annotations

import bpy

from .. import changes
from ..redraw import redraw_panels
from .light import Behaviour
from .poll import active_mechanism, out_of_edit_mode, unless


class CONJAC_OT_add_spring(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return out_of_edit_mode(cls, active_mechanism(cls, context)) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        pairs = pairs_of_bones(context) if obj.type == "ARMATURE" else pair_of_objects(obj, context)
        for first, second in pairs or [("", "")]:
            add_spring(obj, first, second)
        if not pairs:
            self.report({"INFO"}, "Nothing was selected to join: choose both ends under Springs")
        redraw_panels()
        return {"FINISHED"}


def add_spring(mechanism: bpy.types.Object, first: str, second: str) -> bpy.types.PropertyGroup:
    """Add a spring between parts, make it active and return it."""
    settings = mechanism.conjac.mechanism
    spring = settings.springs.add()
    spring.name = f"{first} – {second or 'World'}" if first else "Spring"
    spring.first, spring.second = first, second
    settings.active_spring = len(settings.springs) - 1
    return spring


def pairs_of_bones(context: bpy.types.Context) -> list[tuple[str, str]]:
    """Return the two selected pose bones; of more, each with its parent if that one is selected too."""
    chosen = list(context.selected_pose_bones or ())
    if len(chosen) == 2:
        return [(chosen[0].name, chosen[1].name)]
    names = {bone.name for bone in chosen}
    return [(bone.parent.name, bone.name) for bone in chosen if bone.parent is not None and bone.parent.name in names]


def pair_of_objects(mechanism: bpy.types.Object, context: bpy.types.Context) -> list[tuple[str, str]]:
    """Two selected rigid body objects of a mechanism."""
    collection = mechanism.conjac.mechanism.collection
    parts = set(collection.all_objects) if collection is not None else set()
    chosen = [obj.name for obj in context.selected_objects if obj in parts and obj.rigid_body is not None]
    return [(chosen[0], chosen[1])] if len(chosen) == 2 else []


class CONJAC_OT_remove_spring(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, active_mechanism(cls, context), lambda obj: not len(obj.conjac.mechanism.springs),
                      "It has no spring") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = context.object.conjac.mechanism
        last = len(settings.springs) - 1
        settings.springs.remove(min(settings.active_spring, last))
        changes.note()
        settings.active_spring = max(0, min(settings.active_spring, last - 1))
        redraw_panels()
        return {"FINISHED"}
