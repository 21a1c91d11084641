"""Removal of scenes that only existed for a moment."""

from __future__ import annotations

import bpy


def remove(scene: bpy.types.Scene) -> None:
    """Remove a scene that no window shows, also where there is no window at all.

    `bpy.data.scenes.remove` asks the window in front for its scene; Blender 4.3 crashes there in a command (`-c`),
    which has none.
    """
    bpy.data.batch_remove([scene])
