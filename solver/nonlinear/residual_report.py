"""The largest residual of a stage, and the error that locates it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import TOO_TIGHT, StepFailed
from .evaluation import Evaluation
from .stage_equations import StageEquations


@dataclass(frozen=True)
class ResidualReport:
    """Report of the largest residual of one stage, for error messages."""

    #: in changes of the residual by the last digit of a position: a smaller residual is rounding
    left_by_rounding = 8.0
    problem: StageEquations

    def failure(self, what: str, at: Evaluation) -> StepFailed:
        """Return the error of a stage: its cause `what`, the location of the largest residual, the body there and the
        time."""
        worst = self.worst_node(at)
        net = at.size / (self.problem.stage.a * self.problem.stage.h)
        where = ", ".join(f"{c:.4g}" for c in self.problem.positions_at(at.unknowns)[worst])
        message = f"{what}; a net force of {net:.3g} N is left near ({where}) m, {self.problem.stage.time:.6g} s"
        body = self.problem.physics.body_of(worst)
        if at.size > self.left_by_rounding * self._rounding(at):
            return StepFailed(message, body)
        return StepFailed(f"{message}, which is what rounding leaves of forces as stiff as these", body, TOO_TIGHT)

    def worst_node(self, at: Evaluation) -> int:
        """Return the index of the node with the largest residual at an evaluation."""
        return int(self.problem.order[int(np.argmax(np.abs(at.residual))) // 3])

    def _rounding(self, at: Evaluation) -> float:
        """Return the change of the residual by the last digit of a position [N s]."""
        furthest = float(np.abs(self.problem.positions_at(at.unknowns)).max())
        self.problem.fill(at.unknowns)  # the last factor may have needed some columns only
        stiffest = float(np.abs(self.problem.system.matrix.diagonal()).max(initial=0.0))
        return stiffest * float(np.spacing(furthest)) / (self.problem.stage.b * self.problem.stage.h)
