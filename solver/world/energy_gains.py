"""Steps that gain energy, and their repetition by a stricter rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

from ..nonlinear.fallback_euler import StageNotConverged
from ..nonlinear.interface import StageSolver
from ..parts.interface import Condensation
from ..state import State
from .soft_bodies import SoftBodies

Integrate = Callable[[State, float], State]  #: a state after h seconds


class Repeating(Protocol):
    """How the nodes of a part step, as far as a repeated step has it otherwise."""

    turns_freely: bool
    stage_solver: StageSolver
    condensation: Condensation
    counts: Counter[str]


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


def step_without_gain(soft: SoftBodies, nodes: Repeating, integrate: Integrate, state: State, h: float) -> State:
    """Return the integrator's step. One with Free Turning that gains energy is repeated without it, one whose stages
    stop early with a tenth of their tolerance, where nothing but the step itself could have added any. soft and nodes:
    the part that steps. integrate: its integrator's step.

    Raises StageNotConverged where a step repeated without Free Turning gains energy, too: the fallback step gains none.
    """
    after = integrate(state, h)
    if not nodes.turns_freely:
        is_repeated = _stops_early_in_peace(soft, nodes) and gains(soft, state, after, GAINED_EARLY)
        return _stricter_step(nodes, integrate, state, h) if is_repeated else after
    if not gains(soft, state, after):
        return after
    nodes.counts[REPEATED] += 1
    nodes.turns_freely = False
    try:
        after = integrate(state, h)
    finally:
        nodes.turns_freely = True
    if gains(soft, state, after):
        raise StageNotConverged("a linearised step gained energy")
    return after


def _stops_early_in_peace(soft: SoftBodies, nodes: Repeating) -> bool:
    """Return whether stages of velocities stop early, and nothing prescribed and no moving ground adds energy."""
    limits = nodes.stage_solver.limits
    return (limits.strain_left > 0.0 and not limits.accepts and nodes.condensation.whole is not None
            and not len(soft.coordinates.prescribed) and not soft.ground.plane.motion.moves)


def _stricter_step(nodes: Repeating, integrate: Integrate, state: State, h: float) -> State:
    limits = nodes.stage_solver.limits
    nodes.stage_solver.limits = replace(limits, strain_left=STRICTER * limits.strain_left)
    try:
        return integrate(state, h)
    finally:
        nodes.stage_solver.limits = limits
