"""The add-on: everything that depends on Blender and faces artists. The equations are in solver."""

import atexit
from contextlib import suppress
from types import ModuleType

import bpy

from . import later

_registered: list[ModuleType] = []


def _modules() -> tuple[ModuleType, ...]:
    """In the order of registration. Each has `classes`, and `register`, `unregister` where it needs more."""
    from . import bake, live, prefs, settings, ui
    from .operators import table

    return (settings, prefs, table, bake, live, ui)


def register() -> None:
    """Register everything with Blender. If a part fails, all that was registered is unregistered."""
    try:
        with later.loading():
            for module in _modules():
                _registered.append(module)
                for cls in getattr(module, "classes", ()):
                    bpy.utils.register_class(cls)
                if hasattr(module, "register"):
                    module.register()
    except Exception:
        while _registered:
            # unregistering a missing part raises an error, which would hide the original one
            with suppress(Exception):
                unregister()
        raise
    # bpy as a module crashes or hangs at exit over what Python still has registered with it
    if not bpy.app.binary_path:
        atexit.register(unregister)


def unregister() -> None:
    """Undo `register`, in reverse order."""
    atexit.unregister(unregister)
    while _registered:
        module = _registered.pop()
        try:
            if hasattr(module, "unregister"):
                module.unregister()
        finally:
            for cls in reversed(getattr(module, "classes", ())):
                if getattr(cls, "is_registered", False):
                    bpy.utils.unregister_class(cls)
