"""Panels and menus: thin views of the settings and of what is on disk."""

from . import advice, damping, manual, menus, panels, sliding

classes = (*panels.classes, *menus.classes)


def register() -> None:
    menus.register()
    manual.register()
    sliding.register()


def unregister() -> None:
    sliding.unregister()
    manual.unregister()
    menus.unregister()
    advice.unregister()
    damping.unregister()
