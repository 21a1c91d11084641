"""Panels and menus: thin views of the settings and of what is on disk."""

from typing import Any

import bpy

from .. import failures, later
from . import advice, damping, manual, menus, overlays, panels, presets

classes = (*panels.classes, *menus.classes, *presets.classes)


def manual_map() -> Any:
    return manual.manual_map()


def register() -> None:
    menus.register()
    presets.register()
    bpy.utils.register_manual_map(manual_map)
    overlays.register()


def unregister() -> None:
    overlays.unregister()
    bpy.utils.unregister_manual_map(manual_map)
    presets.unregister()
    menus.unregister()
    for module in (advice, damping):
        if later.has_run(module):
            module.unregister()
    if later.has_run(failures):
        failures.forget()
