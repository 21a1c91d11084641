"""q̈ + ω² q = 0 as a world of one node, for what an integrator does to a wobble: its damping curve."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..assembly.linearised import Linearised
from ..assembly.tangent import Tangent
from ..nonlinear.held import GivenDirections
from ..parts.interface import Posed, Stage
from ..state import Index, State, Vec
from .interface import Integrator

NOBODY = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class _Posed:
    """A stage of the oscillator, which linearising leaves as it is."""

    owner: Oscillator
    stage: Stage
    at: State

    def solve(self) -> Vec:
        stage, stiffness = self.stage, -self.owner.squared
        base = self.at.q if stage.base is None else stage.base
        pulled = stage.inertia * stage.u_hat + stage.a * stage.h * stiffness * base
        v: Vec = pulled / (stage.inertia - stage.stiffness_factor * stiffness)
        return v

    def correction(self, u: Vec) -> Vec:
        return np.zeros_like(u)

    def respond(self, impulses: Vec) -> Vec:
        out: Vec = impulses / (self.stage.inertia + self.stage.stiffness_factor * self.owner.squared)
        return out

    def again(self, stage: Stage) -> _Posed:
        return replace(self, stage=stage)


class Oscillator:
    """The system that an integrator steps: three coordinates of one frequency."""

    def __init__(self, omega: float, beta: float = 1.0) -> None:
        """omega: ω [rad/s]. beta: of semi-implicit Euler."""
        self.squared, self.beta = omega * omega, beta

    def acceleration(self, state: State) -> Vec:
        acceleration: Vec = -self.squared * state.q
        return acceleration

    def touching(self, state: State) -> Index:
        return NOBODY

    def tangent(self, state: State, time: float) -> Tangent:
        node = np.zeros((1, 3))
        lin = Linearised(node, node, np.ones(1), node, np.zeros((0, 6, 9)), np.zeros((1, 3, 3)))
        return Tangent(lin, np.zeros(1, np.int32), np.ones(3), self.acceleration(state), None,
                       lambda columns: -self.squared * columns,
                       lambda shift: lambda columns: columns / (shift + self.squared))

    def pose(self, at: State, stage: Stage, time: float | None = None) -> _Posed:
        return _Posed(self, stage, at)

    def land(self, posed: Posed, stage: Stage, start: State, is_last: bool = True) -> State:
        return self._end(stage, start, posed.solve())

    def keep_spin(self, before: State, after: State, h: float, posed: Posed) -> State:
        return after

    def reach(self, stage: Stage, start: State, held: GivenDirections | None = None) -> State:
        u = _Posed(self, stage, start).solve()
        if held is not None:
            u = held.meet(u)
        return self._end(stage, start, u)

    @staticmethod
    def _end(stage: Stage, start: State, u: Vec) -> State:
        base = start.q if stage.base is None else stage.base
        return State(stage.time, base + stage.b * stage.h * u, u, start.memory)


def update_matrix(integrator: Integrator, omega_h: float, beta: float = 1.0) -> Vec:
    """What a step multiplies (q, h v) and what the method remembers with, (2, 2) or larger. [Ascher 11]"""
    system, h = Oscillator(omega_h, beta), 1.0
    primed = State(0.0, np.ones(3), np.zeros(3))
    for _ in range(2):
        primed = integrator.step(system, primed, h)
    remembered = [key for key, value in primed.memory.items() if value.dtype == float and value.size == 3]
    columns = []
    for unit in np.eye(2 + len(remembered)):
        memory = {key: np.full(primed.memory[key].shape, value) for key, value in zip(remembered, unit[2:])}
        before = State(0.0, np.full(3, unit[0]), np.full(3, unit[1]), {**primed.memory, **memory})
        after = integrator.step(system, before, h)
        columns.append([after.q[0], after.u[0], *(after.memory[key].flat[0] for key in remembered)])
    return np.array(columns).T


def damping(integrator: Integrator, omega_h: float, beta: float = 1.0) -> float:
    """d/ω of the oscillator q̈ + d q̇ + ω² q = 0 that dies as fast: −2 ln ρ / (ωh). [Ascher 12]"""
    radius = float(np.abs(np.linalg.eigvals(update_matrix(integrator, omega_h, beta))).max())
    return -2.0 * math.log(max(radius, 1e-300)) / omega_h
