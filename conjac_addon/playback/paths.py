"""How a file of a bake is named inside the .blend: relative to it where that can be."""

from __future__ import annotations

from pathlib import Path

import bpy


def relative(path: Path) -> str:
    """"//..." for a saved .blend, else the absolute path; so too where the .blend is on another drive."""
    if not bpy.data.filepath:
        return str(path)
    try:
        return bpy.path.relpath(str(path))
    except ValueError:  # Windows: no path leads from one drive to another
        return str(path)
