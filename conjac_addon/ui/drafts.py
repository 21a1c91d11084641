"""Draw the line of what a draft leaves out, and the settings of the body that it refuses."""

from __future__ import annotations

import bpy

from ...solver import catalogue
from ...solver.catalogue import Entry
from .. import members
from ..text import hint


def draw(layout: bpy.types.UILayout, obj: bpy.types.Object, method: Entry, integrator: Entry) -> None:
    """Say both below the method's own parameters; nothing where it simulates all."""
    if method.leaves_out:
        hint(layout, f"A draft. Left out are {method.leaves_out}")
    if method.steps and integrator.key not in method.steps:
        labels = [catalogue.find("integrator", key).label for key in method.steps]
        hint(layout, f"It is not stepped by {integrator.label}: choose {', '.join(labels[:-1])} or {labels[-1]} as "
             "Integrator")
    if method.able("draft") and members.collides(obj):
        hint(layout, "It touches nothing but the ground: let it collide with nothing, in Collisions")
