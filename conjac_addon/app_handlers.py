"""Functions that Blender calls when a file is loaded or saved, or when something is undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import bpy

#: a list of bpy.app.handlers, which this Blender may not have, and its handler
Handler = tuple[str, Callable[..., Any]]


def add(handlers: Iterable[Handler]) -> None:
    """Append each to its list, once."""
    for name, handler in handlers:
        if handler not in getattr(bpy.app.handlers, name, (handler,)):
            getattr(bpy.app.handlers, name).append(handler)


def remove(handlers: Iterable[Handler]) -> None:
    """Remove each handler from its list, if it is there."""
    for name, handler in handlers:
        if handler in getattr(bpy.app.handlers, name, ()):
            getattr(bpy.app.handlers, name).remove(handler)
