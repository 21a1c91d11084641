"""The exponential on the lowest modes, semi-implicit or backward Euler on the rest."""

from __future__ import annotations

from ..parts.stage import Stage
from ..state import State
from .additive import Additive
from .interface import P, System


class SIERE(Additive):
    """Semi-implicit Euler with the exponential on the modes: u₁ = u₀ + (I − h J_H)⁻¹ (h H(u₀) + h φ₁(h J_G) G(u₀)).
    [Ascher 21, 25]

    Moving nodes act on the rest as in semi-implicit Euler, and on the modes through h² φ₂(h J_G). The rest's stiffness
    counts in full, whatever β the method has: with less, fast oscillations would change their sign at each step and
    persist.
    """

    order = 1
    linearised = True

    def step(self, system: System[P], state: State, h: float) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; `state` stays as it is."""
        stage = Stage(h, 1.0, 1.0, state.time + h, None, state.u)
        return self.advance(system, state, h, stage, state)


class BEERE(Additive):
    """Backward Euler with the exponential on the modes: u₁ = u₀ + h H(u₁) + h φ₁(h J_G) G(u₀). [Ascher 20]"""

    order = 1

    def step(self, system: System[P], state: State, h: float) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; `state` stays as it is."""
        stage = Stage(h, 1.0, 1.0, state.time + h, state.q, state.u)
        return self.advance(system, state, h, stage, state)
