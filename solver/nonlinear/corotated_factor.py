"""A factor of a body's rest shape, rotated with its nodes: it stays valid while the body deforms violently."""

from __future__ import annotations

import math

import numpy as np

from ..state import Vec
from .problem import StageProblem
from .reused_factor import ReusedFactor


class CorotatedFactor:
    """Corotated inverse R L⁻ᵀ L⁻¹ Rᵀ: L is the factor of the rest shape's matrix, R the rotation of each node's
    neighbourhood.

    Elements that are crushed for a moment are stiff there and soft in the next iteration. This factor includes neither
    them nor contacts, so secant pairs of a few iterations separate these from the lasting stiffness of the body.
    """

    def __init__(self) -> None:
        self._reused = ReusedFactor(math.inf)
        self._problem: StageProblem | None = None

    def ready(self, problem: StageProblem, unknowns: Vec) -> bool:
        """Prepare for a stage: factor if there is no valid factor, and rotate it to the positions at `unknowns`, (3 p,)
        [m/s]. Return whether the factor can be used, which takes single precision. Raises StepFailed where the matrix
        cannot be factored."""
        resting = problem.about_rest_shape()
        if not self._reused.is_single_for(resting):
            self._reused.ready(resting, np.zeros_like(unknowns))
            if not self._reused.is_single_for(resting):
                return False
            problem.system.edges.rotations.forget()
        self._reused.ready(resting, np.zeros_like(unknowns))
        self._problem = problem
        problem.system.edges.rotations.follow(problem.positions_at(unknowns))
        return True

    def solve(self, rhs: Vec) -> Vec:
        """Return the solution of a right-hand side, both (3 p,), for the stage that was prepared. Raises ValueError
        without one."""
        if self._problem is None:
            raise ValueError("no factor is kept")
        rotations, order = self._problem.system.edges.rotations, self._problem.order
        return rotations.from_rest(self._reused.solve(rotations.to_rest(rhs, order)), order)

    def forget(self) -> None:
        """Discard the factor."""
        self._reused.forget()
        self._problem = None
