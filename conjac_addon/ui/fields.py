"""Settings that follow from one declaration each, in their parts of panels."""

import bpy

from .. import job_fields
from ..text import setting


def draw(layout: bpy.types.UILayout, obj: bpy.types.Object, fold: str) -> None:
    """Draw the settings of a part of a panel that an object has."""
    for job_field in job_fields.FIELDS:
        if job_field.fold == fold and job_field.is_shown(obj):
            holder, column = job_field.holder(obj), layout
            switch = job_field.needs or job_field.grey_without
            if switch or job_field.grey:
                column = layout.column()
                column.active = job_field.counts(obj) and (not switch or getattr(holder, switch))
            setting(column, holder, job_field.name)
