"""Springs between bodies that are not parent and child: they break the tree, which then preconditions."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.linalg

from ...errors import StepFailed
from ...state import Index, Vec
from ..interface import NotPositiveDefinite

TOLERANCE = 1.0e-11  #: what is left over of a right-hand side, both in the preconditioner's norm
MOST = 1000  #: iterations
#: Most columns of a border, two for each direction of a spring. Measured with 1 to 256 springs on 20 to 2000 bodies:
#: with stiff ones iterations cost more than that many columns, with soft ones they are cheaper from about 30 on for one
#: right-hand side, not for a dozen. Stiff ones are what a step has to get through, and it asks more than once.
BORDER = 256
LARGEST = 1_000_000  #: most columns times bodies, 48 MB
NOTHING = 1.0e-14  #: singular values of a block below this share of the largest are none


class FactoredTree(Protocol):
    """T, factored: what follows the tree."""

    parent: Index  #: (n,)
    dof: Index  #: (n + 1,)

    def substitute(self, u: Vec, wrench: Vec | None = None) -> Vec:
        """u ← T⁻¹ (u + Jᵀ wrench), (m, c); returns J u, (n, c, 6)."""

    def multiply(self, parts: tuple[Vec, Vec, Vec], pairs: Index, blocks: Vec, u: Vec, out: Vec) -> Vec:
        """out = A u, (m, c), from diagonal, below and reduced blocks, pairs (s, 2) and their blocks (s, 6, 6)."""


class FarSprings:
    """Conjugate gradients for A = T + O, T what follows the tree and O the far springs' blocks off the diagonal.

    The preconditioner is T: all diagonal blocks as articulated inertias, and the blocks between neighbours, inverted
    by the recursion. Few springs become a dense border (Border), and then it is exact but for rounding.
    [Thesis 3.6, changed: the projected block Jacobi preconditioner keeps the blocks between neighbours]
    """

    def __init__(self, tree: FactoredTree, parts: tuple[Vec, Vec, Vec], pairs: Index, blocks: Vec) -> None:
        """tree: factored. parts: its diagonal, below and reduced blocks. pairs: (s, 2). blocks: (s, 6, 6).

        Raises NotPositiveDefinite.
        """
        self._tree, self._parts = tree, parts
        self._pairs, self._blocks = np.ascontiguousarray(pairs, dtype=np.int32), np.ascontiguousarray(blocks)
        self.taken = 0  #: iterations of the last solve
        self._border = None
        if len(pairs) * 2 <= BORDER:
            terms = Terms(self._pairs, self._blocks)
            columns = 2 * len(terms.first)
            if 0 < columns <= BORDER and columns * len(tree.parent) <= LARGEST:
                self._border = Border(tree, terms)

    def solve(self, b: Vec) -> Vec:
        """A⁻¹ b, (m, c), each column until the tolerance. Raises StepFailed, NotPositiveDefinite."""
        x, r, along = np.zeros_like(b), b.copy(), np.empty_like(b)
        z = self._precondition(r)
        p, square = z.copy(), _dots(r, z)
        goal, active = TOLERANCE**2 * square, square > 0.0
        self.taken = 0
        while active.any():
            if self.taken == MOST:
                left = np.sqrt((square[active] / goal[active]).max()) * TOLERANCE
                raise StepFailed(f"springs between far bodies kept the joints' system from being solved: {left:.1e} of "
                                 f"it is left after {MOST} iterations")
            self._tree.multiply(self._parts, self._pairs, self._blocks, p, along)
            curvature = _dots(p, along)
            if not (curvature[active] > 0.0).all():
                raise NotPositiveDefinite("springs between far bodies have a direction of negative curvature")
            step = np.where(active, square / np.where(active, curvature, 1.0), 0.0)
            x += step * p
            r -= step * along
            z = self._precondition(r)
            before, square = square, _dots(r, z)
            p *= np.where(active, square / np.where(active, before, 1.0), 0.0)
            p += z
            self.taken += 1
            active &= square > goal
        return x

    def _precondition(self, r: Vec) -> Vec:
        z = r.copy()
        twist = self._tree.substitute(z)
        if self._border is not None:
            self._border.add(z, twist)
        return z


class Terms:
    """O as Σ (p pᵀ − n nᵀ), p and n = (first on one body) ± (second on the other), from the blocks' singular values."""

    def __init__(self, pairs: Index, blocks: Vec) -> None:
        """pairs: (s, 2). blocks: (s, 6, 6)."""
        left, values, right = np.linalg.svd(blocks)
        which, k = np.nonzero(values > NOTHING * values[:, :1])
        size = np.sqrt(0.5 * values[which, k])[:, None]
        self.pairs = pairs[which]  #: (t, 2)
        self.first: Vec = size * left[which, :, k]  #: (t, 6)
        self.second: Vec = size * right[which, k]  #: (t, 6)

    def dot(self, twist: Vec) -> Vec:
        """pᵀ φ of all terms above nᵀ φ, (2t, c), from twists (n, c, 6)."""
        one = np.einsum("ta,tca->tc", self.first, twist[self.pairs[:, 0]])
        other = np.einsum("ta,tca->tc", self.second, twist[self.pairs[:, 1]])
        return np.concatenate([one + other, one - other])

    def wrenches(self, bodies: int) -> Vec:
        """All p and then all n as columns, (n, 2t, 6)."""
        count = len(self.first)
        out, own = np.zeros((bodies, 2 * count, 6)), np.arange(count)
        out[self.pairs[:, 0], own] = out[self.pairs[:, 0], own + count] = self.first
        out[self.pairs[:, 1], own] += self.second
        out[self.pairs[:, 1], own + count] -= self.second
        return out


