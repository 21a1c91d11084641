"""Protocol of linear solvers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import scipy.sparse as sp

from ..state import Index, Vec

if TYPE_CHECKING:
    from .cholesky.supernodal import Supernodes


class NotPositiveDefinite(Exception):
    """The matrix has a pivot that is not positive; the caller knows what that means."""


class Factoring(Protocol):
    """A symmetric positive definite matrix on a pattern that has been analysed."""

    why: str  #: one clause for the log: what was chosen and why

    @property
    def factored(self) -> int:
        """How often `factor` was called: whoever keeps a factor sees by it whether it is still theirs."""

    @property
    def proves_definite(self) -> bool:
        """Whether `factor` finds out that a matrix is not positive definite; else a solve may."""

    def factor(self, lower: sp.csc_matrix, positions: Vec | None = None) -> None:
        """Factor these values; where their pattern is another than the analysed one, that is analysed first, in the
        order that it has or in one that costs less. Raises NotPositiveDefinite.

        places: where the nodes stand that the rows belong to [m], (m/3, 3); a solver may be quicker with them.
        """

    def solve(self, right: Vec) -> Vec:
        """A⁻¹ right, (m,) or (m, c)."""

    def showing(self) -> Shown | None:
        """Return this solver where it shows its factor, None where it does not."""


class Shown(Factoring, Protocol):
    """A linear solver that shows its factor."""

    factored: int  #: whoever factors on its pattern in its place counts that here

    def supernodes(self) -> Supernodes | None:
        """The inside of the last factor that was made, None where there is none or it is not as expected."""

    def supernodes_of(self, lower: sp.csc_matrix) -> Supernodes | None:
        """That of a factor on this pattern, whose values need not stand: what was factored before does no more where
        that was another one. None where only a factor shows it."""


class ShowsNothing:
    """Base of solvers that do not show their factor."""

    def showing(self) -> Shown | None:
        """None."""
        return None


class LinearSolver(Factoring, Protocol):
    """A symmetric positive definite matrix on a kept pattern, lower triangle, whose last rows are eliminated last.

    With the last unknowns k retained and all others q, A = [[A_qq, A_qk], [A_kq, A_kk]].
    """

    remarks: list[str]  #: sentences for the log about what happened since; whoever says them takes them out

    def order(self, graph: sp.csc_matrix, lasts: bool = True) -> Index:
        """A fill-reducing elimination order of a symmetric graph of nodes (no diagonal): (n,) node indices.

        lasts: whether the pattern does; where not, one that is found quickly is worth more.
        """

    def analyse(self, lower: sp.csc_matrix, retained: int) -> None:
        """Take the pattern (values are ignored); `condense` is of the last `retained` unknowns.

        The others belong to nodes, three each: lower is made of whole 3 x 3 blocks there.
        """

    def condense(self) -> Vec:
        """J = −A_qq⁻¹ A_qk, (m − retained, retained). [ConJac 6]"""

    def left_of_condense(self) -> Vec | None:
        """Return −A_qk − A_qq J of the last J, (m − retained, retained); None where J has the digits of a double
        precision factor.

        With it Jᵀ A J of [J; 1] errs by the square of what J does.
        """

    def forget_past(self) -> None:
        """Drop what depends on earlier matrices, so that the next solution does not."""


def inside_of(linear: Factoring) -> Supernodes | None:
    """The arrays of the factor that a linear solver has just made, or None where it does not show them."""
    showing = linear.showing()
    return None if showing is None else showing.supernodes()


def available(key: str) -> Any | None:
    """The linear solver class of this catalogue key, or None where its library is missing."""
    from ..catalogue import find

    try:
        return find("linear_solver", key).load()
    except ImportError:
        return None
