"""A factor for directions of Newton's method, which need not be exact: in single precision where that can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..linear.interface import Factoring, NotPositiveDefinite
from ..state import Vec

if TYPE_CHECKING:
    from ..assembly.linearised import Linearised
    from ..linear.cholesky.multifrontal import Room
    from ..linear.cholesky.single import SingleFactor

WORTH = 3000  #: unknowns from which on single precision saves more than its bookkeeping


class Directions:
    """The factor that was made last of projected matrices.

    In full is what the linear solver shows only with a factor, as the pattern that it was given first; a body on the
    ground, whose friction asks that factor again; a matrix with pivots that single precision loses, and all that follow
    it.
    """

    def __init__(self) -> None:
        self._kept: SingleFactor | None = None  #: of the last pattern
        self._room: Room | None = None  #: that patterns write one after the other
        self._linear: Factoring | None = None
        self.forget()

    def forget(self) -> None:
        """That one was too stiff for single precision."""
        self._single: SingleFactor | None = None
        self._too_stiff = False

    def factor(self, linear: Factoring, lower: sp.csc_matrix, lin: Linearised, places: Vec) -> bool:
        """Factor these values; whether the linear solver did. lin: what they are of. places: as it has them.

        Raises NotPositiveDefinite.
        """
        grounded = lin.contacts is not None and len(lin.contacts.nodes) > 0
        self._linear, self._single = linear, None
        if not grounded and not self._too_stiff and lower.shape[0] >= WORTH and self._made_single(linear, lower):
            return False
        linear.factor(lower, places)
        return True

    def _made_single(self, linear: Factoring, lower: sp.csc_matrix) -> bool:
        """Factor in single precision; whether that could be done."""
        shown = linear.showing()
        inside = None if shown is None else shown.supernodes_of(lower)
        if shown is None or inside is None:
            return False
        if self._kept is None or not self._kept.of(inside):
            # kernels of the linear solver's share
            from ..linear.cholesky.multifrontal import Room
            from ..linear.cholesky.single import SingleFactor

            self._room = self._room or Room(np.float32)
            self._kept = SingleFactor(inside, self._room)
        if not self._kept.can_factor(lower):
            return False
        try:
            self._kept.factor(lower)
        except NotPositiveDefinite:
            self._too_stiff = True
            return False
        shown.factored += 1
        self._single = self._kept
        return True

    def solve(self, right: Vec) -> Vec:
        """A⁻¹ right, (3 p,), on that factor."""
        if self._linear is None:
            raise ValueError("nothing is factored")
        return self._linear.solve(right) if self._single is None else self._single.solve(right)
