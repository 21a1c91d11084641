"""Play Live: a soft body moves in real time, and nothing is written into the file, the mesh or the undo history."""

from __future__ import annotations

from typing import Any

import bpy

from .. import later
from . import handlers, session

OPERATOR = "conjac.play_live"
KEY: dict[str, Any] = {"type": "P", "value": "PRESS", "ctrl": True, "alt": True}

#: entries in the artist's keymap under Add-ons
_keys: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


def is_played(obj: bpy.types.Object | None) -> bool:
    """Whether the object is played live."""
    return obj is not None and later.has_run(session) and obj.session_uid in session.playing


def played(obj: bpy.types.Object) -> session.Played | None:
    """Return the session that plays the object live."""
    return session.playing.get(obj.session_uid) if later.has_run(session) else None


def register() -> None:
    handlers.register()
    keys = bpy.context.window_manager.keyconfigs.addon
    if keys is not None:  # there are none where there is no window
        keymap = keys.keymaps.new(name="3D View", space_type="VIEW_3D")
        _keys.append((keymap, keymap.keymap_items.new(OPERATOR, **KEY)))


def unregister() -> None:
    while _keys:
        keymap, item = _keys.pop()
        keymap.keymap_items.remove(item)
    if later.has_run(session):
        session.stop_all()
    handlers.unregister()
