"""Panels and menus: thin views of the settings and of what is on disk."""

from . import advice, damping, menus, panels

classes = (*panels.classes, *menus.classes)


def register() -> None:
    menus.register()


def unregister() -> None:
    menus.unregister()
    advice.unregister()
    damping.unregister()
