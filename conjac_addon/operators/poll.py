"""Whether a button may be pressed, and the reason why not."""

import bpy


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
    obj = active_soft_body(cls, context)
    if obj is not None and obj.mode == "EDIT":
        cls.poll_message_set("Leave Edit Mode first")
        return None
    return obj
