"""What is done where a stage is given up: a linearised step that gains nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..errors import StepFailed
from ..state import Vec
from .interface import StageSolver
from .limits import StopRule
from .problem import StageProblem

CONDENSED = 0.5  #: of the first change: what may be left of it where velocities are condensed
CALM = 4  #: most iterations of a step that was given up


class GaveUp(StepFailed):
    """A stage that may as well be linearised."""


@contextmanager
def given_up(problem: StageProblem) -> Iterator[None]:
    """A stage that fails inside raises GaveUp, or StepFailed still where no step of Euler would do instead, as there is
    no inertia."""
    try:
        yield
    except StepFailed as failure:
        if problem.stage.inertia:
            raise GaveUp(str(failure), failure.object) from failure
        raise


class Calm(StageSolver):
    """A linearised step that gains nothing: from where the body stands, iterations on projected stiffness until one is
    taken whole, each of which lowers the incremental potential. There that is the body's energy."""

    def __init__(self) -> None:
        self.limits = StopRule(CONDENSED, CALM, 0.0, strain_left=1.0, accepts=True)

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Rates with less of that potential than none have. Raises StepFailed."""
        stands = np.zeros_like(guess)
        at, share = problem.evaluate(stands), 0.0
        for _ in range(CALM):
            if share == 1.0:
                break
            problem.factor(at.unknowns, False)
            try:
                at, share = problem.search(at, problem.system.linear.solve(-at.residual))
            except StepFailed:
                if at.unknowns is stands:
                    raise
                break  # nothing lowers it
        return at.unknowns
