"""Solvers of new objects, and the choice among them for objects in contact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from . import members

#: docs/integrators.md, "Which settings keep the motion": each step costs about as much as one linear solve
SOLVER: dict[str, Any] = {"method": "vanilla", "integrator": "sdirk2", "stage_solver": "quick", "step": 1.0 / 48.0,
                          # of ConJac, where stages are linearised: at this step its γ of 1/3, at any other as fast
                          "settle_time": 0.0356}

#: of new cloth: Quick gives up on nearly every step of cloth that hangs, and NEWTON-D solves what nobody sees
CLOTH_SOLVER: dict[str, Any] = {"method": "vanilla", "integrator": "backward_euler", "stage_solver": "newton_visible",
                                "step": 1.0 / 96.0}

#: of new ropes: as stiff as they are along themselves, stages are solved to the end
ROPE_SOLVER: dict[str, Any] = {**CLOTH_SOLVER, "stage_solver": "newton_d"}

LIVELY = "leapfrog"  #: integrator of new mechanisms; those of older files keep theirs


def shared(leading: bpy.types.Object, bodies: Sequence[bpy.types.Object]) -> dict[str, str]:
    """Return the integrator and the stage solver of objects in contact that have their own: those of the leading
    object, unless their kind does not suit the others."""
    solver = leading.conjac.solver
    found: dict[str, str] = {"integrator": solver.integrator, "stage_solver": solver.stage_solver}
    if members.is_mechanism(leading):
        return found
    if any(members.is_rope(body) for body in bodies) and found["stage_solver"] == SOLVER["stage_solver"]:
        # Quick gives up on steps of what is as stiff as a rope is along it
        found["stage_solver"] = CLOTH_SOLVER["stage_solver"]
    if any(members.is_volume(body) for body in bodies) and all(found[name] == CLOTH_SOLVER[name] for name in found):
        # soft bodies lose their wobble to cloth's integrator within some steps, and cloth bears theirs
        found["integrator"] = SOLVER["integrator"]
    return found


def has_its_own(obj: bpy.types.Object) -> bool:
    """Whether it moves by its own integrator as long as it touches nothing that has another."""
    return members.collides(obj) and members.mechanism_of(obj) is None and not members.is_sharp(obj)
