"""Finds modifiers that smooth simulated cloth into the objects that it touches."""

from __future__ import annotations

import bpy

from .. import members
from ..gather import stack


def smoother(obj: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Modifier | None:
    """Return the last modifier that subdivides a cloth's frames where that touches something; None where there is none.

    Faces between vertices that lie on an edge of a collider are rounded off through it.
    """
    if not members.is_cloth(obj) or members.is_sharp(obj) or not members.collides(obj):
        return None
    if not any(other != obj for other in (*members.colliders(obj, scene), *members.soft_bodies(obj, scene))):
        return None
    found = [modifier for modifier in stack.from_mark_on(obj)
             if modifier.type == "SUBSURF" and modifier.subdivision_type == "CATMULL_CLARK" and modifier.levels
             and modifier.show_viewport]
    return found[-1] if found else None
