"""NEWTON-D: Newton's method with a direct solve in each iteration."""

from __future__ import annotations

from ..state import Vec
from .interface import StageSolver
from .limits import StopRule
from .problem import StageProblem

SLOW = 0.5  #: relative to the last residual: above it projected stiffness has stalled
BLENDS = (0.0625, 0.25)  #: fractions of it, added to the true one, that are tried then


class NewtonDirect(StageSolver):
    """Each iteration factors its own matrix: the projected one far from the root, the true one near it. [Thesis 5.4]"""

    def __init__(self, params: dict[str, float]) -> None:
        """params: those of StopRule."""
        self.limits = StopRule.of(params)

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return the root. Raises StepFailed."""
        at = problem.evaluate(guess)
        goal = self.limits.goal(problem, at)
        if at.size <= goal:
            return at.unknowns
        whole = False
        blends: tuple[float, ...] = ()
        for _ in range(self.limits.iterations):
            true = problem.factor(at.unknowns, whole, blends=blends)
            direction = problem.system.linear.solve(-at.residual)
            if true and not problem.moves(direction):
                return at.unknowns
            before = at.size
            at, step = problem.search(at, direction)
            # projected stiffness is far too stiff on the descent from a saddle, as where a contact slips off an edge
            blends = BLENDS if not true and at.size > SLOW * before else ()
            if at.size <= goal:
                return at.unknowns
            # after a full step the true stiffness converges in a few iterations
            whole = step == 1.0
        raise self.limits.failure(problem, at)
