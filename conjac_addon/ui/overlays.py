"""Overlays of the 3D View: the switch of each, and when it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import bpy

from ...solver import catalogue
from .. import later
from ..operators import previews
from . import contact_marks, ground_marks, map_marks, preview_marks, sliding_marks, value_marks

Items = Sequence[tuple[str, str, str]]  #: identifier, label, tooltip


class Overlay:
    """An overlay of the view at the present frame. Its module runs when it is first shown."""

    def __init__(self, name: str, label: str, tip: str, marks: ModuleType, default: bool = False,
                 draws: str = "draw", legend: str = "", after: ModuleType | None = None) -> None:
        """name: of the switch, a property of the window manager. marks: draws them by a function of the context that is
        called as `draws` says, and their legend by one that is called as `legend` says. default: whether it is on in a
        new session. after: before this module has run there is nothing to draw."""
        self._name, self._label, self._tip, self._marks, self._default = name, label, tip, marks, default
        self._after = after
        self._drawn = {"POST_VIEW": draws, **({"POST_PIXEL": legend} if legend else {})}
        self._handlers: list[Any] = []

    def is_on(self) -> bool:
        """Whether it is switched on."""
        return bool(getattr(bpy.context.window_manager, self._name))

    def switch(self) -> Any:
        """Return the property that is its switch."""
        return bpy.props.BoolProperty(  # type: ignore[func-returns-value]
            name=self._label, description=self._tip, default=self._default)

    def draw(self, function: str) -> None:
        """Draw a part of it where it is switched on."""
        context = bpy.context
        if self._after is not None and not later.has_run(self._after):
            return
        if self.is_on() and context.space_data.overlay.show_overlays:
            getattr(self._marks, function)(context)

    def register(self) -> None:
        setattr(bpy.types.WindowManager, self._name, self.switch())
        self._handlers = [bpy.types.SpaceView3D.draw_handler_add(self.draw, (function,), "WINDOW", when)
                          for when, function in self._drawn.items()]

    def unregister(self) -> None:
        while self._handlers:
            bpy.types.SpaceView3D.draw_handler_remove(self._handlers.pop(), "WINDOW")
        if hasattr(bpy.types.WindowManager, self._name):
            delattr(bpy.types.WindowManager, self._name)
        if later.has_run(self._marks):
            self._marks.forget()

    def draw_switch(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        layout.prop(context.window_manager, self._name)


class Heat(Overlay):
    """Colors of the active object, and their legend. The value of the switch: "none", or one of its items."""

    def __init__(self, name: str, label: str, tip: str, marks: ModuleType, draws: str, items: Items) -> None:
        """marks: has the functions `draws`, for the colours, and `draw_legend`."""
        super().__init__(name, label, tip, marks, draws=draws, legend="draw_legend")
        self._items = items

    def is_on(self) -> bool:
        """Whether something is chosen that gives the colours."""
        return bool(getattr(bpy.context.window_manager, self._name) != "none")

    def switch(self) -> Any:
        """Return the property of its switch."""
        return bpy.props.EnumProperty(  # type: ignore[func-returns-value]
            name=self._label, description=self._tip, items=[("none", "None", "Show none"), *self._items])


OVERLAYS = (
    Heat("conjac_heat", "Painted Map", "Show a map of the active soft body or cloth as colors, with a legend",
         map_marks, "draw_heat", [(entry.key, entry.label, entry.sentence) for entry in catalogue.maps().values()]),
    Heat("conjac_colors", "Baked Values", "Show baked values of the active object at this frame as colors, with a "
         "legend. Stress Output, in Output, stores them", value_marks, "draw_values", [
             ("stress", "Von Mises Stress", "How strongly the material is strained, in any direction"),
             ("stretch", "Stretch", "Length over rest length, in the direction of the largest stretch"),
             ("pressure", "Pressure", "How hard it is squeezed from all sides; below zero it is pulled apart"),
             ("speed", "Speed", "How fast it moves")]),
    Overlay("conjac_show_pins", "Pins", "Show which vertices are pinned: orange for hard pins, yellow for soft ones",
            map_marks, draws="draw_pins"),
    Overlay("conjac_show_ground", "ConJac Ground", "Show the ground planes of soft bodies, cloth and mechanisms",
            ground_marks, default=True),
    Overlay("conjac_show_previews", "ConJac Previews", "Show the tetrahedra, fibers, maps, bodies and joints of the "
            "preview buttons", preview_marks, default=True, legend="draw_legend", after=previews),
    Overlay("conjac_show_sliding", "Sliding Cloth", "Show where cloth lies on sharp edges, and how far it slides "
            "there in a tenth of a second", sliding_marks),
    Overlay("conjac_show_contacts", "Contacts", "Show where surfaces of baked soft bodies push each other, and how "
            "hard, at the current frame", contact_marks),
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
