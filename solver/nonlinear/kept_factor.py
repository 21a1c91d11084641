"""A Cholesky factor that serves several stages: it costs far more than a solve, and ages slowly."""

from __future__ import annotations

import scipy.sparse as sp

from ..errors import StepFailed
from ..linear.cholesky.single import SingleFactor
from ..linear.cholesky.supernodal import Supernodes
from ..linear.interface import Factoring, NotPositiveDefinite, inside_of
from ..state import Vec
from .problem import StageProblem

LARGEST_RATIO = 4.0  #: between the a b h² of two stages that may share a factor


class OtherPattern(Exception):
    """Elements came or went as the matrix was filled."""


class KeptFactor:
    """L of a stage's matrix, until a new one is worth its price or the matrix is another one. [Thesis 5.4.1]

    It belongs to its inertia and β a b h². Where both are without inertia another a b h² only scales it; with inertia
    it lies between the scaled and the unscaled matrix, so the middle of both is taken while they are near.
    Directions need not be exact, so it is made in single precision where the linear solver shows its factor.
    """

    def __init__(self, patience: float) -> None:
        """patience: iterations that a factorization costs; 0 factors anew for every stage."""
        self.patience = patience
        self._room: SingleFactor | None = None
        self.forget()

    def forget(self) -> None:
        """The next stage factors anew, and knows nothing of those before."""
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
        """Call before a stage: factors where the kept one does not serve. Says whether it did. Raises StepFailed."""
        if self._serves(problem) and not self._worn:
            ratio = problem.stage.stiffness_factor / self._stiffness_factor
            self._scale = ratio if self._inertia == 0.0 else ratio**0.5
            return False
        # where the last stage ended the true matrix is definite, unless the body is about to buckle
        self.renew(problem, unknowns, 0.0)
        return True

    def renew(self, problem: StageProblem, unknowns: Vec, true_at: float = 1.0) -> None:
        """Factor the true matrix, this share of the way from the stage's start to here, or else the projected one here.

        In single precision where that can be; in full where it cannot, or loses too much. Raises StepFailed.
        """
        self._make(problem, unknowns, true_at, True)

    def renew_projected(self, problem: StageProblem, unknowns: Vec) -> None:
        """Factor the projected matrix here, as `renew` does. Raises StepFailed."""
        self._make(problem, unknowns, 1.0, False)

    @property
    def is_kept(self) -> bool:
        """Whether there is one."""
        return self._linear is not None

    def takes_filled(self, problem: StageProblem) -> bool:
        """Factor the matrix that was filled last, in full; whether that is definite; else none is kept."""
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
        if not self._made_single(problem, unknowns, true_at, try_true):
            problem.factor(unknowns, try_true, true_at)
            self._own(problem)

    def _made_single(self, problem: StageProblem, unknowns: Vec, true_at: float, try_true: bool) -> bool:
        """Factor in single precision; whether that could be done."""
        linear = problem.system.linear.showing()
        if linear is None or self._too_soft:
            return False
        if linear.supernodes() is None:
            # the linear solver shows its pattern only with a factor
            problem.factor(unknowns, try_true, true_at)
        single = self._single_on(linear.supernodes())
        if single is None or not single.can_factor(problem.system.matrix):
            return False

        def factor(lower: sp.csc_matrix) -> None:
            if not single.can_factor(lower):
                raise OtherPattern
            linear.factored += 1
            single.factor(lower)

        try:
            problem.factor(unknowns, try_true, true_at, factor)
        except OtherPattern:
            return False
        except StepFailed:
            self._too_soft = True
            return False
        self._note(problem)
        self._single = single
        return True

    def _own(self, problem: StageProblem) -> None:
        """Note that the factor that stands there now is this one."""
        self._note(problem)
        self._single = self._single_on(inside_of(problem.system.linear))
        if self._single is not None:
            self._single.copy()

    def _note(self, problem: StageProblem) -> None:
        linear = problem.system.linear
        self._linear, self._stamp = linear, linear.factored
        self._inertia, self._stiffness_factor = problem.stage.inertia, problem.stage.stiffness_factor

    def _single_on(self, inside: Supernodes | None) -> SingleFactor | None:
        """Room for one on this pattern, the same one as long as that does not change."""
        if inside is not None and (self._room is None or not self._room.of(inside)):
            self._room = SingleFactor(inside)
        return None if inside is None else self._room

    def solve(self, right: Vec) -> Vec:
        """L⁻ᵀ L⁻¹ right, for the stage that was made ready."""
        if self._linear is None:
            raise ValueError("no factor is kept")
        answer = self._linear.solve(right) if self._single is None else self._single.solve(right)
        return answer if self._scale == 1.0 else answer / self._scale

    def spent(self, iterations: int) -> None:
        """Call after a stage: how many solves it took."""
        self._spent.append(iterations)

    @property
    def _worn(self) -> bool:
        """A new one pays when the last stage took more than all on this one on average, its own cost included."""
        if self.patience <= 0.0:
            return True
        spent = self._spent
        return bool(spent) and spent[-1] * len(spent) > self.patience + sum(spent)

    def is_single_for(self, problem: StageProblem) -> bool:
        """Whether one in single precision is kept that serves this stage."""
        return self._single is not None and self._serves(problem)

    def _serves(self, problem: StageProblem) -> bool:
        linear, stage = problem.system.linear, problem.stage
        if linear is not self._linear or stage.inertia != self._inertia:
            return False
        if self._single is None and linear.factored != self._stamp:
            return False
        ratio = stage.stiffness_factor / self._stiffness_factor
        return stage.inertia == 0.0 or 1.0 / LARGEST_RATIO <= ratio <= LARGEST_RATIO
