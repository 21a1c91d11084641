"""Whether a button may be pressed, and the reason why not."""

from collections.abc import Callable
from typing import Any

import bpy

from .. import members, uncounted

Operator = Any  # the class of a button, or of what it is mixed of


def unless(cls: Operator, obj: bpy.types.Object | None, wrong: Callable[[bpy.types.Object], bool],
           why: str) -> bpy.types.Object | None:
    """Return the object, or None if a condition fails; then the button shows why it is greyed out."""
    if obj is None or not wrong(obj):
        return obj
    cls.poll_message_set(why)
    return None


class DynamicOnly:
    """Base of a button that is greyed out where dynamic nodes have no effect, with the reason in its tooltip."""

    @classmethod
    def description(cls: Operator, context: bpy.types.Context, _properties: bpy.types.OperatorProperties) -> str:
        return uncounted.tooltip(cls.bl_description, context.object, "dynamic")


def _editable(cls: Operator, obj: bpy.types.Object, what: str) -> bpy.types.Object | None:
    return unless(cls, obj, lambda one: not one.is_editable,
                  f"{what} is linked from another file; make it local or add a library override")


def active_mesh(cls: Operator, context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the active object if it is a mesh that may be changed."""
    obj = context.object
    if obj is None or obj.type != "MESH":
        cls.poll_message_set("Select a mesh object")
        return None
    return _editable(cls, obj, "The object")


def mesh_unless(cls: Operator, context: bpy.types.Context,
                *wrong: tuple[Callable[[bpy.types.Object], bool], str]) -> bool:
    """Whether the active object is an editable mesh for which no condition fails. wrong: condition and reason."""
    obj = active_mesh(cls, context)
    for is_wrong, why in wrong:
        obj = unless(cls, obj, is_wrong, why)
    return obj is not None


def active_soft_body(cls: Operator, context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the active object if it is a soft body that may be changed."""
    return unless(cls, active_mesh(cls, context), lambda obj: not members.is_soft_body(obj),
                  "The active object is not a ConJac soft body; add one first")


def with_inside(cls: Operator, obj: bpy.types.Object | None) -> bpy.types.Object | None:
    """Return a soft body that is filled with tetrahedra."""
    return unless(cls, obj, members.is_cloth, "The active object is cloth, which has no inside")


def active_mechanism(cls: Operator, context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the active object if it is a mechanism that may be changed."""
    obj = context.object
    if not members.is_mechanism(obj):
        cls.poll_message_set("Select an armature with ConJac, or the Empty of a mechanism")
        return None
    return _editable(cls, obj, "The object")


def active_armature(cls: Operator, context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the active object if it is an armature that may be changed, and no bone of it is being edited."""
    obj = context.object
    if obj is None or obj.type != "ARMATURE":
        cls.poll_message_set("Select an armature")
        return None
    return out_of_edit_mode(cls, _editable(cls, obj, "The armature"))


def baked(cls: Operator, context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the active object if it has a bake, as a soft body or a mechanism."""
    if not members.is_mechanism(context.object):
        return active_soft_body(cls, context)
    return active_mechanism(cls, context)


def soft_body_to_read(cls: Operator, context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the active soft body, for a button that evaluates it."""
    return out_of_edit_mode(cls, active_soft_body(cls, context))


def to_read(cls: Operator, context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the active soft body or mechanism, for a button that evaluates it."""
    return out_of_edit_mode(cls, baked(cls, context))


def out_of_edit_mode(cls: Operator, obj: bpy.types.Object | None) -> bpy.types.Object | None:
    """Blender gives nothing new of an object in Edit Mode."""
    return unless(cls, obj, lambda one: one.mode == "EDIT", "Leave Edit Mode first")


def in_object_mode(cls: Operator, obj: bpy.types.Object | None) -> bpy.types.Object | None:
    return unless(cls, obj, lambda one: one.mode != "OBJECT", "Go to Object Mode first")
