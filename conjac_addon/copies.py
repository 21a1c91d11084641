"""Copies the Empties that an object's settings point at, which Blender does not copy with it."""

from __future__ import annotations

import bpy


def own_handles(obj: bpy.types.Object) -> None:
    """Give a copy of a soft body handles of its own, where the original's are on the original, that go with it.

    Blender copies what points at an Empty and not the Empty. One that hangs on nothing may be meant for both.
    """
    if obj.library is not None:
        return
    made = False
    for handle in obj.conjac.handles:
        empty = handle.object
        if empty is None or empty.parent in (None, obj) or not _is_handle_of(empty, empty.parent):
            continue
        own = empty.copy()
        own.name = f"{obj.name} Handle"
        own.parent = obj  # its place in the parent's space is copied, so it is where the original's is on the original
        for collection in obj.users_collection:
            if collection.is_editable and collection.override_library is None:
                collection.objects.link(own)
        if not own.users_collection:
            obj.users_scene[0].collection.objects.link(own)
        handle.object, made = own, True
    if made:  # Blender 5.3 tells of a new object, and of its place below its parent, once layers are updated
        for scene in obj.users_scene:
            for layer in scene.view_layers:
                layer.update()


def _is_handle_of(empty: bpy.types.Object, other: bpy.types.Object) -> bool:
    return any(handle.object == empty for handle in other.conjac.handles)
