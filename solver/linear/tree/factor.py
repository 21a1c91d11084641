"""Exact elimination of Jᵀ B J + R over a tree of joints, in time and memory that grow with the number of bodies."""

from __future__ import annotations

import numpy as np

from ...state import Index, Vec
from ..interface import NotPositiveDefinite
from .kernels import eliminate, multiply, substitute
from .springs import FarSprings


class BodyNotPositiveDefinite(NotPositiveDefinite):
    """The rates of one joint have a pivot that is not positive once all bodies below it are eliminated."""

    def __init__(self, body: int) -> None:
        """body: index of the body below the joint."""
        super().__init__(f"the joint above body {body} has a pivot that is not positive")
        self.body = body


class TreeFactor:
    """A = Jᵀ B J + R, B symmetric with 6 x 6 blocks on bodies, between each body and its parent, and a few elsewhere.

    J is the tree's: φ_i = X_i φ_parent + S_i u_i. The articulated-body recursion with the blocks that springs between
    neighbours bring: nothing is left out, so a solve is exact. Springs between other bodies break the tree; see
    FarSprings. [Featherstone 1983, changed: blocks between neighbours]
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
        self._bodies = np.zeros((2, n, 1, 6))
        self._X, self._S = np.zeros((0, 6, 6)), np.zeros((0, 6))
        self._far: FarSprings | None = None

    @property
    def iterations(self) -> int:
        """Iterations of conjugate gradients in the last solve; 0 without far springs."""
        return 0 if self._far is None else self._far.taken

    def factor(self, X: Vec, S: Vec, diagonal: Vec, below: Vec, reduced: Vec, pairs: Index | None = None,
               blocks: Vec | None = None) -> None:
        """Eliminate from the leaves to the root.

        X: (n, 6, 6), upper right blocks zero. S: (m, 6), a row for each rate. diagonal: B's blocks on bodies,
        (n, 6, 6), those of far springs too. below: its blocks in row i and column parent[i], (n, 6, 6), not read for
        roots. reduced: R's k x k block of the joint above body i in the upper left corner, (n, 6, 6). pairs, blocks:
        springs between bodies that are not parent and child, (s, 2) and B's blocks in rows of the first and columns of
        the second, (s, 6, 6). The arrays are kept, not copied, until the next call.
        Raises BodyNotPositiveDefinite with the body's index, NotPositiveDefinite.
        """
        self.factored += 1
        self._X, self._S = X, S
        np.copyto(self.articulated, diagonal)
        failed = eliminate(self.parent, self.dof, X, S, below, reduced, self.articulated, self._cross, self._cholesky)
        if failed >= 0:
            raise BodyNotPositiveDefinite(int(failed))
        self._far = None
        if pairs is not None and blocks is not None and len(pairs):
            self._far = FarSprings(self, (diagonal, below, reduced), pairs, blocks)

    def solve(self, b: Vec) -> Vec:
        """A⁻¹ b, both (m,) or (m, c). Raises StepFailed where far springs keep it from converging."""
        u = np.array(b, dtype=np.float64, order="C")
        columns = u[:, None] if u.ndim == 1 else u
        if self._far is None:
            self.substitute(columns)
        else:
            columns[:] = self._far.solve(columns)
        return u

    def substitute(self, u: Vec, wrench: Vec | None = None) -> Vec:
        """u ← T⁻¹ (u + Jᵀ wrench), (m, c), with A's part T that follows the tree; returns the twists J u, (n, c, 6).

        wrench: on bodies, (n, c, 6), written over; none without.
        """
        if wrench is None:
            wrench = self.scratch(u.shape[1])[0]
            wrench[:] = 0.0
        substitute(self.parent, self.dof, self._X, self._S, self._cross, self._cholesky, u, wrench)
        return wrench

    def multiply(self, parts: tuple[Vec, Vec, Vec], pairs: Index, blocks: Vec, u: Vec, out: Vec) -> Vec:
        """out = A u, (m, c). parts: diagonal, below and reduced blocks. pairs, blocks: as in `factor`."""
        twist, wrench = self.scratch(u.shape[1])
        multiply(self.parent, self.dof, self._X, self._S, *parts, pairs, blocks, u, twist, wrench, out)
        return out

    def scratch(self, columns: int) -> Vec:
        """Return two arrays on bodies, (2, n, columns, 6), new ones for another number of columns."""
        if self._bodies.shape[2] != columns:
            self._bodies = np.zeros((2, len(self.parent), columns, 6))
        return self._bodies
