"""Panels and menus: thin views of the settings and of the files on disk."""

from collections.abc import Callable
from typing import Any

import bpy

from .. import failures, later
from . import advice, damping, manual, menus, overlays, panels, presets

classes = (*panels.classes, *menus.classes, *presets.classes)


def manual_map() -> Any:
    return manual.manual_map()


#: functions that unregister each registered part
_there: list[Callable[[], object]] = []


def register() -> None:
    for begin, end in ((menus.register, menus.unregister), (presets.register, presets.unregister),
                       (lambda: bpy.utils.register_manual_map(manual_map),
                        lambda: bpy.utils.unregister_manual_map(manual_map)),
                       (overlays.register, overlays.unregister)):
        begin()
        _there.append(end)


def unregister() -> None:
    while _there:
        _there.pop()()
    for module in (advice, damping):
        if later.has_run(module):
            module.unregister()
    if later.has_run(failures):
        failures.forget()
