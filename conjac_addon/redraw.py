"""Redraws panels when the data that they show has changed without Blender's notice."""

import bpy


def redraw_panels() -> None:
    """The 3D Views and Properties editors of every window."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in {"VIEW_3D", "PROPERTIES"}:
                area.tag_redraw()
