"""When a stage solver is done, the same rule for all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import StepFailed
from .problem import Evaluation, StageProblem

TOLERANCE, ITERATIONS = 1.0e-6, 100  #: where a stage solver has none of its own
WINDOW = 5  #: iterations over which progress is measured

#: of the energy at stake in a stage on the ground: what may be left there; friction and bounces would feel more, since
#: what is left of velocities is no more than a small share of those, but may be as much as friction changes
WORK_LEFT = 1.0e-4


@dataclass(frozen=True)
class StopRule:
    """‖residual‖∞ ≤ tolerance × (force scale + ‖residual₀‖∞), within so many iterations. [Thesis 5.5]"""

    tolerance: float
    iterations: int
    force_scale: float  #: [N]; 0: the weight of the heaviest node
    #: the share of an edge's length that may be left; where there is one, a stage that is not solved in time is given
    #: up, and its step is linearised
    strain_left: float = 0.0
    accepts: bool = False  #: whether a stage where surfaces touch is taken as it is by then, and not given up
    ends_early: bool = False  #: whether stages with inertia end before their root in any case
    patience: float = 0.0  #: iterations that a new factor is worth to a solver which keeps one; 0: one in each

    @classmethod
    def of(cls, params: dict[str, float]) -> StopRule:
        """params: tolerance, iterations and force_scale, each as it is by default where it is not there."""
        return cls(params.get("tolerance", TOLERANCE), int(params.get("iterations", ITERATIONS)),
                   params.get("force_scale", 0.0), patience=params.get("patience", 0.0))

    def goal(self, problem: StageProblem, first: Evaluation) -> float:
        """The largest residual at which a stage is solved [N s]."""
        scale = problem.stage.a * problem.stage.h * self.force_scale
        return self.tolerance * ((scale if scale > 0.0 else problem.floor) + first.size)

    def failure(self, problem: StageProblem, at: Evaluation) -> StepFailed:
        """The error of a stage that is not solved by then."""
        return problem.failed(f"the solver did not settle in {self.iterations} iterations", at)


class Progress:
    """Whether iterations on an inexact matrix get anywhere."""

    def __init__(self, goal: float, patience: float) -> None:
        """goal: residual to reach. patience: iterations that a new factor costs."""
        self._goal, self._patience = goal, max(patience, WINDOW)
        self.restart()

    def restart(self) -> None:
        """A new factor was made."""
        self._sizes: list[float] = []

    @property
    def count(self) -> int:
        """Iterations on this factor in this stage."""
        return len(self._sizes)

    @property
    def fresh(self) -> bool:
        """Whether none was made since the factor was."""
        return not self._sizes

    def is_slow(self, size: float) -> bool:
        """Note a residual's size; whether as many iterations as a new factor costs would still not be enough."""
        self._sizes.append(size)
        if len(self._sizes) <= WINDOW:
            return False
        fall = math.log(self._sizes[-1 - WINDOW] / size) / WINDOW
        left = math.log(size / self._goal)
        return fall <= 0.0 or left / fall > self._patience


def left(moved: float, last: float) -> float:
    """What further iterations would move, should each move less by the ratio of the last two."""
    if last <= 0.0:
        return moved
    ratio = min(moved / last, 0.999)
    return moved * ratio / (1.0 - ratio)
