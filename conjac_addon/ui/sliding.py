"""The overlay that shows where cloth sits on sharp edges and how it slides there: its switch, and when it is drawn."""

from __future__ import annotations

from typing import Any

import bpy

from .. import later
from . import sliding_marks

_handler: list[Any] = []


def draw() -> None:
    """Draw it where it is switched on."""
    context = bpy.context
    if context.window_manager.conjac_show_sliding and context.space_data.overlay.show_overlays:
        sliding_marks.draw(context)


def draw_switch(self: Any, context: bpy.types.Context) -> None:
    """In the popover of the 3D View's overlays."""
    self.layout.prop(context.window_manager, "conjac_show_sliding")


def register() -> None:
    bpy.types.WindowManager.conjac_show_sliding = bpy.props.BoolProperty(  # type: ignore[func-returns-value]
        name="Sliding Cloth", description="Show where cloth sits on sharp edges, and how far it slides through there "
        "in a tenth of a second", default=False)
    bpy.types.VIEW3D_PT_overlay_object.append(draw_switch)
    _handler.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    while _handler:
        bpy.types.SpaceView3D.draw_handler_remove(_handler.pop(), "WINDOW")
    bpy.types.VIEW3D_PT_overlay_object.remove(draw_switch)
    if hasattr(bpy.types.WindowManager, "conjac_show_sliding"):
        del bpy.types.WindowManager.conjac_show_sliding
    if later.has_run(sliding_marks):
        sliding_marks._read.clear()
