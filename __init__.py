"""Blender's entry to the extension. Imports nothing until Blender asks: tests and workers run where bpy is absent."""


def register():
    from . import conjac_addon

    conjac_addon.register()


def unregister():
    from . import conjac_addon

    conjac_addon.unregister()
