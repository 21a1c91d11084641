"""The factor of a body's rest shape, turned with its nodes: what it knows does not age where the body is violent."""

from __future__ import annotations

import math

import numpy as np

from ..state import Vec
from .kept_factor import KeptFactor
from .problem import StageProblem


class TurnedFactor:
    """R L⁻ᵀ L⁻¹ Rᵀ, L of the matrix of the rest shape and R what each node's surroundings have turned since.

    Elements that are crushed for a moment are stiff there and soft in the next iteration. It knows nothing of them, and
    nothing of what touches, so pairs of a few iterations tell these apart from what the body is for good.
    """

    def __init__(self) -> None:
        self._kept = KeptFactor(math.inf)
        self._problem: StageProblem | None = None

    def ready(self, problem: StageProblem, unknowns: Vec) -> bool:
        """Call before a stage: says whether it serves, made where there is none and turned to positions at these
        unknowns. It does not where it would have to be made in full precision. Raises StepFailed."""
        resting = problem.at_rest()
        if not self._kept.is_single_for(resting):
            self._kept.ready(resting, np.zeros_like(unknowns))
            if not self._kept.is_single_for(resting):
                return False
            problem.system.edges.turning.forget()
        self._kept.ready(resting, np.zeros_like(unknowns))
        self._problem = problem
        problem.system.edges.turning.follow(problem.positions(problem.velocities(unknowns)))
        return True

    def solve(self, right: Vec) -> Vec:
        """For the stage that was made ready."""
        if self._problem is None:
            raise ValueError("no factor is kept")
        turning, order = self._problem.system.edges.turning, self._problem.order
        return turning.from_rest(self._kept.solve(turning.to_rest(right, order)), order)

    def forget(self) -> None:
        """The next stage factors anew."""
        self._kept.forget()
        self._problem = None
