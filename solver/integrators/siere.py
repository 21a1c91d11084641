"""SIERE: the exponential on the lowest modes, semi-implicit Euler on the rest."""

from __future__ import annotations

from ..condensation.interface import Stage
from ..state import State
from .additive import land, split
from .interface import System, pose


class SIERE:
    """u₁ = u₀ + (I − h J_H)⁻¹ (h H(u₀) + h φ₁(h J_G) G(u₀)). [Ascher 21, 25]

    Moving nodes pull at the rest as in semi-implicit Euler, and at the modes through h² φ₂(h J_G).
    """

    order = 1

    def __init__(self, params: dict[str, float]) -> None:
        """params: modes, how many; redecompose, the number of steps that they last."""
        self.modes, self.every = int(params["modes"]), int(params["redecompose"])

    def step(self, system: System, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        parts = split(system, state, h, self.modes, self.every)
        lin = system.linearise(state)
        w = system.coordinates.prescribed_velocity(state.time, h)
        stage = Stage(h, 1.0, 1.0, state.time + h, None, lin.v, w, system.condensation.beta)
        return land(system, pose(system, lin, stage), stage, parts, 1.0)
