"""A Cholesky factor that is reused for several stages: it costs far more than a solve, and changes slowly."""

from __future__ import annotations

import scipy.sparse as sp

from ..errors import StepFailed
from ..linear.cholesky.single import SingleFactor
from ..linear.cholesky.supernodal import Supernodes
from ..linear.interface import Factoring, NotPositiveDefinite, inside_of
from ..state import Vec
from .problem import StageProblem


class PatternChanged(Exception):
    """Raised where the sparsity pattern changed while the matrix was filled."""


class ReusedFactor:
    """Cholesky factor L of a stage's matrix, reused until a new one pays off or the matrix is another one.

    It belongs to one inertia and one β a b h². Without inertia another a b h² only scales the matrix; with inertia the
    new matrix is between the scaled and the unscaled one, so their geometric mean is used while they are near.
    Directions need not be exact, so it is in single precision where the linear solver exposes its pattern.
    [Thesis 5.4.1]
    """

    largest_ratio = 4.0  #: largest ratio of the a b h² of two stages that share a factor

    def __init__(self, patience: float) -> None:
        """patience: iterations that a factorization costs; 0 factors for every stage."""
        self.patience = patience
        self._storage: SingleFactor | None = None
        self.forget()

    def forget(self) -> None:
        """Discard the factor and its history."""
        self._drop()
        self._too_soft = False  # for single precision

    def _drop(self) -> None:
        self._linear: Factoring | None = None
        self._single: SingleFactor | None = None
        self._stamp = 0
        self._inertia, self._stiffness_factor = 0.0, 0.0
        self._scale = 1.0
        self._spent: list[int] = []

    def ready(self, problem: StageProblem, unknowns: Vec) -> bool:
        """Prepare for a stage: factor on the path to `unknowns`, (3 p,) [m/s], where the reused factor is not valid;
        return whether it factored. Raises StepFailed where the matrix cannot be factored."""
        if self._is_valid_for(problem) and not self._is_outdated:
            ratio = problem.stage.stiffness_factor / self._stiffness_factor
            self._scale = ratio if self._inertia == 0.0 else ratio**0.5
            return False
        # at the end of the last stage the true matrix is definite, unless the body is about to buckle
        self.renew(problem, unknowns, 0.0)
        return True

    def renew(self, problem: StageProblem, unknowns: Vec, true_at: float = 1.0) -> None:
        """Factor the true matrix at the fraction `true_at` of the step from the stage's start to `unknowns`, (3 p,)
        [m/s], or else the projected one at `unknowns`.

        Single precision is used where it is possible and accurate enough, else double. Raises StepFailed.
        """
        self._make(problem, unknowns, true_at, True)

    def renew_projected(self, problem: StageProblem, unknowns: Vec) -> None:
        """Factor the projected matrix at `unknowns`, (3 p,) [m/s], in the precision of `renew`. Raises StepFailed."""
        self._make(problem, unknowns, 1.0, False)

    @property
    def is_available(self) -> bool:
        """Whether a factor exists."""
        return self._linear is not None

    def takes_filled(self, problem: StageProblem) -> bool:
        """Factor the last filled matrix in double precision; return whether it is definite, else discard the factor."""
        linear = problem.system.linear
        try:
            linear.factor(problem.system.matrix)
        except NotPositiveDefinite:
            self.forget()
            return False
        self.forget()
        self._own(problem)
        return True

    def _make(self, problem: StageProblem, unknowns: Vec, true_at: float, try_true: bool) -> None:
        self._drop()
        if not self._try_single(problem, unknowns, true_at, try_true):
            problem.factors.factor(problem, unknowns, try_true, true_at)
            self._own(problem)

    def _try_single(self, problem: StageProblem, unknowns: Vec, true_at: float, try_true: bool) -> bool:
        """Factor in single precision; return whether that succeeded."""
        linear = problem.system.linear.showing()
        if linear is None or self._too_soft:
            return False
        if linear.supernodes() is None:
            # the linear solver exposes its pattern only with a factor
            problem.factors.factor(problem, unknowns, try_true, true_at)
        single = self._single_on(linear.supernodes())
        if single is None or not single.can_factor(problem.system.matrix):
            return False

        def factor(lower: sp.csc_matrix) -> None:
            if not single.can_factor(lower):
                raise PatternChanged
            linear.factored += 1
            single.factor(lower)

        try:
            problem.factors.factor(problem, unknowns, try_true, true_at, factor)
        except PatternChanged:
            return False
        except StepFailed:
            self._too_soft = True
            return False
        self._note(problem)
        self._single = single
        return True

    def _own(self, problem: StageProblem) -> None:
        """Take over the linear solver's present factor."""
        self._note(problem)
        self._single = self._single_on(inside_of(problem.system.linear))
        if self._single is not None:
            self._single.copy()

    def _note(self, problem: StageProblem) -> None:
        linear = problem.system.linear
        self._linear, self._stamp = linear, linear.factored
        self._inertia, self._stiffness_factor = problem.stage.inertia, problem.stage.stiffness_factor

    def _single_on(self, inside: Supernodes | None) -> SingleFactor | None:
        """Return storage for a factor with this pattern, reused as long as the pattern does not change."""
        if inside is not None and (self._storage is None or not self._storage.of(inside)):
            self._storage = SingleFactor(inside)
        return None if inside is None else self._storage

    def solve(self, rhs: Vec) -> Vec:
        """Return L⁻ᵀ L⁻¹ rhs, both (3 p,), for the stage that was prepared. Raises ValueError without a factor."""
        if self._linear is None:
            raise ValueError("no factor is kept")
        solution = self._linear.solve(rhs) if self._single is None else self._single.solve(rhs)
        return solution if self._scale == 1.0 else solution / self._scale

    def note_iterations(self, iterations: int) -> None:
        """Record the number of solves of a stage when it ends."""
        self._spent.append(iterations)

    @property
    def _is_outdated(self) -> bool:
        """Whether a new factor pays off: the last stage took more solves than the average on this factor, its own cost
        included."""
        if self.patience <= 0.0:
            return True
        spent = self._spent
        return bool(spent) and spent[-1] * len(spent) > self.patience + sum(spent)

    def is_single_for(self, problem: StageProblem) -> bool:
        """Whether there is a factor in single precision that is valid for this stage."""
        return self._single is not None and self._is_valid_for(problem)

    def _is_valid_for(self, problem: StageProblem) -> bool:
        linear, stage = problem.system.linear, problem.stage
        if linear is not self._linear or stage.inertia != self._inertia:
            return False
        if self._single is None and linear.factored != self._stamp:
            return False
        ratio = stage.stiffness_factor / self._stiffness_factor
        return stage.inertia == 0.0 or 1.0 / self.largest_ratio <= ratio <= self.largest_ratio
