"""Steps that gain energy, and their repetition by a stricter rule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..nonlinear.fallback_euler import StageNotConverged
from ..state import State
from .soft_bodies import SoftBodies

if TYPE_CHECKING:
    from .nodes import Nodes

REPEATED = "braked"  #: number of steps repeated with stiffness against rotation
#: of what moves or is stored: less of a gain is strain of what has turned, which the next step takes back
GAINED = 0.3
GAINED_EARLY = 1.0e-3  #: the same for stages with early stopping, where a gain is what they leave
STRICTER = 0.1  #: tolerance of the repeated step, relative to that of early stopping


def gains(soft: SoftBodies, before: State, after: State, admissible: float = GAINED) -> bool:
    """Return whether bodies have more energy after a step than before, by more than the admissible fraction of what
    moves or is stored and beyond the work of prescribed nodes. Whatever changes by time alone is as it is in the end.

    A large rotation in a step stretches a body, and without stiffness against it in the next step either it flies
    apart.
    """
    (x, v), (y, w) = soft.nodes_at(before), soft.nodes_at(after)
    (pulled, stored), (pulls, stores) = soft.evaluate(x, after.time), soft.evaluate(y, after.time)
    free, held = soft.coordinates.free, soft.coordinates.prescribed
    moved, moves = (0.5 * float(np.vdot(soft.mass[free, None] * u[free], u[free])) for u in (v, w))
    worked = -0.5 * float(np.vdot(pulled[held] + pulls[held], y[held] - x[held]))
    gained = moves + stores - moved - stored - worked
    return not gained <= admissible * max(moved, moves, abs(stores - stored))


def step_without_gain(nodes: Nodes, state: State, h: float) -> State:
    """Return the integrator's step. One with Free Turning that gains energy is repeated without it, one whose stages
    stop early with a tenth of their tolerance, where nothing but the step itself could have added any.

    Raises StageNotConverged where a step repeated without Free Turning gains energy, too: the fallback step gains none.
    """
    after = nodes.integrator.step(nodes, state, h)
    if not nodes.turns_freely:
        is_repeated = _stops_early_in_peace(nodes) and gains(nodes, state, after, GAINED_EARLY)
        return _stricter_step(nodes, state, h) if is_repeated else after
    if not gains(nodes, state, after):
        return after
    nodes.counts[REPEATED] += 1
    nodes.turns_freely = False
    try:
        after = nodes.integrator.step(nodes, state, h)
    finally:
        nodes.turns_freely = True
    if gains(nodes, state, after):
        raise StageNotConverged("a linearised step gained energy")
    return after


def _stops_early_in_peace(nodes: Nodes) -> bool:
    """Return whether stages of velocities stop early, and nothing prescribed and no moving ground adds energy."""
    limits = nodes.stage_solver.limits
    return (limits.strain_left > 0.0 and not limits.accepts and nodes.condensation.whole is not None
            and not len(nodes.coordinates.prescribed) and not nodes.ground.plane.motion.moves)


def _stricter_step(nodes: Nodes, state: State, h: float) -> State:
    limits = nodes.stage_solver.limits
    nodes.stage_solver.limits = replace(limits, strain_left=STRICTER * limits.strain_left)
    try:
        return nodes.integrator.step(nodes, state, h)
    finally:
        nodes.stage_solver.limits = limits
