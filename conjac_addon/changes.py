"""Whether anything has changed since panels last looked: a number that grows with every change, but not with frames.

Without bpy, as Blender keeps functions that properties call: see handles.py.
"""

from __future__ import annotations

from typing import Any

_count = 0


def count() -> int:
    """Return the number of changes in this session."""
    return _count


def note(_settings: Any = None, _context: Any = None) -> None:
    """Something has changed: Blender's handlers and the settings' properties call it."""
    global _count
    _count += 1
