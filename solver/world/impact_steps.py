"""Steps of mechanisms in which contacts or limits open or close."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..integrators.backward_euler import ImpactEuler
from ..integrators.interface import Integrator, P, System
from ..parts.joints.interface import ConstraintSolution
from ..state import State

ACTIVE_CONTACTS = "mechanism.pushing"  #: memory of the active contacts and limits of the last step, (k,)


class ImpactSteps:
    """Steps of an integrator, replaced by steps of backward Euler without history where they contain an impact.

    Methods of second order extrapolate a jump of the velocities into later stages, so that bodies would rebound. After
    an impact a body may also rotate far in the step, where equal rates have different energies at different postures.
    """

    def __init__(self) -> None:
        self.count = 0  #: iterative stages in which contacts or limits closed or opened

    def note(self, start: State, solution: ConstraintSolution | None) -> None:
        """Count a solved stage if its active contacts and limits differ from those of the previous step.

        start: state at the start of the step. solution: of the stage's constraints; None without constraints.
        Velocities jump where contacts close, and contacts with a larger force than support needs will open.
        """
        active_before = start.memory.get(ACTIVE_CONTACTS, np.zeros(0))
        self.count += solution is not None and not np.array_equal(solution.active, active_before)

    def step(self, integrator: Integrator, system: System[P], state: State, h: float) -> State:
        """Return the state of a system with these mechanisms after a step of h seconds. Raises StepFailed."""
        before = self.count
        after = integrator.step(system, state, h)
        if self.count == before or integrator.order == 1:
            return after
        memory = {key: value for key, value in state.memory.items() if key not in integrator.remembers}
        return ImpactEuler({}).step(system, replace(state, memory=memory), h)
