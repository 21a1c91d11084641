"""Which objects a button makes something of."""

import bpy


def meshes(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Return the active object and the selected ones, those of them that are meshes which may be changed."""
    pinned = context.object != context.active_object  # a Properties editor may be pinned to another object
    chosen = dict.fromkeys((context.object, *(() if pinned else context.selected_objects)))
    return [obj for obj in chosen if obj.type == "MESH" and obj.is_editable]
