"""Linearly implicit Euler: one linear solve a step."""

from __future__ import annotations

from ..parts.stage import Stage
from ..state import State, Vec
from .interface import Integrator, P, System


class SemiImplicit(Integrator):
    """Linearly implicit Euler: (M − βh²K) v = M v⁰ + h f, x = x⁰ + h (v + γ b). [ConJac 10, 11, 13]
    [Notes, Dynamic Simulation]"""

    order = 1

    def __init__(self, params: dict[str, float]) -> None:
        """params: keep_spin, whether free bodies keep their angular momentum. β and γ are the method's."""
        self._keeps_spin = bool(params.get("keep_spin", False))
        self.linear_euler = not self._keeps_spin

    def step(self, system: System[P], state: State, h: float) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; `state` stays as it is."""
        stage = Stage(h, 1.0, 1.0, state.time + h, None, state.u, beta=system.beta, momentum=self.momentum)
        after_impact = system.impact(stage, state)
        if after_impact is not None:
            return after_impact
        posed = system.pose(state, stage)
        after = system.finish_linear_stage(posed, stage, state)
        return system.keep_spin(state, after, h, posed) if self._keeps_spin else after

    def error(self, before: State, after: State, h: float) -> Vec:
        """Return the estimated error of a step of h seconds in positions, (3 f,) [m]: the deviation from the
        trapezoidal rule on its velocities, without position corrections."""
        beside: Vec = 0.5 * h * (after.u - before.u)
        return beside
