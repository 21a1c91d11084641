"""Draws what a draft leaves out, and the settings of the body that it refuses."""

from __future__ import annotations

import bpy

from ...solver import catalogue
from ...solver.catalogue import Entry
from .. import members
from ..gather import contact as contacts
from ..settings import holder
from ..text import hint


def draw(layout: bpy.types.UILayout, obj: bpy.types.Object, method: Entry, integrator: Entry, scene: bpy.types.Scene
         ) -> None:
    """Draw both hints below the method's own parameters; nothing for a method that simulates everything."""
    if method.leaves_out:
        hint(layout, f"A draft. It leaves out {method.leaves_out}")
    if method.steps and integrator.key not in method.steps:
        hint(layout, f"It cannot use {integrator.label}: choose {catalogue.name_integrators(method)} as Integrator")
    if method.able("draft") and members.collides(obj):
        _draw_touched(layout, obj, method, scene)


def _draw_touched(layout: bpy.types.UILayout, obj: bpy.types.Object, method: Entry, scene: bpy.types.Scene) -> None:
    """Draw the accuracy of its contact with colliders, and another body that it collides with, which a bake refuses."""
    together, touched = method.able("drafts together"), "the ground and colliders"
    staggered = method.able("touches bodies")

    def is_touched(other: bpy.types.Object) -> bool:
        key = holder(other.conjac, "method").method
        if staggered:
            return not (catalogue.find("method", key).able("draft") or members.is_sharp(other))
        return together and key == method.key

    others = [other.name for other in contacts.touched(obj, members.soft_bodies(obj, scene), []) if other != obj
              and not is_touched(other)]
    mechanism = members.owner(obj)
    if not staggered and members.touches_soft(mechanism) and members.wants(obj, mechanism):
        others.append(mechanism.name)
    if others:
        if together:
            touched = f"the ground, colliders and what else moves by {method.label}"
        elif staggered:
            touched = "the ground, colliders, soft bodies and mechanisms"
        hint(layout, f'It touches {touched}, and not "{others[0]}": let it collide with a Collection of colliders, or '
             "with nothing, in Collisions")
    elif members.colliders(obj, scene):
        hint(layout, "It touches colliders with points of its surface, not exactly: thin parts may enter them")
