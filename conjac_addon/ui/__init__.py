"""Panels and menus: thin views of the settings and of what is on disk."""

from .. import later
from . import advice, damping, manual, menus, overlays, panels

classes = (*panels.classes, *menus.classes)


def register() -> None:
    menus.register()
    manual.register()
    overlays.register()


def unregister() -> None:
    overlays.unregister()
    manual.unregister()
    menus.unregister()
    for module in (advice, damping):
        if later.has_run(module):
            module.unregister()
