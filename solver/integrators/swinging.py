"""Modal steps: dynamic unknowns oscillate by their own modes, on one factor a step; SDIRK2 where that is impossible."""

from __future__ import annotations

from ..state import State
from .interface import P, System
from .sdirk import SDIRK2


class Swinging(SDIRK2):
    """Step of condensed velocities by an exponential of their reduced unknowns, linearised midway, after which the
    quasistatic nodes are relaxed at the step's end. Bodies in contact and systems without condensation are solved by
    SDIRK2. [ConJac 11, changed: exact]"""

    def step(self, system: System[P], state: State, h: float) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; `state` stays as it is."""
        after = system.modal_step(state, h)
        return super().step(system, state, h) if after is None else after
