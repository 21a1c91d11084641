"""Sections of painted settings: groups and spots of dynamic nodes, maps of the material's numbers, and fibers."""

from __future__ import annotations

import bpy

from ...solver import catalogue
from ...solver.catalogue import Entry, Param
from .. import dials, members, uncounted
from ..handles import counts
from ..operators.painting import is_painting
from ..settings import default_group, fields_in_use, maps_in_use
from ..text import hint, setting
from . import advice, painted_state
from .sections import draw_params

#: of the width of both: the name of a handle, beside how its spot moves, which is longer
HANDLE = 0.38


def draw_fibers(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the settings of fibers: their material and their direction."""
    settings = context.object.conjac
    setting(layout, settings, "fiber_material")
    if settings.fiber_material == "none":
        return
    draw_params(layout, settings, "fiber_material")
    setting(layout, settings, "fiber_field")
    draw_params(layout, settings, "fiber_field")
    if settings.fiber_field == "combed":
        setting(layout, settings, "fiber_curves_object")
    draw_show(layout, "Fibers", "fibers")
    if settings.fiber_field == "gradient" and settings.fibers_group not in context.object.vertex_groups:
        hint(layout, "Paint Fibers: 0 at the origin, 1 at the insertion, in between on the belly")


def draw_maps(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the paintable groups and the dynamic handles."""
    obj, settings = context.object, context.object.conjac
    follows = members.moves_dynamic_nodes(obj)
    for entry in catalogue.maps().values():
        if not entry.params:
            column = layout.column()
            column.active = not uncounted.why(obj, entry.key)  # grey where it means nothing with the present choices
            draw_map(column, obj, entry)
    handles = layout.column()
    handles.active = follows
    column = handles.column(align=True)
    for index, handle in enumerate(settings.handles):
        row = column.row(align=True)
        row.active = counts(handle.object, bpy.context.view_layer)
        if follows:
            fields = row.split(factor=HANDLE, align=True)
            fields.prop(handle, "object", text="")
            fields.prop(handle, "spot", text="")
        else:
            row.prop(handle, "object", text="Handle")
        row.operator("conjac.remove_handle", text="", icon="REMOVE").index = index
    handles.operator("conjac.add_handle", icon="EMPTY_DATA")
    row = handles.row(align=True)
    row.operator("conjac.suggest_handles", text="Suggest", icon="LIGHT").count = settings.suggestions
    row.prop(settings, "suggestions", text="Nodes")
    if follows:
        handles.label(text=painted_state.known(obj, "nodes"))
        whole = handles.row()
        whole.use_property_split = False  # half of the width cuts its name
        whole.prop(settings, "suggest_spots")
        setting(layout, settings, "spot")
        if settings.spot != "none":
            draw_params(layout, settings, "spot")
        elif any(handle.spot not in ("body", "none") for handle in settings.handles):
            layout.prop(settings, "spot_radius")
    draw_spots(layout, obj, follows)
    if advice.is_quasistatic(obj) and not settings.suggest_spots:
        hint(layout, "No dynamic node: quasistatic, so it does not swing")
    elif not follows and advice.has_dynamic_node(obj):
        method = catalogue.find("method", settings.solver.method)
        hint(layout, f"{method.label} moves every node: dynamic nodes are for the method ConJac")


def draw_spots(layout: bpy.types.UILayout, obj: bpy.types.Object, follows: bool) -> None:
    """Groups of painted spots that move in a way of their own. follows: whether dynamic nodes count."""
    column = layout.column(align=True)
    column.active = follows
    for index, spot in enumerate(obj.conjac.spots):
        row = column.row(align=True)
        field = row.row(align=True)
        field.alert = not is_known(obj, spot.group)
        field.prop(spot, "group", text="")
        row.prop(spot, "spot", text="")
        if is_painting(obj, spot.group):
            row.operator("conjac.done_painting", text="", icon="CHECKMARK")
        row.operator("conjac.remove_spots", text="", icon="REMOVE").index = index
    if follows:
        column.operator("conjac.add_spots", icon="BRUSH_DATA")


def is_known(obj: bpy.types.Object, name: str) -> bool:
    """Whether a group or attribute is there, or may be: one of Geometry Nodes is known only after an evaluation."""
    return name in obj.vertex_groups or name in obj.data.attributes or any(
        modifier.type == "NODES" for modifier in obj.modifiers)


def _with_unit(end: str, param: Param) -> str:
    """Return the label of one end of a map, with its unit."""
    shown = dials.unit_of(param)
    return end if shown is None else f"{end} ({shown[0]})"


def draw_map(layout: bpy.types.UILayout, obj: bpy.types.Object, entry: Entry) -> None:
    """Draw one map: a button that starts painting, and its group once there is a choice."""
    name = f"{entry.key}_group"
    chosen = getattr(obj.conjac, name)
    if default_group(entry) and not painted_state.is_begun(obj, entry):
        # a field with the name of a group that is still to be made would be red
        layout.operator("conjac.add_group", text=f"Paint {entry.label}", icon="BRUSH_DATA").map = entry.key
        return
    row = layout.row(align=True)
    field = row.row(align=True)
    field.alert = bool(chosen) and not is_known(obj, chosen)
    field.prop(obj.conjac, name, text=entry.label)
    row.prop(obj.conjac, f"{entry.key}_invert", text="", icon="ARROW_LEFTRIGHT")
    if is_painting(obj, chosen):
        row.operator("conjac.done_painting", text="Done", icon="CHECKMARK")
    else:
        row.operator("conjac.add_group", text="", icon="BRUSH_DATA").map = entry.key
    on = bpy.context.window_manager.conjac_heat == entry.key
    row.operator("conjac.show_heat", text="", icon="HIDE_OFF" if on else "HIDE_ON", depress=on).map = entry.key
    state = layout.row()
    state.alignment = "RIGHT"
    state.active = False
    state.label(text=painted_state.known(obj, entry.key))


def draw_show(layout: bpy.types.UILayout, label: str, field: str) -> None:
    """Draw the button that previews the input of a bake, and beside it the button that removes all previews."""
    row = layout.row(align=True)
    row.operator("conjac.preview_field", text=f"Show {label}", icon="HIDE_OFF").field = field
    row.operator("conjac.remove_previews", text="", icon="X")


def draw_fields(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the maps of the material's numbers: a group for each, and both end values once it has one."""
    obj, settings = context.object, context.object.conjac
    fields = fields_in_use(settings)
    setting(layout, settings, "carry")
    for entry in maps_in_use(settings).values():
        blended = [param for param in entry.params if param.key in fields]
        if not blended:
            continue
        draw_map(layout, obj, entry)
        if painted_state.is_begun(obj, entry):
            for param in blended:
                column = layout.column(align=True)
                for name, end in ((param.key, "Unpainted"), (f"{param.key}_high", "Painted")):
                    column.prop(settings, dials.name_in(settings, name), text=_with_unit(end, param))
                draw_show(layout, param.label, param.key)
