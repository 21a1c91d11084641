"""Base of linear solvers on a wheel's CHOLMOD, which factors the first pattern; those that follow are factored by
Fronts."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.sparse as sp

from ...state import Index, Vec
from ..analysed import Analysed
from ..interface import Shown
from .backward import Backward
from .fronts import Fronts, LaterPatterns
from .supernodal import Supernodes, supernodes


class Library(ABC):
    """LinearSolver on the supernodal factor of a library."""

    proves_definite = True

    def __init__(self, why: str) -> None:
        self.why = why
        self.remarks: list[str] = []
        self.factored = 0
        self._fronts: Fronts | None = None  #: of a pattern that came later
        self._backward: Backward | None = None
        self._retained = 0

    @staticmethod
    @abstractmethod
    def order(graph: sp.csc_matrix, lasts: bool = True) -> Index:
        """Return a fill-reducing order of the nodes of a graph (n, n), (n,). lasts: whether the pattern stays; where
        not, an order that is found quickly is worth more."""

    @abstractmethod
    def _analyse(self, lower: sp.csc_matrix) -> None:
        """Analyse a lower triangle in the order of its rows; the library may add a postorder."""

    @abstractmethod
    def _factor(self, lower: sp.csc_matrix) -> None:
        """Factor the matrix with this lower triangle on the analysed pattern. Raises NotPositiveDefinite."""

    @abstractmethod
    def _solve(self, rhs: Vec) -> Vec:
        """Return A⁻¹ rhs, (m,) or (m, c)."""

    @abstractmethod
    def _solve_lt(self, sides: Vec) -> Vec:
        """Return L⁻ᵀ sides, (m, c)."""

    @abstractmethod
    def _permutation(self) -> Index:
        """Return the permutation of the factor, (m,): row i of L is unknown permutation[i]; available once there is a
        factor."""

    @abstractmethod
    def _address(self) -> int | None:
        """Return the address of the cholmod_factor; None where it is not known."""

    def analyse(self, lower: sp.csc_matrix, retained: int) -> None:
        """Take the sparsity pattern of a lower triangle (m, m); `condense` is for the last `retained` unknowns."""
        self._following, self._retained, self._is_past = LaterPatterns(lower, retained, self.order), retained, False
        self._take(lower)

    def _take(self, lower: sp.csc_matrix) -> None:
        self._analyse(lower)
        self._own = self._analysed = Analysed(lower)
        self._fronts, self._backward = None, None
        self._supernodes: Supernodes | None = None
        self._looked_inside = self._is_complete = False

    def follow(self, lower: sp.csc_matrix) -> None:
        """Take the pattern of `lower`, (m, m), another one of the same unknowns.

        The library factors the first pattern, which it has analysed already, and any that Fronts cannot factor because
        memory is short or BLAS out of reach.
        """
        self._look_at(lower)
        if self._fronts is not None and not self._fronts.usable:
            self._take(lower)

    def _look_at(self, lower: sp.csc_matrix) -> None:
        own, self._is_past = self._own.is_of(lower), False
        self._fronts, self._backward = None if own else self._following.follow(lower), None
        if own or self._fronts is not None:
            self._analysed = self._own if own else Analysed(lower)
        else:
            self._take(lower)

    def factor(self, lower: sp.csc_matrix, positions: Vec | None = None) -> None:
        """Factor the matrix with this lower triangle (m, m); a pattern other than the last one is analysed first.

        positions: not used. Raises NotPositiveDefinite.
        """
        self.factored += 1
        if self._is_past or not self._analysed.is_of(lower):
            self._look_at(lower)
        if self._fronts is not None and self._fronts.usable:
            self._fronts.factor(lower)
            return
        if self._fronts is not None:
            self._take(lower)
        self._is_complete = False
        self._factor(lower)
        self._is_complete = True

    def solve(self, rhs: Vec) -> Vec:
        """Return A⁻¹ rhs, (m,) or (m, c), with the last factor."""
        rhs = np.asarray(rhs, dtype=np.float64)  # scipy's iterations ask for their type by a vector of bytes
        if not len(rhs):  # everything is pinned
            return rhs
        if self._fronts is not None:
            return self._fronts.solve(rhs.reshape(len(rhs), -1)).reshape(rhs.shape)
        return self._solve(rhs)

    def forget_past(self) -> None:
        """Discard the last pattern, its factor, and the elimination order that earlier patterns led to."""
        self._is_past, self._is_complete = True, False
        self._supernodes, self._looked_inside = None, False
        self._following.forget_past()

    def condense(self) -> Vec:
        """Return J = −A_qq⁻¹ A_qk, (m − retained, retained), by one backward solve, on all threads where the factor's
        arrays can be read."""
        inside = self.supernodes()
        if self._backward is None:
            order = self._permutation() if self._fronts is None else self._fronts.permutation
            self._backward = Backward(order, self._retained)
        if inside is None:
            return self._backward.solve(self._solve_lt, None)
        return self._backward.solve(inside.solve_lt, inside.corner(self._backward.rows))

    def compute_condensation_residual(self) -> Vec | None:
        """Return None: J has the digits of a double precision factor."""
        return None

    def showing(self) -> Shown | None:
        """Return this solver, which shows its factor."""
        return self

    def supernodes_of(self, lower: sp.csc_matrix) -> Supernodes | None:
        """Return the arrays of a factor on the pattern of `lower`, whose values need not be valid; None where only a
        complete factor can show them."""
        if self._is_past or not self._analysed.is_of(lower):
            self._look_at(lower)
        return self.supernodes() if self._fronts is None else self._fronts

    def supernodes(self) -> Supernodes | None:
        """Return the arrays of the last factor; None where there is none or it is not as expected."""
        if self._is_past:
            return None
        if self._fronts is not None:
            return self._fronts if self._fronts.is_complete else None
        if not self._looked_inside and self._is_complete:
            inside = supernodes(self._address(), len(self._permutation()), self._solve_lt)
            self._supernodes, self._looked_inside = inside, True
        return self._supernodes
