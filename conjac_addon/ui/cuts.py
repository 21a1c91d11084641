"""Sections of events at single frames: cuts, nails and pulls."""

from __future__ import annotations

import bpy

from ..text import hint, setting
from ..timeline import frame_range


def draw_cuts(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the cuts of the body, and their times."""
    settings = context.object.conjac
    start, end = frame_range(settings, context.scene)
    column = layout.column(align=True)
    for index, cut in enumerate(settings.cuts):
        row = column.row(align=True)
        row.alert = cut.object is None or not start <= cut.frame < end
        row.prop(cut, "frame", text="")
        _subframe(row, context, cut, "subframe", "")
        row.prop(cut, "object", text="")
        row.operator("conjac.remove_cut", text="", icon="REMOVE").index = index
    layout.operator("conjac.add_cut", icon="MOD_BOOLEAN")
    if len(settings.cuts):
        setting(layout, settings, "inside_material")
        hint(layout, f"Plays on a separate object: {context.object.name} Cut")


def _subframe(layout: bpy.types.UILayout, context: bpy.types.Context, entry: bpy.types.PropertyGroup, name: str,
              text: str) -> None:
    """How far after its frame something happens, where Blender shows subframes or there is one."""
    if context.scene.show_subframe or getattr(entry, name):
        layout.prop(entry, name, text=text)


def draw_nails(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the nails of the body, and their times."""
    settings = context.object.conjac
    start, end = frame_range(settings, context.scene)
    for index, nail in enumerate(settings.nails):
        column = layout.column(align=True)
        row = column.row(align=True)
        row.alert = nail.object is None or not start <= nail.frame < end
        row.prop(nail, "object", text="")
        row.operator("conjac.remove_nail", text="", icon="REMOVE").index = index
        # a number beside another one would have no label
        column.prop(nail, "frame")
        _subframe(column, context, nail, "subframe", "Subframe")
        column.prop(nail, "radius")
        row = column.row(align=True)
        row.prop(nail, "is_drawn")
        until_row = row.row(align=True)
        until_row.active = nail.is_drawn
        until_row.alert = nail.is_drawn and nail.until + nail.until_subframe <= nail.frame + nail.subframe
        until_row.prop(nail, "until")
        if nail.is_drawn:
            _subframe(column, context, nail, "until_subframe", "Until Subframe")
    layout.operator("conjac.add_nail", icon="PINNED")


def draw_pulls(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the pulls of the body."""
    for index, pull in enumerate(context.object.conjac.pulls):
        column = layout.column(align=True)
        row = column.row(align=True)
        row.alert = pull.object is None
        row.prop(pull, "object", text="")
        row.operator("conjac.remove_pull", text="", icon="REMOVE").index = index
        column.prop(pull, "radius")
        setting(column, pull, "stiffness")
        column.prop(pull, "strength", slider=True)
    layout.operator("conjac.add_pull", icon="EMPTY_ARROWS")


def draw_welds(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the welds of the body: to which object, within which distance, how stiff and until when."""
    for index, weld in enumerate(context.object.conjac.welds):
        column = layout.column(align=True)
        row = column.row(align=True)
        row.alert = weld.object is None
        row.prop(weld, "object", text="")
        row.operator("conjac.remove_weld", text="", icon="REMOVE").index = index
        column.prop(weld, "distance")
        setting(column, weld, "stiffness")
        column.prop(weld, "group")
        column.prop(weld, "is_sliding")
        if not weld.is_sliding:
            setting(column, weld, "breaks")
            column.prop(weld, "begins")
        row = column.row(align=True)
        row.prop(weld, "is_released")
        end = row.row(align=True)
        end.active = weld.is_released
        end.prop(weld, "until")
    layout.operator("conjac.add_weld", icon="LINKED")
