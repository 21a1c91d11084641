"""Decides which of the artist's keys and clicks are for a background operation, and which for Blender."""

from __future__ import annotations

from typing import Any

import bpy

#: what reaches Blender's own tools while the scene is being read frame by frame: nothing that changes it
LOOKING = frozenset({"MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "TRACKPADPAN",
                     "TRACKPADZOOM", "ESC"})


def is_rendering() -> bool:
    """Whether a render runs behind this window."""
    app: Any = bpy.app
    return bool(app.is_job_running("RENDER"))


def is_cancel(event: bpy.types.Event) -> bool:
    """Whether the artist means us by Esc, and not a timeline that plays or a render that runs."""
    if event.type != "ESC" or event.value != "PRESS" or is_rendering():
        return False
    return not any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)


def may_pass(event: bpy.types.Event, window: bpy.types.Window) -> bool:
    """Whether Blender may have an event while the scene is read: looking around, and a click where our buttons are."""
    if event.type in LOOKING or event.type.startswith("TIMER"):
        return True
    return event.type == "LEFTMOUSE" and _is_on_panel(event.mouse_x, event.mouse_y, window)


def _is_on_panel(x: int, y: int, window: bpy.types.Window) -> bool:
    """Whether a place in the window is in a sidebar of a 3D View or in a Properties editor."""
    for area in window.screen.areas:
        for region in area.regions:
            panels = (area.type, region.type) in {("VIEW_3D", "UI"), ("PROPERTIES", "WINDOW")}
            if panels and 0 <= x - region.x < region.width and 0 <= y - region.y < region.height:
                return True
    return False
