"""Dynamic unknowns swing by their own modes, on one factor a step; where none can, SDIRK2."""

from __future__ import annotations

from ..state import State
from .interface import P, System
from .sdirk import SDIRK2


class Swinging(SDIRK2):
    """A step of condensed velocities by an exponential of their reduced unknowns, posed midway, after which what is
    quasistatic follows where the step ends. What touches and full space are solved by SDIRK2.
    [ConJac 11, changed: exact]"""

    def step(self, system: System[P], state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        after = system.modal_step(state, h)
        return super().step(system, state, h) if after is None else after
