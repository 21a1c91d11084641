"""TR-BDF2 with the exponential: a trapezoidal half step of everything, then BDF2 on what is not in the modes."""

from __future__ import annotations

from ..parts.stage import Stage
from ..state import State
from .additive import Additive
from .interface import P, System
from .runge_kutta import RungeKutta


class TrapezoidalHalf(RungeKutta):
    """u_½ = u₀ + h/4 (F(u_½) + F(u₀)). [Ascher 8a]"""

    table = ((0.0,), (1 / 4, 1 / 4))


class STrapezoidalHalf(TrapezoidalHalf):
    """u_½ = u₀ + ½ (I − h/4 J)⁻¹ h F(u₀). [Ascher 27]"""

    linearised = True


class TRBDF2ERE(Additive):
    """u₁ = u_½ + ⅓ (I − P)(u_½ − u₀) + h/3 H(u₁) + h/2 φ₁(h/2 J_G) G(u_½): both stages solved.

    [Ascher 27, changed: fully implicit, and the history acts on the rest alone]
    """

    def __init__(self, params: dict[str, float]) -> None:
        """params: modes, how many; redecompose, the number of steps that they last."""
        super().__init__(params)
        self._half = STrapezoidalHalf(params) if self.linearised else TrapezoidalHalf(params)

    def step(self, system: System[P], state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        half = self._half.step(system, state, h)
        base = half.q + 1.0 / 3.0 * (half.q - state.q)
        stage = Stage(h, 1.0 / 3.0, 1.0 / 3.0, state.time + h, base, half.u + (half.u - state.u) / 3.0)
        return self.advance(system, half, 0.5 * h, stage, state)


class STRSBDF2ERE(TRBDF2ERE):
    """u₁ = u_½ + (I − h/3 J_H)⁻¹ (⅓ (I − P)(u_½ − u₀) + h/3 H(u_½) + h/2 φ₁(h/2 J_G) G(u_½)).

    [Ascher 27, changed: the history acts on the rest alone, else it is of order 1 and amplifies the modes]
    """

    linearised = True


class STRSBDF2EREPrinted(STRSBDF2ERE):
    """The history and the weights ⅓, ⅔ on the exponential too, as printed. [Ascher 27]"""

    order = 1
    printed = True
