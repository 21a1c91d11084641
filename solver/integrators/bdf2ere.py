"""BDF2 with the exponential on the lowest modes."""

from __future__ import annotations

from ..parts.stage import Stage
from ..state import State
from .additive import Additive
from .bdf2 import BDF2, POSITIONS, RATES
from .interface import P, System
from .tr_bdf2ere import STRSBDF2ERE, TRBDF2ERE


class BDF2ERE(Additive, BDF2):
    """BDF2 with the exponential on the modes: u₁ = u₀ + ⅓ (I − P)(u₀ − u₋₁) + 2h/3 H(u₁) + h φ₁(h J_G) G(u₀).

    The first step, and each one after a contact or a change of h, is one of TR-BDF2ERE or, linearised, of STR-SBDF2ERE.
    [Ascher 22, changed: the history acts on the rest alone, else it is of order 1 and amplifies the modes]
    """

    remembers = (*Additive.remembers, *BDF2.remembers)

    def __init__(self, params: dict[str, float]) -> None:
        """params: modes, their number; redecompose, the number of steps after which they are decomposed again."""
        super().__init__(params)
        self._starter = STRSBDF2ERE(params) if self.linearised else TRBDF2ERE(params)

    def _continue(self, system: System[P], state: State, h: float) -> State:
        past = State(state.time - h, state.memory[POSITIONS], state.memory[RATES])
        base = state.q + 1.0 / 3.0 * (state.q - past.q)
        stage = Stage(h, 2.0 / 3.0, 2.0 / 3.0, state.time + h, base, state.u + (state.u - past.u) / 3.0)
        return self.advance(system, state, h, stage, past)


class SBDF2ERE(BDF2ERE):
    """Semi-implicit BDF2ERE: u₁ = u₀ + (I − 2h/3 J_H)⁻¹ (⅓ (I − P)(u₀ − u₋₁) + 2h/3 H(u₀) + h φ₁(h J_G) G(u₀)).

    [Ascher 23, changed: the history acts on the rest alone, else it is of order 1 and amplifies the modes]
    """

    linearised = True


class BDF2EREPrinted(BDF2ERE):
    """BDF2ERE as published: the history and the weights ⅓, ⅔ act on the exponential, too. [Ascher 22]"""

    order = 1
    printed = True


class SBDF2EREPrinted(SBDF2ERE):
    """SBDF2ERE as published: the history and the weights ⅓, ⅔ act on the exponential, too. [Ascher 23]"""

    order = 1
    printed = True
