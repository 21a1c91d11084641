"""Blender's entry to the extension. Imports nothing until Blender asks: tests and workers run where bpy is absent."""


def register() -> None:
    from .conjac_addon import built_for

    sentence = built_for.why_not()
    if sentence:
        from .conjac_addon import wrong_zip

        wrong_zip.register(sentence)
        return
    from . import conjac_addon

    conjac_addon.register()


def unregister() -> None:
    from .conjac_addon import built_for

    if built_for.why_not():
        from .conjac_addon import wrong_zip

        wrong_zip.unregister()
        return
    from . import conjac_addon

    conjac_addon.unregister()
