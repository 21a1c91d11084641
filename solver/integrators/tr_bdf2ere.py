"""TR-BDF2 with the exponential: a trapezoidal half step of everything, then BDF2 on the rest without the modes."""

from __future__ import annotations

from ..parts.stage import Stage
from ..state import State
from .additive import Additive
from .interface import P, System
from .runge_kutta import RungeKutta


class TrapezoidalHalf(RungeKutta):
    """Trapezoidal half step: u_½ = u₀ + h/4 (F(u_½) + F(u₀)). [Ascher 8a]"""

    table = ((0.0,), (1 / 4, 1 / 4))


class STrapezoidalHalf(TrapezoidalHalf):
    """Semi-implicit trapezoidal half step: u_½ = u₀ + ½ (I − h/4 J)⁻¹ h F(u₀). [Ascher 27]"""

    linearised = True


class TRBDF2ERE(Additive):
    """TR-BDF2 with the exponential on the modes, both stages solved: u₁ = u_½ + ⅓ (I − P)(u_½ − u₀) + h/3 H(u₁) + h/2
    φ₁(h/2 J_G) G(u_½).

    [Ascher 27, changed: fully implicit, and the history acts on the rest alone]
    """

    def __init__(self, params: dict[str, float]) -> None:
        """params: modes, their number; redecompose, the number of steps after which they are decomposed again."""
        super().__init__(params)
        self._half = STrapezoidalHalf(params) if self.linearised else TrapezoidalHalf(params)

    def step(self, system: System[P], state: State, h: float) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; `state` stays as it is."""
        half = self._half.step(system, state, h)
        base = half.q + 1.0 / 3.0 * (half.q - state.q)
        stage = Stage(h, 1.0 / 3.0, 1.0 / 3.0, state.time + h, base, half.u + (half.u - state.u) / 3.0)
        return self.advance(system, half, 0.5 * h, stage, state)


class STRSBDF2ERE(TRBDF2ERE):
    """Semi-implicit TR-BDF2ERE: u₁ = u_½ + (I − h/3 J_H)⁻¹ (⅓ (I − P)(u_½ − u₀) + h/3 H(u_½) + h/2 φ₁(h/2 J_G) G(u_½)).

    [Ascher 27, changed: the history acts on the rest alone, else it is of order 1 and amplifies the modes]
    """

    linearised = True


class STRSBDF2EREPrinted(STRSBDF2ERE):
    """STRSBDF2ERE as published: the history and the weights ⅓, ⅔ act on the exponential, too. [Ascher 27]"""

    order = 1
    printed = True
