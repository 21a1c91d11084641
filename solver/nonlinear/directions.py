"""A factor for directions of Newton's method, which need not be exact: in single precision where that can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..linear.interface import Factoring, NotPositiveDefinite
from ..state import Mask, Vec

if TYPE_CHECKING:
    from ..assembly.linearised import Linearised
    from ..linear.cholesky.multifrontal import Room
    from ..linear.cholesky.places import Places
    from ..linear.cholesky.single import SingleFactor
    from ..linear.cholesky.supernodal import Supernodes
    from ..parts.stage import NodeStage

WORTH = 3000  #: unknowns from which on single precision saves more than its bookkeeping


class Directions:
    """The factor that was made last of projected matrices.

    In full is what the linear solver shows only with a factor, as the pattern that it was given first; a body on the
    ground, whose friction asks that factor again; a matrix with pivots that single precision loses, and all that follow
    it.
    """

    def __init__(self) -> None:
        self._room: Room | None = None  #: that patterns write one after the other
        self._linear: Factoring | None = None
        self.forget()

    def forget(self) -> None:
        """That one was too stiff for single precision, and where fronts stand."""
        self._single: SingleFactor | None = None
        self._kept: SingleFactor | None = None  #: of the last pattern
        self._stand: Places | None = None  #: of the fronts that were made last; None where they cannot be made again
        self._too_stiff = False
        self._made: tuple[NodeStage, int] | None = None  #: for which stage, and as which one of the linear solver's

    def note(self, stage: NodeStage) -> None:
        """The last factor was made for this one."""
        self._made = None if self._linear is None else (stage, self._linear.factored)

    def are_of(self, stage: NodeStage, linear: Factoring) -> bool:
        """Whether the last factor was made with this linear solver for a stage of the same matrix, and still stands."""
        if self._made is None or self._linear is not linear or not self._made[0].shares(stage):
            return False
        return self._single is not None or linear.factored == self._made[1]

    def factor(self, linear: Factoring, lower: sp.csc_matrix, lin: Linearised, places: Vec) -> bool:
        """Factor these values; whether the linear solver did. lin: what they are of. places: as it has them.

        Raises NotPositiveDefinite.
        """
        self._linear, self._single, self._made = linear, None, None
        if self._can_be_single(lower, lin) and self._made_whole(linear, lower):
            return False
        self._kept = self._stand = None
        linear.factor(lower, places)
        return True

    def wanted(self, linear: Factoring, lower: sp.csc_matrix, lin: Linearised, changed: Mask) -> Mask | None:
        """Of which unknowns columns have to be known so that `factor_again` can factor this pattern, (m,): all others
        stand as they were made last. None where none do.

        changed: unknowns in whose columns others may stand than in the last factor, (m,).
        """
        kept, inside = self._kept, self._inside(linear, lower)
        if self._single is None or self._stand is None or kept is None or inside is None \
                or not self._can_be_single(lower, lin):
            return None
        from ..linear.cholesky.single import SingleFactor  # kernels of the linear solver's share

        stand = self._stand.after(inside, changed)
        if stand is None:
            return None
        self._stand = stand
        if kept.of(inside):
            kept.stand(stand)
        else:
            self._kept = SingleFactor(inside, self._room, stand, kept.unit)
        return stand.unknowns

    def factor_again(self, lower: sp.csc_matrix) -> bool:
        """Factor the columns that were wanted; whether that could be done."""
        single, self._single, self._made = self._kept, None, None
        shown = None if self._linear is None else self._linear.showing()
        if single is None or shown is None or not single.can_factor(lower):
            return False
        try:
            single.factor(lower)
        except NotPositiveDefinite:
            self._too_stiff = True
            return False
        shown.factored += 1
        self._single = single
        return True

    def _can_be_single(self, lower: sp.csc_matrix, lin: Linearised) -> bool:
        grounded = len(lin.contacts) > 0
        return not grounded and not self._too_stiff and lower.shape[0] >= WORTH

    @staticmethod
    def _inside(linear: Factoring, lower: sp.csc_matrix) -> Supernodes | None:
        shown = linear.showing()
        return None if shown is None else shown.supernodes_of(lower)

    def _made_whole(self, linear: Factoring, lower: sp.csc_matrix) -> bool:
        """Factor in single precision; whether that could be done."""
        inside = self._inside(linear, lower)
        if inside is None:
            return False
        # kernels of the linear solver's share
        from ..linear.cholesky.multifrontal import Room
        from ..linear.cholesky.places import Places
        from ..linear.cholesky.single import SingleFactor

        self._room = self._room or Room(np.float32)
        if self._kept is None or not self._kept.of(inside):
            self._stand = Places.of_all(inside)
            self._kept = SingleFactor(inside, self._room, self._stand)
        elif self._stand is not None:
            self._stand = self._stand.whole()
            self._kept.stand(self._stand)
        return self.factor_again(lower)

    def solve(self, right: Vec) -> Vec:
        """A⁻¹ right, (3 p,), on that factor."""
        if self._linear is None:
            raise ValueError("nothing is factored")
        return self._linear.solve(right) if self._single is None else self._single.solve(right)
