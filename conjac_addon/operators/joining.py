"""What joins a simulation: who led it before leads it still, and what they have in common serves the newcomer too.

Time, ground and solver are those of one object alone, the one that leads: the first in the scene's order until there is
a bake. A newcomer before it in that order would take its settings away.
"""

from __future__ import annotations

import bpy

from .. import identity, members
from .first_settings import CLOTH_SOLVER, SOLVER, has_floor, stand_on_ground


def join(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """After an object has become a soft body or cloth with the settings of a new one. What was set stays as it is."""
    if members.owner(obj) == obj:
        others = [one for one in members.soft_bodies(obj, scene) if one != obj]
        if others:
            # asked as if the newcomer were not there, the first of them leads
            identity.lead(others[0], True)
    leading = members.owner(obj)
    if leading == obj or members.is_mechanism(leading) or members.is_cloth(obj):
        return
    solver = leading.conjac.solver
    if all(getattr(solver, name) == CLOTH_SOLVER[name] for name in ("integrator", "stage_solver")):
        # soft bodies lose their wobble to cloth's integrator within some steps, and cloth bears theirs
        solver.integrator = SOLVER["integrator"]
    if not has_floor(obj, scene):
        stand_on_ground(leading, scene, obj.conjac.density)
