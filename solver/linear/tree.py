"""Exact elimination of Jᵀ B J + R over a tree of joints, in time and memory that grow with the number of bodies."""

from __future__ import annotations

import numpy as np

from ..state import Index, Vec
from .interface import NotPositiveDefinite
from .tree_kernels import eliminate, substitute


class BodyNotPositiveDefinite(NotPositiveDefinite):
    """The rates of one joint have a pivot that is not positive once all bodies below it are eliminated."""

    def __init__(self, body: int) -> None:
        """body: index of the body below the joint."""
        super().__init__(f"the joint above body {body} has a pivot that is not positive")
        self.body = body


class TreeFactor:
    """A = Jᵀ B J + R, B symmetric with 6 x 6 blocks on bodies and between each body and its parent.

    J is the tree's: φ_i = X_i φ_parent + S_i u_i. The articulated-body recursion with the blocks that springs between
    neighbours bring: nothing is left out, so a solve is exact. [Featherstone 1983, changed: blocks between neighbours]
    """

    def __init__(self, parent: Index, dof: Index) -> None:
        """parent: (n,), parent[i] < i, −1 the world. dof: (n + 1,), rates dof[i]:dof[i+1] of the joint above body i.

        Raises ValueError for another order or for a joint of more than six rates.
        """
        self.parent = np.ascontiguousarray(parent, dtype=np.int32)
        self.dof = np.ascontiguousarray(dof, dtype=np.int32)
        n, rates = len(self.parent), np.diff(self.dof)
        if len(rates) != n or (self.parent >= np.arange(n)).any() or (self.parent < -1).any():
            raise ValueError("every body's parent must stand before it, with one entry of dof more than bodies")
        if n and (self.dof[0] != 0 or rates.min() < 0 or rates.max() > 6):
            raise ValueError("a joint has no rates to six rates")
        self.factored = 0  #: how often `factor` was called
        m = int(self.dof[-1])
        self.articulated = np.zeros((n, 6, 6))  #: blocks once everything below each body is eliminated
        self._cross, self._cholesky = np.zeros((m, 6)), np.zeros((m, 6))
        self._twists = np.zeros((n, 1, 6))
        self._X, self._S = np.zeros((0, 6, 6)), np.zeros((0, 6))

    def factor(self, X: Vec, S: Vec, diagonal: Vec, below: Vec, reduced: Vec) -> None:
        """Eliminate from the leaves to the root.

        X: (n, 6, 6), upper right blocks zero. S: (m, 6), a row for each rate. Both are kept, not copied, until the
        next call. diagonal: B's blocks on bodies, (n, 6, 6). below: its blocks in row i and column parent[i],
        (n, 6, 6), not read for roots. reduced: R's k x k block of the joint above body i in the upper left corner,
        (n, 6, 6). Raises BodyNotPositiveDefinite with the body's index.
        """
        self.factored += 1
        self._X, self._S = X, S
        np.copyto(self.articulated, diagonal)
        failed = eliminate(self.parent, self.dof, X, S, below, reduced, self.articulated, self._cross, self._cholesky)
        if failed >= 0:
            raise BodyNotPositiveDefinite(int(failed))

    def solve(self, b: Vec) -> Vec:
        """A⁻¹ b, both (m,) or (m, c)."""
        u = np.array(b, dtype=np.float64, order="C")
        columns = u[:, None] if u.ndim == 1 else u
        if self._twists.shape[1] != columns.shape[1]:
            self._twists = np.zeros((len(self.parent), columns.shape[1], 6))
        substitute(self.parent, self.dof, self._X, self._S, self._cross, self._cholesky, columns, self._twists)
        return u
