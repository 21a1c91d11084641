"""Detection of steps that gain energy, and their repetition by a stricter rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..nonlinear.fallback_euler import StageNotConverged
from ..nonlinear.limits import StopRule
from ..state import State, Vec
from .soft_bodies import SoftBodies


@dataclass(frozen=True)
class StepRule:
    """Rule by which the stages of one step are solved."""

    turns_freely: bool  #: whether linearised stages have no stiffness against rotation
    limits: StopRule  #: of the stage solver


Integrate = Callable[[State, float, StepRule], State]  #: a state after h seconds, by a rule


REPEATED = "braked"  #: number of steps repeated with stiffness against rotation
#: relative to kinetic and stored energy: a smaller gain is strain of rotated elements, which the next step removes
GAINED = 0.3
GAINED_EARLY = 1.0e-3  #: the same limit for stages with early stopping, which leave such gains
STRICTER = 0.1  #: tolerance of the repeated step, relative to that of early stopping


def gains(soft: SoftBodies, before: State, forces_before: tuple[Vec, float], after: State, admissible: float) -> bool:
    """Return whether bodies have more energy after a step than before, beyond the work of prescribed nodes.

    forces_before: forces, (n, 3) [N], and energy [J] at the positions before the step and its end in time, where forces
    that depend on time are evaluated. admissible: gain that is ignored, relative to the kinetic energy or the change of
    stored energy. Without stiffness against rotation, a large rotation in a step stretches a body, and the next steps
    can amplify this.
    """
    (x, v), (y, w) = soft.nodes_at(before), soft.nodes_at(after)
    (force_before, energy_before), (force_after, energy_after) = forces_before, soft.evaluate(y, after.time)
    free, prescribed = soft.coordinates.free, soft.coordinates.prescribed
    kinetic_before, kinetic_after = (0.5 * float(np.vdot(soft.mass[free, None] * u[free], u[free])) for u in (v, w))
    work = -0.5 * float(np.vdot(force_before[prescribed] + force_after[prescribed], y[prescribed] - x[prescribed]))
    gain = kinetic_after + energy_after - kinetic_before - energy_before - work
    return not gain <= admissible * max(kinetic_before, kinetic_after, abs(energy_after - energy_before))


def step_without_gain(soft: SoftBodies, has_energy: bool, rule: StepRule, integrate: Integrate, state: State, h: float,
                      counts: Counter[str]) -> State:
    """Return the state after an integrator's step of h seconds, which is repeated where it gains energy.

    A step with Free Turning is repeated without it; a step with early stopping is repeated with a tenth of the
    tolerance, where no external source could have added energy. has_energy: whether stages minimise an energy of
    velocities. rule: of the first attempt. counts: numbers of repeated steps, incremented.

    Raises StageNotConverged where a step repeated without Free Turning gains energy, too.
    """
    checks_gain = rule.turns_freely or has_energy and _stops_early_unforced(soft, rule.limits)
    # before the step, while the pairs in contact at these positions are known
    forces_before = soft.evaluate(soft.nodes_at(state)[0], state.time + h) if checks_gain else None
    after = integrate(state, h, rule)
    if forces_before is None:
        return after
    if not rule.turns_freely:
        return integrate(state, h, _stricter(rule)) if gains(soft, state, forces_before, after, GAINED_EARLY) else after
    if not gains(soft, state, forces_before, after, GAINED):
        return after
    counts[REPEATED] += 1
    after = integrate(state, h, replace(rule, turns_freely=False))
    if gains(soft, state, forces_before, after, GAINED):
        raise StageNotConverged("a linearised step gained energy")
    return after


def _stops_early_unforced(soft: SoftBodies, limits: StopRule) -> bool:
    """Return whether stages stop early and neither prescribed nodes nor a moving ground can add energy."""
    return limits.stops_early and not len(soft.coordinates.prescribed) and not soft.ground.plane.motion.moves


def _stricter(rule: StepRule) -> StepRule:
    return replace(rule, limits=replace(rule.limits, strain_left=STRICTER * rule.limits.strain_left))
