"""The constant matrix of global steps, and what single nodes that are held or touch add to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ...linear.choose import choose
from ...linear.interface import inside_of
from ...state import Index, Vec

if TYPE_CHECKING:
    from ...linear.cholesky.single_few import SingleFew

MOST_UPDATES = 24  #: nodes with another diagonal that Woodbury's identity takes; with more the matrix is factored again


class GlobalMatrix:
    """κ M + Σ w AᵀA of the free nodes, factored once for all three axes, plus a diagonal of a few nodes that changes.

    Diagonals that differ in a few nodes from those that were factored cost a column each, which is reused as long as
    the factor stands. [Notes, Projective Dynamics]
    """

    def __init__(self, matrix: sp.csc_matrix) -> None:
        """matrix: (p, p), symmetric and positive definite. Raises NotPositiveDefinite."""
        self._linear = choose()
        self._order = self._linear.order((matrix - sp.diags(matrix.diagonal())).tocsc())
        self._back = np.argsort(self._order)
        self._lower = sp.tril(matrix[self._order][:, self._order]).tocsc()
        self._lower.sort_indices()
        self._diagonal = self._lower.indptr[:-1]  # each column begins with its diagonal
        self._plain = self._lower.data[self._diagonal].copy()
        self._linear.analyse(self._lower, 0)
        self._added = np.zeros(len(self._order))  #: diagonal that is in the factor
        self._copy: SingleFew | None = None
        self.factored = 0  #: how often
        self._factor()
        self._changed: Index = np.zeros(0, dtype=np.int64)

    def _factor(self) -> None:
        self._lower.data[self._diagonal] = self._plain + self._added[self._order]
        self._linear.factor(self._lower)
        self.factored += 1
        self._is_copied = False
        self._columns: dict[int, Vec] = {}

    def add(self, diagonal: Vec) -> None:
        """Let the matrix have this diagonal besides from now on, (p,) [N/m], not negative."""
        changed = np.flatnonzero(diagonal != self._added)
        if len(changed) > MOST_UPDATES:
            self._added = diagonal.copy()
            self._factor()
            changed = changed[:0]
        self._changed = changed
        if not len(changed):
            return
        for node in changed.tolist():
            if node not in self._columns:
                unit = np.zeros((len(diagonal), 1))
                unit[node] = 1.0
                self._columns[node] = self._solve(unit)[:, 0]
        self._answers = np.stack([self._columns[node] for node in changed.tolist()], axis=1)
        # (A + E d Eᵀ)⁻¹ = A⁻¹ − A⁻¹ E (d⁻¹ + Eᵀ A⁻¹ E)⁻¹ Eᵀ A⁻¹
        change = diagonal[changed] - self._added[changed]
        self._inside = scipy.linalg.lu_factor(np.diag(1.0 / change) + self._answers[changed])

    def solve(self, right: Vec) -> Vec:
        """Return the solution of right-hand sides (p, 3)."""
        return self._changed_by(self._solve(right))

    def direction(self, right: Vec) -> Vec:
        """Return the solution of right-hand sides (p, 3) to about six digits, where the factor shows itself: for moves
        that are measured afterwards. It takes a third of the time."""
        from ...linear.cholesky.single_few import SingleFew  # compiled where something is iterated

        inside = inside_of(self._linear)
        if inside is None or not SingleFew.can_copy(inside):
            return self.solve(right)
        if self._copy is None or not self._copy.of(inside):
            self._copy, self._is_copied = SingleFew(inside, 0), False
        if not self._is_copied:
            self._copy.single.copy()
            self._is_copied = True
        return self._changed_by(self._copy.solve(right[self._order])[self._back])

    def _changed_by(self, found: Vec) -> Vec:
        """Return solutions with the factor, (p, 3), as they are with the diagonals that differ from it."""
        if len(self._changed):
            found -= self._answers @ scipy.linalg.lu_solve(self._inside, found[self._changed])
        return found

    def _solve(self, right: Vec) -> Vec:
        found: Vec = self._linear.solve(np.asfortranarray(right[self._order]))[self._back]
        return found
