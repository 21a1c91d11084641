"""The section Bake: its quality, and which frames."""

from __future__ import annotations

import bpy

from ..menus import QUALITIES
from ..operators import quality
from . import sections


def draw(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw Draft, Good and Best, the present one of them pressed, and the range of frames."""
    present = quality.present(context.object)
    row = layout.row(align=True)
    for key, (label, _) in QUALITIES.items():
        row.operator("conjac.set_quality", text=label, depress=key == present).quality = key
    sections.draw_frames(layout, context)
