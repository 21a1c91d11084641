"""Whether a button may be pressed, and the reason why not."""

import bpy

from .. import members


def active_mesh(cls: type[bpy.types.Operator], context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object if it is a mesh that may be changed; else None, and the button says why it is grey."""
    obj = context.active_object
    if obj is None or obj.type != "MESH":
        cls.poll_message_set("Select a mesh object")
    elif not obj.is_editable:
        cls.poll_message_set("The object is linked from another file; make it local or add a library override")
    else:
        return obj
    return None


def active_soft_body(cls: type[bpy.types.Operator], context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object if it is a soft body; else None, and the button says why it is grey."""
    obj = active_mesh(cls, context)
    if obj is not None and not obj.conjac.enabled:
        cls.poll_message_set("The active object is not a ConJac soft body; add one first")
        return None
    return obj


def soft_body_to_read(cls: type[bpy.types.Operator], context: bpy.types.Context) -> bpy.types.Object | None:
    """The same for a button that evaluates the object: Blender gives nothing new of a mesh in Edit Mode."""
    return _out_of_edit_mode(cls, active_soft_body(cls, context))


def baked(cls: type[bpy.types.Operator], context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object if it has a bake, as a soft body or a mechanism; else None, and the button says why."""
    if not members.is_mechanism(context.active_object):
        return active_soft_body(cls, context)
    return active_mechanism(cls, context)


def to_read(cls: type[bpy.types.Operator], context: bpy.types.Context) -> bpy.types.Object | None:
    """The same for a button that evaluates the object."""
    return _out_of_edit_mode(cls, baked(cls, context))


def active_mechanism(cls: type[bpy.types.Operator], context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object if it is a mechanism that may be changed; else None, and the button says why it is grey."""
    obj = context.active_object
    if not members.is_mechanism(obj):
        cls.poll_message_set("Select an armature with ConJac, or the Empty of a mechanism")
    elif not obj.is_editable:
        cls.poll_message_set("The object is linked from another file; make it local or add a library override")
    else:
        return obj
    return None


def active_armature(cls: type[bpy.types.Operator], context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object if it is an armature that may be changed; else None, and the button says why it is grey."""
    obj = context.active_object
    if obj is None or obj.type != "ARMATURE":
        cls.poll_message_set("Select an armature")
    elif not obj.is_editable:
        cls.poll_message_set("The armature is linked from another file; make it local or add a library override")
    elif obj.mode == "EDIT":
        cls.poll_message_set("Leave Edit Mode first")
    else:
        return obj
    return None


def _out_of_edit_mode(cls: type[bpy.types.Operator], obj: bpy.types.Object | None) -> bpy.types.Object | None:
    if obj is not None and obj.mode == "EDIT":
        cls.poll_message_set("Leave Edit Mode first")
        return None
    return obj
