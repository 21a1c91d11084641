"""Steps that gain energy, and their repetition by a stricter rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..nonlinear.fallback_euler import StageNotConverged
from ..nonlinear.limits import StopRule
from ..state import State
from .soft_bodies import SoftBodies


@dataclass(frozen=True)
class StepRule:
    """How the stages of one step are solved."""

    turns_freely: bool  #: whether linearised stages have no stiffness against rotation
    limits: StopRule  #: of the stage solver


Integrate = Callable[[State, float, StepRule], State]  #: a state after h seconds, by a rule


REPEATED = "braked"  #: number of steps repeated with stiffness against rotation
#: relative to kinetic and stored energy: a smaller gain is strain of rotated elements, which the next step removes
GAINED = 0.3
GAINED_EARLY = 1.0e-3  #: the same limit for stages with early stopping, which leave such gains
STRICTER = 0.1  #: tolerance of the repeated step, relative to that of early stopping


def gains(soft: SoftBodies, before: State, after: State, admissible: float) -> bool:
    """Return whether bodies have more energy after a step than before, by more than the admissible fraction of what
    moves or is stored and beyond the work of prescribed nodes. Whatever changes by time alone is as it is in the end.

    A large rotation in a step stretches a body, and without stiffness against it in the next step either it flies
    apart.
    """
    (x, v), (y, w) = soft.nodes_at(before), soft.nodes_at(after)
    (pulled, stored), (pulls, stores) = soft.evaluate(x, after.time), soft.evaluate(y, after.time)
    free, prescribed = soft.coordinates.free, soft.coordinates.prescribed
    moved, moves = (0.5 * float(np.vdot(soft.mass[free, None] * u[free], u[free])) for u in (v, w))
    worked = -0.5 * float(np.vdot(pulled[prescribed] + pulls[prescribed], y[prescribed] - x[prescribed]))
    gained = moves + stores - moved - stored - worked
    return not gained <= admissible * max(moved, moves, abs(stores - stored))


def step_without_gain(soft: SoftBodies, has_energy: bool, rule: StepRule, integrate: Integrate, state: State, h: float,
                      counts: Counter[str]) -> State:
    """Return the integrator's step. One with Free Turning that gains energy is repeated without it, one whose stages
    stop early with a tenth of their tolerance, where nothing but the step itself could have added any.

    has_energy: whether stages minimise an energy of velocities. rule: of the first try. integrate: the integrator's
    step. counts: of repeated steps, which grow.

    Raises StageNotConverged where a step repeated without Free Turning gains energy, too: the fallback step gains none.
    """
    after = integrate(state, h, rule)
    if not rule.turns_freely:
        is_repeated = has_energy and _stops_early_in_peace(soft, rule.limits) and gains(soft, state, after,
                                                                                        GAINED_EARLY)
        return integrate(state, h, _stricter(rule)) if is_repeated else after
    if not gains(soft, state, after, GAINED):
        return after
    counts[REPEATED] += 1
    after = integrate(state, h, replace(rule, turns_freely=False))
    if gains(soft, state, after, GAINED):
        raise StageNotConverged("a linearised step gained energy")
    return after


def _stops_early_in_peace(soft: SoftBodies, limits: StopRule) -> bool:
    """Return whether stages stop early, and nothing prescribed and no moving ground adds energy."""
    return (limits.strain_left > 0.0 and not limits.accepts
            and not len(soft.coordinates.prescribed) and not soft.ground.plane.motion.moves)


def _stricter(rule: StepRule) -> StepRule:
    return replace(rule, limits=replace(rule.limits, strain_left=STRICTER * rule.limits.strain_left))
