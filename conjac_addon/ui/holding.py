"""How firmly pins hold a body: whether weights of Pin are strengths, and the object whose motion it takes part in."""

from __future__ import annotations

import bpy

from ...solver import catalogue
from .. import members
from ..text import hint, setting
from . import painted_state


def draw(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw Soft Pins once Pin is painted, and Follow."""
    obj = context.object
    settings, is_sharp = obj.conjac, members.is_sharp(obj)
    if painted_state.is_begun(obj, catalogue.maps()["pin"]):
        layout.prop(settings, "soft_pins")
        if settings.soft_pins and is_sharp:
            hint(layout, "Sharp Edges have no Soft Pins: weights above 0.5 are hard")
        elif settings.soft_pins:
            setting(layout, settings, catalogue.PIN_STIFFNESS.key)
    if is_sharp:
        return
    setting(layout, settings, "follow_object")
    if settings.follow_object is not None:
        layout.prop(settings, "follow_share", slider=True)
