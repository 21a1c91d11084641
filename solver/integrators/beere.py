"""BEERE: the exponential on the lowest modes, backward Euler on the rest."""

from __future__ import annotations

from ..state import State
from .additive import reach, split
from .interface import System, stage_at


class BEERE:
    """u₁ = u₀ + h H(u₁) + h φ₁(h J_G) G(u₀). [Ascher 20]"""

    order = 1

    def __init__(self, params: dict[str, float]) -> None:
        """params: modes, how many; redecompose, the number of steps that they last."""
        self.modes, self.every = int(params["modes"]), int(params["redecompose"])

    def step(self, system: System, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        parts = split(system, state, h, self.modes, self.every)
        stage = stage_at(system, h, 1.0, 1.0, state.time + h, state.q, system.velocity(state))
        return reach(system, stage, parts, 1.0)
