"""Fields of a soft body in scene.json that follow from one declaration each."""

from __future__ import annotations

from typing import Any

import bpy

from .. import entry_properties
from .. import settings as properties


def gathered(obj: bpy.types.Object, scene: bpy.types.Scene, group: str) -> dict[str, Any]:
    """Return the fields of a group of settings that differ from their defaults, in SI."""
    found = {}
    for one in entry_properties.FIELDS:
        if one.group == group and one.suits(obj):
            holder = one.holder(obj)
            is_on = not one.needs or getattr(holder, one.needs)
            if is_on and getattr(holder, one.name) != holder.bl_rna.properties[one.name].default:
                found[one.field] = properties.si(holder, one.name, scene)
    return found
