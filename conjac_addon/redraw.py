"""Draws panels again when what they show has changed behind Blender's back."""

import bpy


def redraw_panels() -> None:
    """The 3D Views and Properties editors of every window."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in {"VIEW_3D", "PROPERTIES"}:
                area.tag_redraw()
