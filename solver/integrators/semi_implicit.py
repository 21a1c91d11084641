"""Linearly implicit Euler: one linear solve a step."""

from __future__ import annotations

from ..condensation.interface import Stage
from ..state import State, Vec
from .interface import System, land, pose


class SemiImplicit:
    """(M − βh²K) v = M v⁰ + h f, x = x⁰ + h (v + γ b). [ConJac 10, 11, 13]"""

    order = 1
    remembers: tuple[str, ...] = ()
    equal_steps = False

    def __init__(self, params: dict[str, float]) -> None:
        """No parameters; β and γ are the method's."""

    def step(self, system: System, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        lin = system.linearise(state)
        w = system.coordinates.prescribed_velocity(state.time, h)
        stage = Stage(h, 1.0, 1.0, state.time + h, None, lin.v, w, system.condensation.beta)
        return land(system, pose(system, lin, stage), stage, state)

    def error(self, before: State, after: State, h: float) -> Vec:
        """Beside the trapezoidal rule on its velocities, without what positions gain on top, (3 f,) [m]."""
        beside: Vec = 0.5 * h * (after.u - before.u)
        return beside
