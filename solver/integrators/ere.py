"""The exponential Rosenbrock-Euler method: every wobble as it is, at a cost that grows with stiffness."""

from __future__ import annotations

import numpy as np

from ..errors import StepFailed
from ..state import State, Vec
from .interface import System
from .krylov import exponential


class ERE:
    """u₁ = u₀ + h φ₁(h J) F(u₀), with h² φ₂(h J) F_t where nodes move as prescribed. [Ascher 18, changed: moving nodes]

    J is that of the true K; the products go through Lanczos in the inner product of M.
    """

    order = 2

    def __init__(self, params: dict[str, float]) -> None:
        """params: exponential_tolerance, the error of φ₁ that is left, as a share of the velocities."""
        self.tolerance = params["exponential_tolerance"]
        self.products = 0  #: with the stiffness, that the last step took

    def step(self, system: System, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        tangent = system.tangent(state)
        if tangent.is_damped:
            raise StepFailed("the exponential Rosenbrock-Euler method knows no damping")
        root = np.sqrt(tangent.mass)

        def product(columns: Vec) -> Vec:
            scaled: Vec = tangent.stiffness(columns / root[:, None]) / root[:, None]
            return scaled

        drift = None if tangent.pulled is None else tangent.pulled / root
        moved, gained, self.products = exponential(product, root * state.u, root * tangent.acceleration, drift, h,
                                                   self.tolerance)
        q = system.coordinates.advance(state.q, moved / root, 1.0)
        return State(state.time + h, q, state.u + gained / root, state.memory)
