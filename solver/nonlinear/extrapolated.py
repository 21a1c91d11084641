"""A Cholesky factor extrapolated in time, L + Δt L̇, as long as that is more accurate than L itself."""

from __future__ import annotations

import numpy as np

from ..errors import StepFailed
from ..linear.cholesky.supernodal import Supernodes
from ..linear.interface import Factoring, NotPositiveDefinite, inside_of
from ..state import Mask, Vec
from .problem import StageProblem
from .reused_factor import ReusedFactor


def extrapolation_notes(linear: Factoring) -> list[str]:
    """Return a list with one sentence for the user where this linear solver gives no access to its factor, else none.
    """
    if linear.showing() is not None:
        return []
    return ["The stage solver's factor stays frozen: only CHOLMOD's can be extrapolated"]


class ExtrapolatedFactor(ReusedFactor):
    """A reused factor: L at the stage's start, and its rate L̇ on the path to the guess by a second factorization.

    L is extrapolated as long as the projection clamps the same elements as at its factorization, since L̇ includes no
    others. Otherwise L is used without a second factorization, also where the linear solver gives no access to its
    factor. [Thesis 5.8]
    """

    moment = 1.0e-4  #: fraction of the step to the guess over which L̇ is approximated by a finite difference

    def forget(self) -> None:
        """Discard the factor, its rate, and the record of clamped elements."""
        super().forget()
        self._inside: Supernodes | None = None
        self._frozen = self._rate = np.zeros(0)
        self._clamped: Mask | None = None
        self._made_at = 0.0

    def ready(self, problem: StageProblem, unknowns: Vec) -> bool:
        """Extrapolate the factor to the stage's time, or factor on the path to `unknowns`, (3 p,) [m/s], where the
        reused factor is not valid; return whether it factored. Raises StepFailed where the stiffness is not positive
        definite."""
        if super().ready(problem, unknowns):
            return True
        if self._inside is not None:
            same = self._clamped is not None and np.array_equal(_find_clamped(problem, unknowns), self._clamped)
            self._write(problem.stage.time - self._made_at if same else 0.0)
            if self._single is not None:
                self._single.copy()
        return False

    def renew(self, problem: StageProblem, unknowns: Vec, true_at: float = 0.0) -> None:
        """Factor at the stage's start, and again a small fraction of the step to `unknowns`, (3 p,) [m/s], later.
        `true_at` has no effect. Raises StepFailed where the stiffness is not positive definite."""
        self.forget()
        _factor(problem, unknowns, 0.0)
        inside = inside_of(problem.system.linear)
        if inside is not None:
            clamped = _find_clamped(problem, unknowns, 0.0)
            if np.array_equal(_find_clamped(problem, unknowns), clamped):
                self._differentiate(problem, unknowns, inside, clamped)
        self._own(problem)

    def _differentiate(self, problem: StageProblem, unknowns: Vec, inside: Supernodes, clamped: Mask) -> None:
        elapsed = problem.stage.b * problem.stage.h
        self._frozen = inside.values.copy()
        _factor(problem, unknowns, self.moment)
        self._rate = inside.values - self._frozen
        self._rate /= self.moment * elapsed
        self._inside, self._clamped, self._made_at = inside, clamped, problem.stage.time - elapsed
        self._write(elapsed)

    def _write(self, elapsed: float) -> None:
        """Write L + Δt L̇ over CHOLMOD's factor. [Thesis 5.4]"""
        assert self._inside is not None
        values = self._inside.values
        np.multiply(self._rate, elapsed, out=values)
        values += self._frozen


def _find_clamped(problem: StageProblem, unknowns: Vec, step_fraction: float = 1.0) -> Mask:
    """Return a mask of the elements whose stiffness the projection changes at this fraction of the step, (e,)."""
    x = problem.positions_at_fraction(problem.velocities(unknowns), step_fraction)
    return problem.physics.find_clamped_elements(x, problem.stage.time)


def _factor(problem: StageProblem, unknowns: Vec, step_fraction: float) -> None:
    problem.fill(unknowns, step_fraction=step_fraction)
    try:
        problem.system.linear.factor(problem.system.matrix)
    except NotPositiveDefinite as failure:
        raise StepFailed("the stiffness is not positive definite") from failure
