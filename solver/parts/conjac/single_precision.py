"""Factor of −K in single precision, made in place of the linear solver's factor or copied from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import scipy.sparse as sp

from ...linear.interface import LinearSolver, inside_of
from ...state import Vec

if TYPE_CHECKING:
    from ...linear.cholesky.single_few import SingleFew
    from .reduced_precision import ReducedPrecision


class SinglePrecisionFactor:
    """Factor of −K in single precision for search directions, which need six digits. Its methods return None where the
    linear solver does not expose its factor."""

    def __init__(self, linear: LinearSolver, retained: int) -> None:
        """Make a wrapper of a linear solver. retained: number of the last unknowns, those of J."""
        self._linear, self._retained = linear, retained
        self._reduced: ReducedPrecision | None = None
        self.too_soft = False  #: whether −K could be factored in full precision alone
        self._copy: SingleFew | None = None
        self._without_contact: SingleFew | None = None  #: of K without contacts

    def condense(self, lower: sp.csc_matrix) -> Vec | None:
        """Return J, (m − retained, retained), on a new single-precision factor, which becomes the linear solver's; None
        where there is none. lower: lower triangle of −K.

        Raises NotPositiveDefinite, also where a pivot is lost in rounding.
        """
        from .reduced_precision import ReducedPrecision  # compiled for stages that are iterated

        showing, inside = self._linear.showing(), inside_of(self._linear)
        if showing is None or inside is None or not inside.is_complete or self.too_soft:
            return None
        if self._reduced is None or not self._reduced.of(inside):
            self._reduced = ReducedPrecision(inside, self._retained)
        return self._reduced.condense(lower, showing)

    def show(self) -> None:
        """Write a factor that was made by this class into the linear solver, before its factor is read."""
        if self._reduced is not None:
            self._reduced.show(self._linear.factored)

    def solve(self) -> Callable[[Vec], Vec] | None:
        """Return −K_qq⁻¹ by the present factor, as a function of up to three columns of loads on the quasistatic rows,
        (3 q, c); None where there is no such factor."""
        few = None if self._reduced is None else self._reduced.solves(self._linear.factored)
        if few is None:
            few = self._copy = self._copy_factor(self._copy)
        return None if few is None else few.solve

    def keep_without_contact(self) -> None:
        """Copy the present factor, which is that of K without contacts."""
        self._without_contact = self._copy_factor(self._without_contact)

    @property
    def solve_without_contact(self) -> Callable[[Vec], Vec] | None:
        """Return −K_qq⁻¹ as `solve` does, by the factor that `keep_without_contact` has copied; None without a copy."""
        return None if self._without_contact is None else self._without_contact.solve

    def _copy_factor(self, last: SingleFew | None) -> SingleFew | None:
        """Return a copy of the present factor, in the memory of the last copy if that has its pattern; None where it
        cannot be copied."""
        from ...linear.cholesky.single_few import SingleFew  # compiled for stages that are iterated

        inside = inside_of(self._linear)
        if inside is None or not SingleFew.can_copy(inside):
            return None
        self.show()
        if last is None or not last.of(inside):
            last = SingleFew(inside, self._retained)
        last.single.copy()
        return last
