"""Balance at every step, without inertia."""

from __future__ import annotations

import numpy as np

from ..parts.stage import Stage
from ..state import State
from .interface import Integrator, P, System


class Quasistatic(Integrator):
    """f(x) = 0 with the prescribed nodes where they are at the step's end. [Thesis C.3]

    Rates are what the body moved by over the step's length.
    """

    order = 1

    def step(self, system: System[P], state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        stage = Stage(h, 1.0, 1.0, state.time + h, state.q, np.zeros_like(state.u), inertia=0.0)
        return system.solve_stage(stage, state)
