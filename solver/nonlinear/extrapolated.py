"""A Cholesky factor that follows the motion: L + Δt L̇, as long as that says more than L itself."""

from __future__ import annotations

import numpy as np

from ..errors import StepFailed
from ..linear.cholesky.supernodal import Supernodes
from ..linear.interface import Factoring, NotPositiveDefinite, inside_of
from ..state import Mask, Vec
from .kept_factor import KeptFactor
from .problem import StageProblem

MOMENT = 1.0e-4  #: of the way to the guess, over which L̇ is measured


def extrapolation_notes(linear: Factoring) -> list[str]:
    """A sentence for the user where this linear solver does not let its factor be written."""
    if linear.showing() is not None:
        return []
    return ["The stage solver's factor stays frozen: only CHOLMOD's can be extrapolated"]


class ExtrapolatedFactor(KeptFactor):
    """L where the stage starts, and L̇ on the way to the guess, by a second factorization. [Thesis 5.8]

    It is extrapolated while the projection clamps the same elements as where L was made; L̇ knows nothing of others.
    Otherwise L is taken as it is, which costs no second factorization, and so it is where the linear solver does not
    let its factor be written.
    """

    def forget(self) -> None:
        super().forget()
        self._inside: Supernodes | None = None
        self._frozen = self._rate = np.zeros(0)
        self._clamped: Mask | None = None
        self._made_at = 0.0

    def ready(self, problem: StageProblem, unknowns: Vec) -> bool:
        """Factors where the kept one does not serve, and says so; else moves that on to the stage's time."""
        if super().ready(problem, unknowns):
            return True
        if self._inside is not None:
            same = self._clamped is not None and np.array_equal(problem.clamped(unknowns), self._clamped)
            self._write(problem.stage.time - self._made_at if same else 0.0)
            if self._single is not None:
                self._single.copy()
        return False

    def renew(self, problem: StageProblem, unknowns: Vec, true_at: float = 0.0) -> None:
        """Factor where the stage starts, and again a moment later. Raises StepFailed."""
        self.forget()
        _factor(problem, unknowns, 0.0)
        inside = inside_of(problem.system.linear)
        if inside is not None:
            clamped = problem.clamped(unknowns, 0.0)
            if np.array_equal(problem.clamped(unknowns), clamped):
                self._differentiate(problem, unknowns, inside, clamped)
        self._own(problem)

    def _differentiate(self, problem: StageProblem, unknowns: Vec, inside: Supernodes, clamped: Mask) -> None:
        way = problem.stage.b * problem.stage.h
        self._frozen = inside.values.copy()
        _factor(problem, unknowns, MOMENT)
        self._rate = inside.values - self._frozen
        self._rate /= MOMENT * way
        self._inside, self._clamped, self._made_at = inside, clamped, problem.stage.time - way
        self._write(way)

    def _write(self, elapsed: float) -> None:
        """L + Δt L̇ in CHOLMOD's place. [Thesis 5.4]"""
        assert self._inside is not None
        values = self._inside.values
        np.multiply(self._rate, elapsed, out=values)
        values += self._frozen


def _factor(problem: StageProblem, unknowns: Vec, way_gone: float) -> None:
    problem.fill(unknowns, way_gone=way_gone)
    try:
        problem.system.linear.factor(problem.system.matrix)
    except NotPositiveDefinite as failure:
        raise StepFailed("the stiffness is not positive definite") from failure
