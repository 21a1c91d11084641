"""NEWTON-D: Newton's method with a direct solve in each iteration."""

from __future__ import annotations

from ..errors import StepFailed
from ..state import Vec
from .problem import StageProblem

LARGEST_STEP = 1.0  #: of an edge's length, in one iteration


class NewtonDirect:
    """Each iteration factors its own matrix: projected far from the root, the true one near it. [Thesis 5.4]"""

    def __init__(self, params: dict[str, float]) -> None:
        """params: tolerance, largest residual over the first one; iterations, at most."""
        self.tolerance, self.iterations = params["tolerance"], int(params["iterations"])

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        at = problem.evaluate(guess)
        goal = self.tolerance * (problem.floor + at.size)
        whole = False
        for _ in range(self.iterations):
            if at.size <= goal:
                return at.unknowns
            true = problem.factor(at.unknowns, whole)
            direction = problem.system.linear.solve(-at.residual)
            if true and not problem.moves(direction):
                return at.unknowns
            # a first step that turns elements upside down leads the search astray
            change = problem.system.edges.largest_change(problem.displacement(direction))
            longest = min(1.0, LARGEST_STEP / max(change, 1.0e-300))
            at, step = problem.search(at, direction, longest)
            # a whole step taken: close enough for the true stiffness, with which Newton ends in a few iterations
            whole = step == 1.0
        raise StepFailed(f"Newton did not settle in {self.iterations} iterations; {problem.where(at)}")

    def forget_past(self) -> None:
        """Nothing outlives a stage."""
