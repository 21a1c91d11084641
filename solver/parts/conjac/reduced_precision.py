"""Single-precision factor of −K in place of the linear solver's factor, and J from it, for search directions alone."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...linear.blocks import LANES
from ...linear.cholesky.single import SingleFactor
from ...linear.cholesky.single_columns import SingleColumns
from ...linear.cholesky.single_few import SingleFew
from ...linear.cholesky.supernodal import Supernodes
from ...linear.interface import Shown
from ...state import Vec


class ReducedPrecision:
    """Factor in single precision on the pattern of the linear solver's factor, in half the bytes."""

    def __init__(self, inside: Supernodes, retained: int) -> None:
        """Allocate the factor. inside: supernodes of the linear solver's factor. retained: number of the last unknowns,
        those of J."""
        self.single, self._inside, self._retained = SingleFactor(inside), inside, retained
        self._few, self._stamp, self._is_shown = SingleFew(inside, retained, self.single), -1, False
        self._columns = SingleColumns(inside, self.single)
        self._strips = np.zeros((-(-retained // LANES), len(inside.permutation), LANES), dtype=np.float32)

    def of(self, inside: Supernodes) -> bool:
        """Whether this factor has the pattern of the linear solver's factor `inside`."""
        return inside is self._inside

    def solves(self, factored: int) -> SingleFew | None:
        """Return solves with this factor where it is the linear solver's latest, number `factored`; None where another
        was made since."""
        return self._few if self._stamp == factored else None

    def show(self, factored: int) -> None:
        """Write this factor into the linear solver's where it is the latest, number `factored`. This is done on request
        alone: few steps need it, and it takes a tenth of the time of a factorization."""
        if self._stamp == factored and not self._is_shown:
            np.multiply(self.single.values, self.single.unit ** -0.5, out=self._inside.values, casting="unsafe",
                        dtype=np.float64)
            self._is_shown = True

    def condense(self, lower: sp.csc_matrix, showing: Shown) -> Vec | None:
        """Return J, (m − retained, retained), by a factorization and one backward solve; None where the matrix cannot
        be factored in single precision.

        lower: lower triangle of −K. showing: number of factors that the linear solver has made, which this one
        increases; its values are written there by `show`. Raises NotPositiveDefinite, also where a pivot is lost in
        rounding. [ConJac 6]
        """
        if not self.single.can_factor(lower):
            return None
        self._stamp = -1
        self.single.factor(lower)
        showing.factored += 1
        self._stamp, self._is_shown = showing.factored, False
        strips, retained = self._strips, self._retained
        strips[:] = 0.0
        which = np.arange(retained)
        strips[which // LANES, strips.shape[1] - retained + which, which % LANES] = 1.0
        self._columns.backward(strips)
        solution: Vec = strips.transpose(1, 0, 2).reshape(strips.shape[1], -1)[:, :retained].astype(np.float64)
        jacobian: Vec = solution[:-retained] @ np.linalg.inv(solution[-retained:])
        return jacobian
