"""The oscillator q̈ + d q̇ + ω² q = 0 as a world of one node, from which an integrator's damping curve is computed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..assembly.pattern import NO_ELEMENTS
from ..assembly.tangent import Tangent
from ..parts.conjac.modes_of_step import advance_modes
from ..parts.interface import Posed
from ..parts.stage import Stage
from ..rows.eliminated import EliminatedRows
from ..state import Index, State, Vec
from .interface import Integrator

NOBODY = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class _Posed:
    """A stage of the oscillator, whose equations are linear."""

    owner: Oscillator
    stage: Stage
    at: State

    def solve(self) -> Vec:
        stage, stiffness = self.stage, -self.owner.squared
        base = self.at.q if stage.base is None else stage.base
        momentum = stage.inertia * stage.u_hat + stage.a * stage.h * stiffness * base
        v: Vec = momentum / self._matrix
        return v

    @property
    def _matrix(self) -> float:
        """Return M − a h D − β a b h² K."""
        stage = self.stage
        return stage.inertia + stage.a * stage.h * self.owner.drag + stage.stiffness_factor * self.owner.squared

    def correction(self, u: Vec) -> Vec:
        return np.zeros_like(u)

    def respond(self, impulses: Vec) -> Vec:
        out: Vec = impulses / self._matrix
        return out

    def again(self, stage: Stage) -> _Posed:
        return replace(self, stage=stage)


class Oscillator:
    """The system that an integrator advances: one node, whose three coordinates have one frequency."""

    def __init__(self, omega: float, beta: float = 1.0, drag: float = 0.0) -> None:
        """omega: ω [rad/s]. beta: factor on K in semi-implicit Euler. drag: d [1/s]."""
        self.squared, self.beta, self.drag = omega * omega, beta, drag

    def acceleration(self, state: State) -> Vec:
        """Return −ω² q − d u at a state, (3,) [m/s²]."""
        acceleration: Vec = -self.squared * state.q - self.drag * state.u
        return acceleration

    def touching(self, state: State) -> Index:
        """Return no contacts."""
        return NOBODY

    def contact_persists(self, state: State, before: Index, h: float) -> bool:
        """Return True, as there is no contact."""
        return True

    def tangent(self, state: State, time: float) -> Tangent:
        """Return K = −ω² and D = −d for products, and the acceleration at a state; `time` has no effect."""
        node = np.zeros((1, 3))
        damped = Damped(np.full(1, self.drag), 0.0, None, None, NOBODY, NO_ELEMENTS) if self.drag else None
        lin = Linearised(node, node, np.ones(1), node, np.zeros((0, 6, 9)), np.zeros((1, 3, 3)), damped)
        return Tangent(lin, np.zeros(1, np.int32), np.ones(3), self.acceleration(state), None,
                       lambda columns: -self.squared * columns,
                       lambda shift: lambda columns: columns / (shift + self.squared))

    def pose(self, at: State, stage: Stage, time: float | None = None) -> _Posed:
        """Return the stage, whose equations are linear wherever they are linearised."""
        return _Posed(self, stage, at)

    def finish_linear_stage(self, posed: Posed, stage: Stage, start: State, is_last: bool = True) -> State:
        """Return the state at the end of a linearised stage."""
        return self._end(stage, start, posed.solve())

    def impact(self, stage: Stage, start: State) -> None:
        """Return None, as nothing collides."""
        return None

    def modal_step(self, state: State, h: float) -> State:
        """Return the state after an exact oscillation of h seconds, half of the damping before it and half after it."""
        # half of the damping acts before the oscillation and half of it after, as for the modes of a body
        damp = 1.0 + 0.5 * h * self.drag
        angle = np.full(state.q.shape, h * math.sqrt(self.squared))
        u, moved = advance_modes(angle, h, state.u / damp, -self.squared * state.q)
        return State(state.time + h, state.q + moved, u / damp, state.memory)

    def keep_spin(self, before: State, after: State, h: float, posed: Posed) -> State:
        """Return `after`, as the node has no angular momentum to conserve."""
        return after

    def solve_stage(self, stage: Stage, start: State,
                    prescribed_directions: EliminatedRows | None = None) -> State:
        """Return the state at the end of a stage, with rates imposed in prescribed directions."""
        u = _Posed(self, stage, start).solve()
        if prescribed_directions is not None:
            u = prescribed_directions.impose(u)
        return self._end(stage, start, u)

    @staticmethod
    def _end(stage: Stage, start: State, u: Vec) -> State:
        base = start.q if stage.base is None else stage.base
        return State(stage.time, base + stage.b * stage.h * u, u, start.memory)


def update_matrix(integrator: Integrator, omega_h: float, beta: float = 1.0, drag_h: float = 0.0,
                  fades: float = 1.0) -> Vec:
    """Return the matrix of a step on (q, h v) and the method's memory, (2, 2) or larger. omega_h: ω h. drag_h: d h.
    [Ascher 11]

    fades: factor on the rates at the start of a step, and on earlier ones.
    """
    system, h = Oscillator(omega_h, beta, drag_h), 1.0
    rates = integrator.remembered_rates
    with_history = State(0.0, np.ones(3), np.zeros(3))
    for _ in range(2):
        with_history = integrator.step(system, with_history, h)
    remembered = [key for key, value in with_history.memory.items() if value.dtype == float and value.size == 3]
    columns = []
    for unit in np.eye(2 + len(remembered)):
        memory = {key: np.full(with_history.memory[key].shape, fades * value if key in rates else value)
                  for key, value in zip(remembered, unit[2:])}
        before = State(0.0, np.full(3, unit[0]), np.full(3, fades * unit[1]), {**with_history.memory, **memory})
        after = integrator.step(system, before, h)
        columns.append([after.q[0], after.u[0], *(after.memory[key].flat[0] for key in remembered)])
    return np.array(columns).T


def damping(integrator: Integrator, omega_h: float, beta: float = 1.0) -> float:
    """Return the relative damping d/ω of the oscillator q̈ + d q̇ + ω² q = 0 that decays as fast as an undamped one
    does by the integrator, −2 ln ρ / (ωh). omega_h: ω h. [Ascher 12]"""
    return -2.0 * math.log(compute_remaining_fraction(integrator, omega_h, beta)) / omega_h


def compute_remaining_fraction(integrator: Integrator, omega_h: float, beta: float = 1.0, drag_h: float = 0.0,
                               fades: float = 1.0) -> float:
    """Return the fraction of an oscillation that remains after a step, the largest |λ| of its update matrix. omega_h: ω
    h. drag_h: d h. fades: factor on the rates at the start of a step, and on earlier ones."""
    update = update_matrix(integrator, omega_h, beta, drag_h, fades)
    return max(float(np.abs(np.linalg.eigvals(update)).max()), 1e-300)
