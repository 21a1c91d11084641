"""Protocols of linear solvers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import scipy.sparse as sp

from ..state import Index, Vec

if TYPE_CHECKING:
    from .cholesky.supernodal import Supernodes


class NotPositiveDefinite(Exception):
    """Raised where a matrix has a pivot that is not positive."""


class Factoring(Protocol):
    """Protocol of a solver for a symmetric positive definite matrix on a pattern that has been analysed."""

    why: str  #: one clause for the log: what was chosen and why

    @property
    def factored(self) -> int:
        """Return how often `factor` was called; the user of a stored factor detects by it that the factor was
        replaced."""

    @property
    def proves_definite(self) -> bool:
        """Whether `factor` detects every matrix that is not positive definite; otherwise `solve` may detect it."""

    def factor(self, lower: sp.csc_matrix, positions: Vec | None = None) -> None:
        """Factor the matrix with this lower triangle (m, m). Raises NotPositiveDefinite.

        A pattern other than the analysed one is analysed first, in the present order or in one of less work. positions:
        of the nodes of the rows [m], (m/3, 3); a solver may be quicker with them.
        """

    def solve(self, rhs: Vec) -> Vec:
        """Return A⁻¹ rhs, (m,) or (m, c), with the last factor."""

    def showing(self) -> Shown | None:
        """Return this solver where it shows its factor, None where it does not."""


class Shown(Factoring, Protocol):
    """Protocol of a linear solver that shows its factor."""

    factored: int  #: number of factors, with those that others computed on its pattern

    def supernodes(self) -> Supernodes | None:
        """Return the arrays of the last factor; None where there is none or it is not as expected."""

    def supernodes_of(self, lower: sp.csc_matrix) -> Supernodes | None:
        """Return the arrays of a factor on the pattern of `lower`, whose values need not be valid; None where only a
        complete factor can show them.

        A factor on another pattern is invalid afterwards.
        """


class ShowsNothing:
    """Base of solvers that do not show their factor."""

    def showing(self) -> Shown | None:
        """Return None: this solver does not show its factor."""
        return None


class LinearSolver(Factoring, Protocol):
    """Protocol of a solver for a symmetric positive definite matrix on a pattern, given as lower triangle (m, m), whose
    last unknowns are eliminated last.

    With the last unknowns k retained and all others q, A = [[A_qq, A_qk], [A_kq, A_kk]].
    """

    remarks: list[str]  #: sentences for the log about events since it was written, which removes them

    def order(self, graph: sp.csc_matrix, lasts: bool = True) -> Index:
        """Return a fill-reducing elimination order of the nodes of a symmetric graph (n, n) without diagonal: node
        indices, (n,).

        lasts: whether the pattern stays; where not, an order that is found quickly is worth more.
        """

    def analyse(self, lower: sp.csc_matrix, retained: int) -> None:
        """Take the sparsity pattern of a lower triangle (m, m), whose values are ignored; `condense` is for the last
        `retained` unknowns.

        The other unknowns belong to nodes, three each: the lower triangle consists of whole 3 x 3 blocks there.
        """

    def condense(self) -> Vec:
        """Return J = −A_qq⁻¹ A_qk, (m − retained, retained). [ConJac 6]"""

    def compute_condensation_residual(self) -> Vec | None:
        """Return the residual −A_qk − A_qq J of the last J, (m − retained, retained); None where J has the digits of a
        double precision factor.

        With this residual the error of Jᵀ A J, of the columns [J; 1], is the square of the error of J.
        """

    def forget_past(self) -> None:
        """Discard what depends on earlier matrices, so that the next solution does not depend on them."""


def inside_of(linear: Factoring) -> Supernodes | None:
    """Return the arrays of the last factor of a linear solver; None where the solver does not show them."""
    showing = linear.showing()
    return None if showing is None else showing.supernodes()


def available(key: str) -> Any | None:
    """Return the linear solver class with this catalogue key; None where its library is missing."""
    from ..catalogue import find

    try:
        return find("linear_solver", key).load()
    except ImportError:
        return None
