"""Quasi-Newton steps of the quasistatic nodes towards f = M a on a reused factor, for the loop that solves a stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...errors import StepFailed
from ...iteration.protocol import Bound, StageDirections
from ...state import Vec
from ..interface import Evaluate
from ..line_search import search
from .balance import Balance


@dataclass(frozen=True)
class EquilibriumProblem:
    """Equilibrium f(x) = M a of the quasistatic nodes at given accelerations."""

    evaluate: Evaluate  #: forces (n, 3) [N] and their energy [J]
    time: float  #: [s]
    carried: Vec  #: M a without external forces, (n, 3) [N]
    select_rows: Callable[[Vec], Vec]  #: returns the quasistatic rows, (3 q,), of forces (n, 3) [N]

    def balance(self, x: Vec, force: Vec, energy: float) -> Balance:
        """Return the residual and merit at positions x, (n, 3) [m], from the forces there and their energy."""
        rest = force - self.carried
        return Balance(x, rest, energy + float(np.vdot(self.carried, x)), self.select_rows(rest))

    def balance_at(self, x: Vec) -> Balance:
        """Return the residual and merit at positions x, (n, 3) [m]."""
        force, energy = self.evaluate(x, self.time)
        return self.balance(x, force, energy)


@dataclass(frozen=True)
class EquilibriumStep:
    """A step towards equilibrium."""

    after: Balance
    is_full: bool = True


@dataclass(frozen=True)
class EquilibriumDirections(StageDirections[EquilibriumProblem, Balance, EquilibriumStep, Vec]):
    """Displacements, (n, 3) [m], by the response of a factor to the residual force."""

    respond: Callable[[Vec], Vec]  #: displacement of all nodes by forces on them, both (n, 3) [N], [m]

    def find(self, problem: EquilibriumProblem, at: Balance, last: EquilibriumStep | None) -> Vec:
        """Return the displacement by which the residual force would vanish, (n, 3) [m]."""
        return self.respond(at.rest)

    def retries(self, problem: EquilibriumProblem, at: Balance, failure: StepFailed) -> bool:
        """Return False: where no step lowers the merit, the last positions are as near as this factor leads."""
        return False


@dataclass(frozen=True)
class EquilibriumSearch(Bound[EquilibriumProblem, Balance, Vec, EquilibriumStep]):
    """Line search along a displacement, from its largest admissible fraction on."""

    limit_fraction: Callable[[float, Vec], float]  #: largest admissible fraction of a displacement
    trials: int  #: number of fractions, each half of the one before
    noise: float  #: changes of the merit that may be rounding [J]

    def step_along(self, problem: EquilibriumProblem, at: Balance, direction: Vec) -> EquilibriumStep:
        """Return the first step that lowers the merit W + M a · x enough. Raises StepFailed where none does."""
        first = self.limit_fraction(1.0, direction)
        accepted = search(at, lambda fraction: problem.balance_at(at.x + fraction * direction), first,
                          first * 0.5 ** (self.trials - 1), -float(np.vdot(at.rest, direction)), self.noise)
        if accepted is None:
            raise StepFailed("no step lowers the energy")
        return EquilibriumStep(accepted[0])
