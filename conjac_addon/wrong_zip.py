"""All that is there of ConJac where its zip is for another Python: the sentence that names the right zip.

It is shown in the console, in a message, in the preferences and in the sidebar. Nothing else is registered, so that
nothing fails, and the right zip installs over this one.
"""

from __future__ import annotations

from typing import Any

import bpy

from . import text
from .prefs import ROOT_PACKAGE

#: width of the message and the preferences [pixels at a scale of one], and seconds until Blender is drawn
WIDTH, DRAWN = 440, 1.0

_sentence = ""
_classes: list[type] = []


def register(sentence: str) -> None:
    """Show the sentence of `built_for`."""
    global _sentence
    _sentence = sentence
    print(f"ConJac: {sentence}", flush=True)
    _classes[:] = [
        type("CONJAC_Preferences", (bpy.types.AddonPreferences,), {"bl_idname": ROOT_PACKAGE, "draw": _draw_wide}),
        type("CONJAC_PT_view3d", (bpy.types.Panel,), {
            "bl_idname": "CONJAC_PT_view3d", "bl_label": "ConJac", "bl_space_type": "VIEW_3D", "bl_region_type": "UI",
            "bl_category": "ConJac", "draw": _draw_narrow})]
    for cls in _classes:
        bpy.utils.register_class(cls)
    if not bpy.app.background:
        bpy.app.timers.register(_show, first_interval=DRAWN)


def unregister() -> None:
    if bpy.app.timers.is_registered(_show):
        bpy.app.timers.unregister(_show)
    while _classes:
        bpy.utils.unregister_class(_classes.pop())


def _draw_narrow(self: Any, _context: bpy.types.Context) -> None:
    text.paragraph(self.layout, _sentence, "ERROR")


def _draw_wide(self: Any, _context: bpy.types.Context) -> None:
    text.dialog(self.layout, _sentence, WIDTH)


def _show() -> None:
    bpy.context.window_manager.popup_menu(_draw_wide, title="ConJac", icon="ERROR")
