"""Blender's entry point of the extension. It imports nothing until Blender registers it, since tests and workers run
without bpy.
"""


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
