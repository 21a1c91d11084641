"""Settings of a soft body that follow from one declaration each, in their parts of panels."""

import bpy

from .. import entry_properties
from ..text import setting


def draw(layout: bpy.types.UILayout, obj: bpy.types.Object, fold: str) -> None:
    """Draw the settings of a part of a panel that an object has."""
    for one in entry_properties.FIELDS:
        if one.fold == fold and one.suits(obj):
            holder, column = one.holder(obj), layout
            if one.needs:
                column = layout.column()
                column.active = getattr(holder, one.needs)
            setting(column, holder, one.name)
