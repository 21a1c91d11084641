"""Linearly implicit Euler: one linear solve a step."""

from __future__ import annotations

from typing import Protocol

from ..assembly.linearised import Linearised
from ..condensation.interface import Condensation, Stage
from ..coordinates.free_nodes import FreeNodes
from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..state import State


class System(Protocol):
    """What a step may ask of the world."""

    coordinates: FreeNodes
    condensation: Condensation

    def linearise(self, state: State) -> Linearised:
        """Forces and stiffness at the state's positions."""


class SemiImplicit:
    """(M − βh²K) v = M v⁰ + h f, x = x⁰ + h (v + γ b). [ConJac 10, 11, 13]"""

    def step(self, system: System, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        coordinates = system.coordinates
        lin = system.linearise(state)
        try:
            posed = system.condensation.pose(lin, Stage(h, lin.v, coordinates.prescribed_velocity(state.time, h)))
        except NotPositiveDefinite as failure:
            raise StepFailed("the system matrix is not positive definite") from failure
        u = posed.solve()
        q = coordinates.advance(state.q, u + posed.correction(u), h)
        return State(state.time + h, q, u, state.memory)
