"""Springs between bodies that are not parent and child: the factor of the tree without them is the preconditioner."""

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
NOTHING = 1.0e-14  #: singular values of a block, relative to the largest, that count as zero


class FactoredTree(Protocol):
    """Protocol of the factor of T, the part of A that follows the tree."""

    parent: Index  #: (n,)
    dof: Index  #: (n + 1,)

    def substitute(self, u: Vec, wrench: Vec | None = None) -> Vec:
        """Overwrite u, (m, c), by T⁻¹ (u + Jᵀ wrench) and return the twists J u, (n, c, 6). wrench: (n, c, 6); zero
        where left out."""

    def multiply(self, parts: tuple[Vec, Vec, Vec], pairs: Index, blocks: Vec, u: Vec, out: Vec) -> Vec:
        """Write A u to `out`, both (m, c), and return it.

        parts: diagonal, below and reduced blocks, (n, 6, 6) each. pairs: bodies of far springs, (s, 2). blocks: their
        blocks, (s, 6, 6).
        """


class FarSprings:
    """Conjugate gradients for A = T + O, T the part that follows the tree and O the off-diagonal blocks of far springs.

    The preconditioner is T: all diagonal blocks as articulated inertias, and the blocks between neighbours, inverted by
    the recursion. A few springs are added to it as a dense border (Border), which makes it exact but for rounding.
    [Thesis 3.6, changed: the projected block Jacobi preconditioner keeps the blocks between neighbours]
    """

    def __init__(self, tree: FactoredTree, parts: tuple[Vec, Vec, Vec], pairs: Index, blocks: Vec) -> None:
        """tree: factored. parts: its diagonal, below and reduced blocks, (n, 6, 6) each. pairs: bodies of far springs,
        (s, 2). blocks: of B in rows of the first and columns of the second body, (s, 6, 6).

        Raises NotPositiveDefinite.
        """
        self._tree, self._parts = tree, parts
        self._pairs, self._blocks = np.ascontiguousarray(pairs, dtype=np.int32), np.ascontiguousarray(blocks)
        self.taken = 0  #: iterations of the last solve
        self._border = None
        if len(pairs) * 2 <= BORDER:
            terms = Terms(self._pairs, self._blocks)
            columns = 2 * len(terms.first)
            if _may_be_border(columns, len(tree.parent)):
                self._border = Border(tree, terms)

    def solve(self, b: Vec) -> Vec:
        """Return A⁻¹ b, (m, c), each column to the tolerance. Raises StepFailed without convergence,
        NotPositiveDefinite."""
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
    """Off-diagonal blocks O of far springs as Σ (p pᵀ − n nᵀ), from singular values; p and n = (first on one body) ±
    (second on the other)."""

    def __init__(self, pairs: Index, blocks: Vec) -> None:
        """pairs: bodies of far springs, (s, 2). blocks: of B in rows of the first and columns of the second body, (s,
        6, 6)."""
        left, values, right = np.linalg.svd(blocks)
        which, k = np.nonzero(values > NOTHING * values[:, :1])
        size = np.sqrt(0.5 * values[which, k])[:, None]
        self.pairs = pairs[which]  #: (t, 2)
        self.first: Vec = size * left[which, :, k]  #: (t, 6)
        self.second: Vec = size * right[which, k]  #: (t, 6)

    def dot(self, twist: Vec) -> Vec:
        """Return pᵀ φ of all terms above nᵀ φ, (2t, c), for twists (n, c, 6)."""
        one = np.einsum("ta,tca->tc", self.first, twist[self.pairs[:, 0]])
        other = np.einsum("ta,tca->tc", self.second, twist[self.pairs[:, 1]])
        return np.concatenate([one + other, one - other])

    def wrenches(self, bodies: int) -> Vec:
        """Return all p and then all n as columns of wrenches on bodies, (n, 2t, 6)."""
        count = len(self.first)
        out, own = np.zeros((bodies, 2 * count, 6)), np.arange(count)
        out[self.pairs[:, 0], own] = out[self.pairs[:, 0], own + count] = self.first
        out[self.pairs[:, 1], own] += self.second
        out[self.pairs[:, 1], own + count] -= self.second
        return out


class Border:
    """Solver for T + F D Fᵀ, with all p of Terms and then all n in F, D = ±1: T⁻¹ − Z (D + FᵀZ)⁻¹ Zᵀ, Z = T⁻¹ F."""

    def __init__(self, tree: FactoredTree, terms: Terms) -> None:
        """Raises NotPositiveDefinite where T is positive definite and T + F D Fᵀ is not."""
        count = len(terms.first)
        self._terms = terms
        self._columns: Vec = np.zeros((int(tree.dof[-1]), 2 * count))  # Z
        inner = terms.dot(tree.substitute(self._columns, terms.wrenches(len(tree.parent))))
        inner = 0.5 * (inner + inner.T)
        # all pivots of T + p pᵀ are positive; those of n are positive where A is positive definite
        try:
            upper = scipy.linalg.cholesky(np.eye(count) + inner[:count, :count], lower=True, check_finite=False)
            cross = scipy.linalg.solve_triangular(upper, inner[:count, count:], lower=True, check_finite=False)
            rest = np.eye(count) - inner[count:, count:] + cross.T @ cross
            self._rest = scipy.linalg.cholesky(rest, lower=True, check_finite=False)
        except np.linalg.LinAlgError as failure:
            raise NotPositiveDefinite("springs between far bodies make it indefinite") from failure
        self._upper, self._cross = upper, cross

    def add(self, z: Vec, twist: Vec) -> None:
        """Correct z = T⁻¹ b, (m, c), in place to (T + F D Fᵀ)⁻¹ b. twist: J z, (n, c, 6)."""
        relative = self._terms.dot(twist)
        count = len(self._upper)
        top = scipy.linalg.solve_triangular(self._upper, relative[:count], lower=True, check_finite=False)
        low = -scipy.linalg.cho_solve((self._rest, True), relative[count:] - self._cross.T @ top, check_finite=False)
        top = scipy.linalg.solve_triangular(self._upper, top - self._cross @ low, lower=True, trans=1,
                                            check_finite=False)
        z -= self._columns[:, :count] @ top
        z -= self._columns[:, count:] @ low


def _may_be_border(columns: int, bodies: int) -> bool:
    """Return whether springs between so many bodies with so many columns are added to the preconditioner."""
    return 0 < columns <= BORDER and columns * bodies <= LARGEST


def _dots(x: Vec, y: Vec) -> Vec:
    """Return xᵀ y of each column, (c,)."""
    total: Vec = np.einsum("mc,mc->c", x, y)
    return total
