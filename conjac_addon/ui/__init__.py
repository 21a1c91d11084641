"""Panels and menus: thin views of the settings and of what is on disk."""

from .. import later
from . import advice, damping, manual, menus, panels, sliding, touching

classes = (*panels.classes, *menus.classes)


def register() -> None:
    menus.register()
    manual.register()
    sliding.register()
    touching.register()


def unregister() -> None:
    touching.unregister()
    sliding.unregister()
    manual.unregister()
    menus.unregister()
    for module in (advice, damping):
        if later.has_run(module):
            module.unregister()
