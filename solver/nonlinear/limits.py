"""Stopping criteria that all stage solvers share."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..catalogue.stepping import ITERATIONS, TOLERANCE
from ..errors import StepFailed
from .problem import Evaluation, StageProblem

QUASISTATIC_FRACTION = 0.1  #: tolerance of quasistatic positions relative to that of dynamic ones
INSIGNIFICANT = 1.0e-9  #: relative difference below which two values differ by rounding

#: relative to the energy at stake in a stage on the ground: admissible remaining energy; a larger one would show in
#: friction and bounces, as the error in velocities may be as large as friction's change of them
WORK_LEFT = 1.0e-4


@dataclass(frozen=True)
class StopRule:
    """Stop rule of a stage: ‖residual‖∞ ≤ tolerance × (force scale + ‖residual₀‖∞), within a limit of iterations.
    [Thesis 5.5]"""

    tolerance: float
    iterations: int
    force_scale: float  #: [N]; 0: the weight of the heaviest node
    #: admissible relative change of an edge; with it, a stage that does not converge is replaced by a linearised step
    strain_left: float = 0.0
    accepts: bool = False  #: whether a stage in contact that has not converged is accepted
    ends_early: bool = False  #: whether a stage with inertia stops before its residual does, whatever else
    patience: float = 0.0  #: iterations that a new factor costs, for solvers that reuse one; 0: a factor in each

    @property
    def stops_early(self) -> bool:
        """Whether stages end at an invisible change and have to converge to it, from a guess of low potential."""
        return self.strain_left > 0.0 and not self.accepts

    @property
    def minimises_energy(self) -> bool:
        """Whether condensed stages with inertia minimise an incremental potential, with or without contact."""
        return self.accepts

    @property
    def solves_on_ground(self) -> bool:
        """Whether a stage that touches only the ground reuses factors there and may end before it converges."""
        return self.reuses_factor and self.accepts

    @property
    def reuses_factor(self) -> bool:
        """Whether stages try the factor of an earlier one first."""
        return self.patience > 0.0

    @classmethod
    def of(cls, params: dict[str, float]) -> StopRule:
        """Return the rule with a solver's params tolerance, iterations, force_scale and patience; missing ones have the
        catalogue's defaults."""
        return cls(params.get("tolerance", TOLERANCE.default), int(params.get("iterations", ITERATIONS.default)),
                   params.get("force_scale", 0.0), patience=params.get("patience", 0.0))

    def goal(self, problem: StageProblem, first: Evaluation) -> float:
        """Return the largest admissible residual of a stage [N s], from the evaluation at its initial guess."""
        scale = problem.stage.a * problem.stage.h * self.force_scale
        return self.tolerance * ((scale if scale > 0.0 else problem.floor) + first.size)

    def failure(self, problem: StageProblem, at: Evaluation) -> StepFailed:
        """Return the error of a stage that has not converged at its last iterate."""
        return problem.report_failure(f"the solver did not converge in {self.iterations} iterations", at)


class Progress:
    """Progress of iterations with an inexact matrix towards a goal."""

    window = 5  #: iterations over which the convergence rate is measured

    def __init__(self, goal: float, patience: float) -> None:
        """goal: residual to reach [N s]. patience: iterations that a new factor costs."""
        self._goal, self._patience = goal, max(patience, self.window)
        self.restart()

    def restart(self) -> None:
        """Discard the history after a factorization."""
        self._sizes: list[float] = []

    @property
    def count(self) -> int:
        """Return the number of iterations since the last factorization."""
        return len(self._sizes)

    @property
    def fresh(self) -> bool:
        """Whether no iteration has followed the last factorization."""
        return not self._sizes

    def is_slow(self, size: float) -> bool:
        """Record a residual's size [N s]; return whether convergence would take more iterations than a new factor
        costs."""
        self._sizes.append(size)
        if len(self._sizes) <= self.window:
            return False
        fall = math.log(self._sizes[-1 - self.window] / size) / self.window
        remaining = math.log(size / self._goal)
        return fall <= 0.0 or remaining / fall > self._patience


def remaining(moved: float, last: float) -> float:
    """Return the sum of all further changes, if each shrinks by the ratio of the last two, `moved` and `last` before
    it; `moved` where `last` is 0."""
    if last <= 0.0:
        return moved
    ratio = min(moved / last, 0.999)
    return moved * ratio / (1.0 - ratio)
