"""Sections of cloth: rest shape and weight, stretch and shear, bending, air."""

import bpy

from ...solver import catalogue
from .. import members
from .. import settings as properties
from ..gather import read_by_itself
from ..text import hint, setting
from . import fields, painted, presets, sections

HARD_LIMITS = ("length_limit", "area_limit")  #: beside Stretch Limit


def draw(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw rest shape, weight, thickness and pins of cloth."""
    obj, settings = context.object, context.object.conjac
    presets.draw(layout, "cloth")
    setting(layout, settings, "cloth_shape")
    if settings.cloth_shape == "uv" and not obj.data.uv_layers:
        hint(layout, "It has no UV map: unwrap it")
    fields.draw(layout, obj, "cloth")
    painted.draw_map(layout, obj, catalogue.maps()["pin"])
    sections.draw_simulate_after(layout, obj)
    half_life = catalogue.WOBBLE_HALF_LIFE
    fields.draw(layout, obj, "half-life")
    if getattr(settings, half_life.key) and members.is_sharp(obj):
        hint(layout, f"{half_life.label} has no effect with Sharp Edges")
    setting(layout, settings, "damping")
    sections.draw_params(layout, settings, "damping")
    if sections.chosen(settings, "damping").why_not("cloth"):
        hint(layout, f"{sections.chosen(settings, 'damping').label} does not damp cloth: choose Rayleigh")


def draw_sewing_header(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    layout.prop(context.object.conjac, "use_sewing", text="")


def draw_sewing(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw stiffness and closing time of seams; the checkbox is in the header."""
    settings = context.object.conjac
    layout.active = settings.use_sewing
    fields.draw(layout, context.object, "seams")
    hint(layout, "Edges without a face are seams: select two border vertices in Edit Mode and press F, or Bridge Edge "
         "Loops and delete its faces only")


def draw_stretch(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the resistance to stretch and shear in the plane."""
    settings = context.object.conjac
    setting(layout, settings, "membrane")
    sections.draw_params(layout, settings, "membrane")
    fields.draw(layout, context.object, "limits")
    limits = (catalogue.STRETCH_LIMIT.key, *HARD_LIMITS)
    if members.is_sharp(context.object) and any(getattr(settings, key) for key in limits):
        hint(layout, "Limits have no effect with Sharp Edges")


def draw_bending(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the resistance to bending."""
    setting(layout, context.object.conjac, "bending")
    sections.draw_params(layout, context.object.conjac, "bending")


def draw_sharp_header(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    layout.prop(context.object.conjac, catalogue.SHARP.key, text="")


def draw_sharp(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the settings of sharp edges and of remeshing; their checkbox is in the header."""
    settings = context.object.conjac
    column = layout.column(align=True)
    column.active = members.is_sharp(context.object)
    for param in (*catalogue.SHARP_NUMBERS, catalogue.SHARP_COARSER):
        column.prop(settings, param.key)
    row = column.row(heading="Edge Friction")
    row.prop(settings, "sharp_own_friction", text="")
    number = row.row()
    number.active = settings.sharp_own_friction
    number.prop(settings, "sharp_friction", text="")
    column.prop(settings, "sharp_capstan")
    if members.is_sharp(context.object):
        setting(layout, settings, "export")
        setting(layout, context.window_manager, "conjac_show_sliding")
        if settings.sharp_coarser > 1.0:
            hint(layout, f"A preview: edges are {settings.sharp_coarser:.3g} times as long. Set it to 1 for the "
                         "final bake")
        if settings.export != properties.SHARP_EXPORT:
            hint(layout, "This format keeps the vertices of your mesh: sharp bends show in Alembic")
    if members.is_sharp(context.object) and 0.0 < settings.sharp_coarsest < settings.sharp_finest:
        hint(layout, "Finest Edges are longer than Coarsest Edges")


def draw_air(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the settings of the air."""
    for part in ("pressure", "air"):
        fields.draw(layout, context.object, part)
    winds = read_by_itself.fields(members.owner(context.object), context.scene)
    if not winds:
        hint(layout, "The air is still, and slows down what falls or swings. Wind force fields of the scene move it")
        return
    hint(layout, f"{', '.join(wind.name for wind in winds)}: the air moves along its Z axis by its Strength in m/s, "
         "the same everywhere")
    if any(wind.field.noise or wind.field.falloff_power or wind.field.use_max_distance for wind in winds):
        hint(layout, "Noise and Falloff of force fields are ignored: animate Strength for gusts")
