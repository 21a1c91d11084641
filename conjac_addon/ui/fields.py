"""Settings that follow from one declaration each, in their parts of panels."""

import bpy

from .. import job_fields
from ..text import setting


def draw(layout: bpy.types.UILayout, obj: bpy.types.Object, fold: str) -> None:
    """Draw the settings of a part of a panel that an object has."""
    for one in job_fields.FIELDS:
        if one.fold == fold and one.is_shown(obj):
            holder, column = one.holder(obj), layout
            switch = one.needs or one.grey_without
            if switch or one.grey:
                column = layout.column()
                column.active = one.counts(obj) and (not switch or getattr(holder, switch))
            setting(column, holder, one.name)