class Border:
    """(T + F D Fᵀ)⁻¹ = T⁻¹ − Z (D + FᵀZ)⁻¹ Zᵀ, Z = T⁻¹ F, D = ±1: all p of Terms and then all n in F."""

    def __init__(self, tree: FactoredTree, terms: Terms) -> None:
        """Raises NotPositiveDefinite where A is not, though T is."""
        count = len(terms.first)
        self._terms = terms
        self._columns: Vec = np.zeros((int(tree.dof[-1]), 2 * count))  # Z
        inner = terms.dot(tree.substitute(self._columns, terms.wrenches(len(tree.parent))))
        inner = 0.5 * (inner + inner.T)
        # pivots: all that T + p pᵀ has are positive; those of n are where A is positive definite
        try:
            upper = scipy.linalg.cholesky(np.eye(count) + inner[:count, :count], lower=True, check_finite=False)
            cross = scipy.linalg.solve_triangular(upper, inner[:count, count:], lower=True, check_finite=False)
            rest = np.eye(count) - inner[count:, count:] + cross.T @ cross
            self._rest = scipy.linalg.cholesky(rest, lower=True, check_finite=False)
        except np.linalg.LinAlgError as failure:
            raise NotPositiveDefinite("springs between far bodies make it indefinite") from failure
        self._upper, self._cross = upper, cross

    def add(self, z: Vec, twist: Vec) -> None:
        """z = T⁻¹ b, (m, c), becomes A⁻¹ b; twist: J z, (n, c, 6)."""
        relative = self._terms.dot(twist)
        count = len(self._upper)
        top = scipy.linalg.solve_triangular(self._upper, relative[:count], lower=True, check_finite=False)
        low = -scipy.linalg.cho_solve((self._rest, True), relative[count:] - self._cross.T @ top, check_finite=False)
        top = scipy.linalg.solve_triangular(self._upper, top - self._cross @ low, lower=True, trans=1,
                                            check_finite=False)
        z -= self._columns[:, :count] @ top
        z -= self._columns[:, count:] @ low


def _dots(x: Vec, y: Vec) -> Vec:
    """xᵀ y of each column, (c,)."""
    total: Vec = np.einsum("mc,mc->c", x, y)
    return total
