"""The section of ropes: stretching, weight, bending and thickness."""

import bpy

from ...solver import catalogue
from ..text import hint, setting
from . import fields, painted, presets, sections


def draw(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw length, numbers and pins of a rope."""
    obj, settings = context.object, context.object.conjac
    presets.draw(layout, "rope")
    setting(layout, settings, "rope")
    sections.draw_params(layout, settings, "rope")
    fields.draw(layout, obj, "rope")
    painted.draw_map(layout, obj, catalogue.maps()["pin"])
    sections.draw_simulate_after(layout, obj)
    fields.draw(layout, obj, "half-life")
    if len(obj.data.polygons):
        hint(layout, "It has faces: delete only the faces, or make it cloth")
