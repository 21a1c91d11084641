"""Static equilibrium at every step, without inertia."""

from __future__ import annotations

import numpy as np

from ..parts.stage import Stage
from ..state import State
from .interface import Integrator, P, System


class Quasistatic(Integrator):
    """Quasistatic motion: f(x) = 0 with the prescribed nodes at their positions of the step's end. [Thesis C.3]

    Rates are the displacement of the step divided by its length.
    """

    order = 1

    def step(self, system: System[P], state: State, h: float) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; `state` stays as it is."""
        stage = Stage(h, 1.0, 1.0, state.time + h, state.q, np.zeros_like(state.u), inertia=0.0)
        return system.solve_stage(stage, state)
