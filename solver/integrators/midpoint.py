"""The implicit midpoint rule, of order 2."""

from __future__ import annotations

from ..parts.stage import Stage
from ..state import State
from .interface import Integrator, P, System


class Midpoint(Integrator):
    """Implicit midpoint rule: M (v_½ − v⁰) = h/2 f(x⁰ + h/2 v_½, v_½), then a whole step along v_½: no damping at any
    frequency."""

    order = 2

    def step(self, system: System[P], state: State, h: float) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; `state` stays as it is."""
        middle = system.solve_stage(Stage(h, 0.5, 0.5, state.time + 0.5 * h, state.q, state.u), state)
        return State(state.time + h, state.q + h * middle.u, 2.0 * middle.u - state.u, state.memory)
