"""When a stage solver is done, the same rule for all of them."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import StepFailed
from .problem import Evaluation, StageProblem


@dataclass(frozen=True)
class Limits:
    """‖residual‖∞ ≤ tolerance × (force scale + ‖residual₀‖∞), within so many iterations. [Thesis 5.5]"""

    tolerance: float
    iterations: int
    force_scale: float  #: [N]; 0: the weight of the heaviest node

    @classmethod
    def of(cls, params: dict[str, float]) -> Limits:
        """params: tolerance, iterations and, where it is not 0, force_scale."""
        return cls(params["tolerance"], int(params["iterations"]), params.get("force_scale", 0.0))

    def goal(self, problem: StageProblem, first: Evaluation) -> float:
        """The largest residual at which a stage is solved [N s]."""
        scale = problem.stage.a * problem.stage.h * self.force_scale
        return self.tolerance * ((scale if scale > 0.0 else problem.floor) + first.size)

    def failure(self, problem: StageProblem, at: Evaluation) -> StepFailed:
        """The error of a stage that is not solved by then."""
        return problem.failed(f"the solver did not settle in {self.iterations} iterations", at)
