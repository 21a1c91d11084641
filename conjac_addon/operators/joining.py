"""Join an object to a simulation: the leading object does not change, and its shared settings apply to the newcomer.

Time, ground and solver are settings of the leading object: the first in the scene's order until there is a bake. A
newcomer earlier in that order would otherwise replace them.
"""

from __future__ import annotations

import bpy

from .. import identity, members
from ..first_solvers import LIVELY, shared
from .first_settings import has_floor, stand_on_ground

#: what a mechanism takes over from the soft body that led before it: the solver and the ground
OF_SOLVER = ("method", "integrator", "stage_solver", "step")
OF_GROUND = ("use_ground", "ground_object", "ground_height", "ground_stiffness", "ground_stiffness_per_area",
             "ground_tangential_share", "friction", "friction_coefficient")


def meet(scene: bpy.types.Scene) -> None:
    """Enable contact of the first mechanism of a scene with its soft bodies, unless the artist has set it. From then on
    the mechanism owns the settings of the bake: it takes over the soft bodies' solver and ground, except for settings
    made by hand.
    """
    free = [obj for obj in scene.objects if members.collides(obj) and members.mechanism_of(obj) is None]
    mechanism = next((obj for obj in scene.objects if members.is_mechanism(obj) and obj.is_editable), None)
    if not free or mechanism is None or mechanism.conjac.mechanism.is_property_set("touch_soft"):
        return
    leading = members.owner(free[0])
    if members.is_mechanism(leading):
        return
    mechanism.conjac.mechanism.touch_soft = True
    led, leads = mechanism.conjac, leading.conjac
    kinds = shared(leading, free)
    for name in OF_SOLVER:
        # of the integrator that a button has chosen for a mechanism alone nothing is kept
        if not led.solver.is_property_set(name) or (name, getattr(led.solver, name)) == ("integrator", LIVELY):
            setattr(led.solver, name, kinds.get(name, getattr(leads.solver, name)))
    for name in OF_GROUND:
        if leads.is_property_set(name) and not led.is_property_set(name):
            setattr(led, name, getattr(leads, name))


def join(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Join an object that has just become a soft body or cloth to the simulation. Settings that were made by hand
    remain."""
    _join(obj, scene)
    meet(scene)


def _join(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    if members.owner(obj) == obj:
        others = [other for other in members.soft_bodies(obj, scene) if other != obj]
        if others:
            # without the newcomer, the first of them would lead
            identity.lead(others[0], True)
    leading = members.owner(obj)
    if leading == obj or members.is_mechanism(leading) or members.is_cloth(obj) or members.is_rope(obj):
        return
    if not has_floor(obj, scene):
        stand_on_ground(leading, scene, obj.conjac.density)
