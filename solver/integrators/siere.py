"""The exponential on the lowest modes, Euler's methods on the rest."""

from __future__ import annotations

from ..parts.stage import Stage
from ..state import State
from .additive import Additive
from .interface import P, System


class SIERE(Additive):
    """u₁ = u₀ + (I − h J_H)⁻¹ (h H(u₀) + h φ₁(h J_G) G(u₀)). [Ascher 21, 25]

    Moving nodes pull at the rest as in semi-implicit Euler, and at the modes through h² φ₂(h J_G). The rest's stiffness
    counts in full, whatever β the method has: with less, what is fast would change its sign at each step and stay.
    """

    order = 1
    linearised = True

    def step(self, system: System[P], state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        stage = Stage(h, 1.0, 1.0, state.time + h, None, state.u)
        return self.advance(system, state, h, stage, state)


class BEERE(Additive):
    """u₁ = u₀ + h H(u₁) + h φ₁(h J_G) G(u₀). [Ascher 20]"""

    order = 1

    def step(self, system: System[P], state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        stage = Stage(h, 1.0, 1.0, state.time + h, state.q, state.u)
        return self.advance(system, state, h, stage, state)
