"""Panels and menus: thin views of the settings and of what is on disk."""

from . import advice, damping, manual, menus, panels

classes = (*panels.classes, *menus.classes)


def register() -> None:
    menus.register()
    manual.register()


def unregister() -> None:
    manual.unregister()
    menus.unregister()
    advice.unregister()
    damping.unregister()
