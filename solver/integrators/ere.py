"""The exponential Rosenbrock-Euler method: oscillations without damping, at a cost that grows with stiffness."""

from __future__ import annotations

import numpy as np

from ..state import State
from .arnoldi import integrate_damped
from .interface import Integrator, P, System
from .krylov import Product, exponential


class ERE(Integrator):
    """Exponential Rosenbrock-Euler: u₁ = u₀ + h φ₁(h J) F(u₀), with h² φ₂(h J) F_t where nodes move as prescribed.
    [Ascher 18, changed: moving nodes]

    J is that of the true K; the products go through Lanczos in the inner product of M, with damping through Arnoldi.
    The acceleration of moving nodes has no effect on the damping here.
    """

    order = 2

    def __init__(self, params: dict[str, float]) -> None:
        """params: exponential_tolerance, the admissible error of φ₁ relative to the velocities."""
        self.tolerance = params["exponential_tolerance"]
        self.products = 0  #: number of products with the stiffness in the last step

    def step(self, system: System[P], state: State, h: float) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; `state` stays as it is."""
        tangent = system.tangent(state, state.time + 0.5 * h)
        root = np.sqrt(tangent.mass)

        def scaled(product: Product) -> Product:
            return lambda columns: product(columns / root[:, None]) / root[:, None]

        drift = None if tangent.pulled is None else tangent.pulled / root
        stiffness, velocity, acceleration = scaled(tangent.stiffness), root * state.u, root * tangent.acceleration
        if tangent.is_damped:
            damping = scaled(tangent.damping)
            moved, gained, self.products = integrate_damped(stiffness, damping, velocity, acceleration, drift, h,
                                                            self.tolerance)
        else:
            moved, gained, self.products = exponential(stiffness, velocity, acceleration, drift, h, self.tolerance)
        q = state.q + moved / root
        return State(state.time + h, q, state.u + gained / root, state.memory)
