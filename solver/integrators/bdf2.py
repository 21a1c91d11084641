"""BDF2: a two-step method; its first step, and each one after an impact or a change of h, is one of SDIRK2."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..parts.stage import Stage
from ..state import State, Vec
from .interface import Integrator, P, System
from .sdirk import SDIRK2, SSDIRK2

POSITIONS, RATES, STEP, TOUCHING = "bdf2.q", "bdf2.u", "bdf2.h", "bdf2.touching"


class BDF2(Integrator):
    """BDF2: v = v⁰ + (v⁰ − v⁻¹)/3 + 2h/3 M⁻¹ f, and x in like manner. [Ascher 7] [Thesis C.5]

    Writes memory of the last step: the coordinates and rates at its start, its length, the nodes in contact.
    """

    order = 2
    linearised = False
    equal_steps = True
    remembers: tuple[str, ...] = (POSITIONS, RATES, STEP, TOUCHING)
    remembered_rates: tuple[str, ...] = (RATES,)
    remembered_motion: tuple[tuple[str, str], ...] = ((POSITIONS, RATES),)

    def __init__(self, params: dict[str, float]) -> None:
        """params: those of the method of the first step."""
        self._starter: Integrator = SSDIRK2(params) if self.linearised else SDIRK2(params)

    def step(self, system: System[P], state: State, h: float) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; `state` stays as it is."""
        touching = system.touching(state)
        past = state.memory
        continues = (POSITIONS in past and past[STEP][0] == h and past[POSITIONS].shape == state.q.shape
                   and (np.array_equal(past[TOUCHING], touching)
                        or system.contact_persists(state, past[TOUCHING].astype(np.int32), h)))
        after = self._continue(system, state, h) if continues else self._starter.step(system, state, h)
        memory = {POSITIONS: state.q, RATES: state.u, STEP: np.array([h]), TOUCHING: touching}
        return replace(after, memory={**after.memory, **memory})

    def error(self, before: State, after: State, h: float) -> Vec:
        """Return the estimated error of a step of h seconds in positions, (3 f,) [m]: 2/9 h³ d³x/dt³ from the
        differences of three velocities; without an earlier velocity, half of h times the change of velocity."""
        past = before.memory
        change: Vec = after.u - before.u
        if RATES not in past or past[RATES].shape != before.u.shape:
            return 0.5 * h * change
        last = float(past[STEP][0])
        third: Vec = 2.0 / (h + last) * (change / h - (before.u - past[RATES]) / last)
        return 2.0 / 9.0 * h**3 * third

    def _continue(self, system: System[P], state: State, h: float) -> State:
        """Return the state after a step of h seconds by BDF2, from the present and the last state. Raises
        StepFailed."""
        base = state.q + 1.0 / 3.0 * (state.q - state.memory[POSITIONS])
        u_hat: Vec = state.u + (state.u - state.memory[RATES]) / 3.0
        # explicit forces are evaluated at a second-order prediction of the stage's end: an undamped spring loses energy
        predicted = base + 2.0 / 3.0 * h * state.u, 2.0 * state.u - state.memory[RATES]
        stage = Stage(h, 2.0 / 3.0, 2.0 / 3.0, state.time + h, base, u_hat, predicted=predicted)
        if not self.linearised:
            return system.solve_stage(stage, state)
        after_impact = system.impact(stage, state)
        return system.finish_linear_stage(system.pose(state, stage, stage.time), stage,
                                          state) if after_impact is None else after_impact


class SBDF2(BDF2):
    """Semi-implicit BDF2: one linear solve a step, linearised where the step starts. [Ascher 7]"""

    linearised = True
