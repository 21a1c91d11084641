"""The section of takes: earlier bakes with other settings, which can be played again or deleted."""

from __future__ import annotations

import bpy

from ..bake import freeing, place, takes
from ..text import hint, one_line

#: units of the three buttons beside the words of a take
BESIDE = 5.0


def draw(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw a line for each take, the newest first."""
    at = place.of(context.object)
    found = takes.listed(at.folder) if at.own else []
    if not found:
        hint(layout, "Baking again with other settings keeps the previous frames here")
    column = layout.column(align=True)
    for take in found:
        row = column.row(align=True)
        row.label(text=one_line(words(take), bpy.context.region, BESIDE))
        row.operator("conjac.use_take", text="", icon="PLAY").number = take.number
        row.operator("conjac.compare_take", text="", icon="DRIVER_DISTANCE").number = take.number
        row.operator("conjac.remove_take", text="", icon="TRASH").number = take.number
    layout.operator("conjac.remove_unused_caches", icon="TRASH")


def words(take: takes.Take) -> str:
    """Return one line on a take: number, frames, size, and what changed after it."""
    before = f", before {take.why}" if take.why else ""
    return f"{take.number}: {take.first} to {take.last}, {freeing.size_in_words(take.size)}{before}"
