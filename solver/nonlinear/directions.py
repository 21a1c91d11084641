"""A factor for Newton directions, which need not be exact: in single precision where possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..linear.interface import Factoring, NotPositiveDefinite
from ..state import Mask, Vec

if TYPE_CHECKING:
    from ..assembly.linearised import Linearised
    from ..linear.cholesky.front_layout import FrontLayout
    from ..linear.cholesky.multifrontal import Workspace
    from ..linear.cholesky.single import SingleFactor
    from ..linear.cholesky.supernodal import Supernodes
    from ..parts.stage import NodeStage


class Directions:
    """The last factor of the projected matrix, for approximate Newton directions.

    It is in double precision where the linear solver exposes its pattern only with a factor, as for the first matrix;
    for a body on the ground, whose friction solves with that factor; and after the first matrix whose pivots are lost
    to rounding in single precision.
    """

    single_precision_size = 3000  #: number of unknowns above which single precision saves more than its overhead costs

    def __init__(self) -> None:
        self._workspace: Workspace | None = None  #: storage that patterns share one after the other
        self._linear: Factoring | None = None
        self.forget()

    def forget(self) -> None:
        """Discard the factor, the positions of its fronts, and the record that a matrix was too stiff for single
        precision."""
        self._single: SingleFactor | None = None
        self._reused: SingleFactor | None = None  #: of the last pattern
        #: of the fronts of the last factor; None where columns cannot be refactored
        self._layout: FrontLayout | None = None
        self._too_stiff = False
        #: the stage of the last factor, and its number among those of the linear solver
        self._made: tuple[NodeStage, int] | None = None

    def note(self, stage: NodeStage) -> None:
        """Record the stage for which the last factor was made."""
        self._made = None if self._linear is None else (stage, self._linear.factored)

    def are_of(self, stage: NodeStage, linear: Factoring) -> bool:
        """Whether the last factor was made with this linear solver for a stage of the same matrix, and is still valid.
        """
        if self._made is None or self._linear is not linear or not self._made[0].has_equal_weights(stage):
            return False
        return self._single is not None or linear.factored == self._made[1]

    def factor(self, linear: Factoring, lower: sp.csc_matrix, lin: Linearised, positions: Vec) -> bool:
        """Factor a matrix; return whether the linear solver did so, in double precision. lower: its lower triangle, (3
        p, 3 p). lin: the linearisation that its values come from. positions: of its nodes, (p, 3) [m], for the linear
        solver's ordering.

        Raises NotPositiveDefinite.
        """
        self._linear, self._single, self._made = linear, None, None
        if self._can_be_single(lower, lin) and self._factor_in_single(linear, lower):
            return False
        self._reused = self._layout = None
        linear.factor(lower, positions)
        return True

    def select_columns(self, linear: Factoring, lower: sp.csc_matrix, lin: Linearised, changed: Mask) -> Mask | None:
        """Return a mask (m,) of the unknowns whose columns `refactor_columns` needs for this pattern; all others are
        reused. None where columns cannot be refactored.

        lower: lower triangle of the matrix, (m, m). lin: the linearisation of its values. changed: unknowns whose
        columns may differ from the last factor's, (m,).
        """
        reused, inside = self._reused, self._inside(linear, lower)
        if self._single is None or self._layout is None or reused is None or inside is None \
                or not self._can_be_single(lower, lin):
            return None
        # kernels that only the linear solver needs
        from ..linear.cholesky.multifrontal import Workspace
        from ..linear.cholesky.single import SingleFactor

        self._workspace = self._workspace or Workspace(np.float32)
        entries = None if reused.of(inside) else self._workspace.entries(inside, lower)
        layout = self._layout.after(inside, changed)
        if layout is None:
            return None
        self._layout = layout
        if reused.of(inside):
            reused.use_layout(layout)
        else:
            self._reused = SingleFactor(inside, self._workspace, layout, reused.unit, entries)
        return layout.unknowns

    def can_refactor(self, linear: Factoring, lower: sp.csc_matrix, lin: Linearised) -> bool:
        """Whether `refactor` may factor another matrix of this pattern: the last factor is in single precision, and the
        linear solver knows the pattern. lower: lower triangle of the matrix, (m, m). lin: the linearisation of its
        values."""
        return (self._single is not None and self._linear is linear and self._can_be_single(lower, lin)
                and self._inside(linear, lower) is not None)

    def refactor(self, linear: Factoring, lower: sp.csc_matrix) -> bool:
        """Factor all columns of a matrix for which `can_refactor`, in single precision; return whether that succeeded.
        lower: its lower triangle, (m, m)."""
        return self._factor_in_single(linear, lower)

    def refactor_columns(self, lower: sp.csc_matrix) -> bool:
        """Factor the required columns of a matrix with this lower triangle, (3 p, 3 p); return whether that succeeded.
        """
        single, self._single, self._made = self._reused, None, None
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
        return not grounded and not self._too_stiff and lower.shape[0] >= self.single_precision_size

    @staticmethod
    def _inside(linear: Factoring, lower: sp.csc_matrix) -> Supernodes | None:
        shown = linear.showing()
        return None if shown is None else shown.supernodes_of(lower)

    def _factor_in_single(self, linear: Factoring, lower: sp.csc_matrix) -> bool:
        """Factor in single precision; return whether that succeeded."""
        inside = self._inside(linear, lower)
        if inside is None:
            return False
        # kernels that only the linear solver needs
        from ..linear.cholesky.front_layout import FrontLayout
        from ..linear.cholesky.multifrontal import Workspace
        from ..linear.cholesky.single import SingleFactor

        self._workspace = self._workspace or Workspace(np.float32)
        if self._reused is None or not self._reused.of(inside):
            self._layout = FrontLayout.of_all(inside)
            self._reused = SingleFactor(inside, self._workspace, self._layout)
        elif self._layout is not None:
            self._layout = self._layout.with_all_fronts()
            self._reused.use_layout(self._layout)
        return self.refactor_columns(lower)

    def solve(self, rhs: Vec) -> Vec:
        """Return A⁻¹ rhs, both (3 p,), with the last factor. Raises ValueError without one."""
        if self._linear is None:
            raise ValueError("nothing is factored")
        return self._linear.solve(rhs) if self._single is None else self._single.solve(rhs)
