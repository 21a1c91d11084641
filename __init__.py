"""Blender's entry to the extension. Imports nothing until Blender asks: tests and workers run where bpy is absent."""


def register() -> None:
    from .conjac_addon import built_for

    built_for.check()
    from . import conjac_addon

    conjac_addon.register()


def unregister() -> None:
    from . import conjac_addon

    conjac_addon.unregister()
