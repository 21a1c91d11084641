"""Overlays of the 3D View: the switch of each, and when it is drawn."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import bpy

from .. import later
from . import contact_marks, ground_marks, sliding_marks


class Overlay:
    """What is drawn over the view at the present frame. Its module runs when it is first shown."""

    def __init__(self, name: str, label: str, tip: str, marks: ModuleType, default: bool = False) -> None:
        """name: of the switch, a property of the window manager. marks: draws them by `draw(context)`. default: whether
        it is on in a new session."""
        self._name, self._label, self._tip, self._marks, self._default = name, label, tip, marks, default
        self._handler: Any = None

    def draw(self) -> None:
        """Draw it where it is switched on."""
        context = bpy.context
        if getattr(context.window_manager, self._name) and context.space_data.overlay.show_overlays:
            self._marks.draw(context)

    def register(self) -> None:
        switch = bpy.props.BoolProperty(  # type: ignore[func-returns-value]
            name=self._label, description=self._tip, default=self._default)
        setattr(bpy.types.WindowManager, self._name, switch)
        self._handler = bpy.types.SpaceView3D.draw_handler_add(self.draw, (), "WINDOW", "POST_VIEW")

    def unregister(self) -> None:
        if self._handler is not None:
            bpy.types.SpaceView3D.draw_handler_remove(self._handler, "WINDOW")
            self._handler = None
        if hasattr(bpy.types.WindowManager, self._name):
            delattr(bpy.types.WindowManager, self._name)
        if later.has_run(self._marks):
            self._marks.forget()

    def draw_switch(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        layout.prop(context.window_manager, self._name)


OVERLAYS = (
    Overlay("conjac_show_ground", "ConJac Ground", "Show the planes that soft bodies, cloth and mechanisms fall on",
            ground_marks, default=True),
    Overlay("conjac_show_sliding", "Sliding Cloth", "Show where cloth sits on sharp edges, and how far it slides "
            "through there in a tenth of a second", sliding_marks),
    Overlay("conjac_show_contacts", "Contacts", "Show where surfaces of baked soft bodies push each other, and how "
            "hard, at the present frame", contact_marks),
)


def draw_switches(self: Any, context: bpy.types.Context) -> None:
    """In the popover of the 3D View's overlays."""
    for overlay in OVERLAYS:
        overlay.draw_switch(self.layout, context)


def register() -> None:
    for overlay in OVERLAYS:
        overlay.register()
    bpy.types.VIEW3D_PT_overlay_object.append(draw_switches)


def unregister() -> None:
    bpy.types.VIEW3D_PT_overlay_object.remove(draw_switches)
    for overlay in OVERLAYS:
        overlay.unregister()
