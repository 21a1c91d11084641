"""Exact elimination of Jᵀ B J + R over a tree of joints, in time and memory that grow with the number of bodies."""

from __future__ import annotations

import numpy as np

from ...state import Index, Vec
from ..interface import NotPositiveDefinite
from .kernels import TreeMatrix, eliminate, multiply, substitute
from .springs import FarSprings


class BodyNotPositiveDefinite(NotPositiveDefinite):
    """Raised where the rates of one joint have a pivot that is not positive once all bodies below it are eliminated."""

    def __init__(self, body: int) -> None:
        """body: index of the body below the joint."""
        super().__init__(f"the joint above body {body} has a pivot that is not positive")
        self.body = body


class TreeFactor:
    """Factor of A = Jᵀ B J + R, B symmetric with 6 x 6 blocks on bodies, between each body and its parent, and a few
    elsewhere.

    J maps joint rates to twists: φ_i = X_i φ_parent + S_i u_i. The articulated-body recursion includes the blocks of
    springs between neighbours, so a solve is exact. Springs between other bodies are not part of the tree; see
    FarSprings. [Featherstone 1983, changed: blocks between neighbours]
    """

    def __init__(self, parent: Index, dof: Index) -> None:
        """parent: (n,), parent[i] < i, −1 for the world. dof: (n + 1,), the joint above body i has the rates
        dof[i]:dof[i+1].

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
        self._factor = np.zeros((2, m, 6))
        self._cross, self._cholesky = self._factor
        self._bodies = np.zeros((2, n, 1, 6))
        self._X, self._S = np.zeros((0, 6, 6)), np.zeros((0, 6))
        self._far: FarSprings | None = None

    @property
    def iterations(self) -> int:
        """Return the number of iterations of conjugate gradients in the last solve; 0 without far springs."""
        return 0 if self._far is None else self._far.taken

    def factor(self, X: Vec, S: Vec, diagonal: Vec, below: Vec, reduced: Vec, pairs: Index | None = None,
               blocks: Vec | None = None) -> None:
        """Factor A by elimination from the leaves to the root.

        X: twists of bodies from those of their parents, (n, 6, 6), upper right blocks zero. S: (m, 6), a row for each
        rate. diagonal: blocks of B on bodies, (n, 6, 6), those of far springs too. below: blocks of B in row i and
        column parent[i], (n, 6, 6), not read for roots. reduced: the k x k block of R of the joint above body i in the
        upper left corner, (n, 6, 6). pairs, blocks: springs between bodies that are not parent and child, (s, 2), and
        blocks of B in rows of the first and columns of the second body, (s, 6, 6). The arrays are not copied and must
        not change until the next call.

        Raises BodyNotPositiveDefinite with the body's index, NotPositiveDefinite.
        """
        self.factored += 1
        self._X, self._S = X, S
        np.copyto(self.articulated, diagonal)
        failed = eliminate(self.parent, self.dof, X, S, below, reduced, self.articulated, self._factor)
        if failed >= 0:
            raise BodyNotPositiveDefinite(int(failed))
        self._far = None
        if pairs is not None and blocks is not None and len(pairs):
            self._far = FarSprings(self, (diagonal, below, reduced), pairs, blocks)

    def solve(self, b: Vec) -> Vec:
        """Return A⁻¹ b, (m,) or (m, c). Raises StepFailed where far springs prevent convergence,
        NotPositiveDefinite."""
        u = np.array(b, dtype=np.float64, order="C")
        columns = u[:, None] if u.ndim == 1 else u
        if self._far is None:
            self.substitute(columns)
        else:
            columns[:] = self._far.solve(columns)
        return u

    def substitute(self, u: Vec, wrench: Vec | None = None) -> Vec:
        """Overwrite u, (m, c), by T⁻¹ (u + Jᵀ wrench), T being A without far springs; return the twists J u, (n, c, 6).

        wrench: on bodies, (n, c, 6), overwritten by the twists; zero where left out.
        """
        if wrench is None:
            wrench = self.scratch(u.shape[1])[0]
            wrench[:] = 0.0
        substitute(self.parent, self.dof, self._X, self._S, self._cross, self._cholesky, u, wrench)
        return wrench

    def multiply(self, parts: tuple[Vec, Vec, Vec], pairs: Index, blocks: Vec, u: Vec, out: Vec) -> Vec:
        """Write A u to `out`, both (m, c), and return it.

        parts: diagonal, below and reduced blocks, (n, 6, 6) each. pairs, blocks: far springs, as in `factor`.
        """
        multiply(self.parent, self.dof, self._X, self._S, TreeMatrix(*parts, pairs, blocks), u,
                 self.scratch(u.shape[1]), out)
        return out

    def scratch(self, columns: int) -> Vec:
        """Return two scratch arrays on bodies, (2, n, columns, 6), new ones for another number of columns."""
        if self._bodies.shape[2] != columns:
            self._bodies = np.zeros((2, len(self.parent), columns, 6))
        return self._bodies
