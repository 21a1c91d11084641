"""V-cycle of smoothed aggregation multigrid in single precision: approximately A⁻¹, for a few columns at once.

As a preconditioner it is fixed once built, and symmetric positive definite however A changes, so it is reused until
solves take too long.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ...state import Vec
from ..blocks import Blocks, smooth_from_zero
from .aggregates import MODES, aggregates, make_rigid_modes, tentative

DENSE = 900  #: unknowns that are solved with directly
POWER = 12  #: iterations towards the largest eigenvalue
ABOVE = 1.1  #: what they fall short of it
DEGREE = 2  #: products of a smoothing polynomial
SMOOTHED = 8.0  #: it damps eigenvalues from 1 to 1 / SMOOTHED of the largest


class NotDefinite(Exception):
    """Raised where a diagonal block has an eigenvalue that is not positive."""


@dataclass
class Level:
    """One matrix of the hierarchy, its smoother, and the transfer to and from the next coarser matrix."""

    matrix: Blocks
    inverse: Vec  #: of its diagonal blocks, (rows height, height)
    largest: float  #: eigenvalue of D⁻¹ A, an upper bound
    prolong: Blocks
    restrict: Blocks
    buffers: list[Vec]  #: x, another x, d, all (strips, m, lanes), and what is left on the coarser level

    def prepare(self, strips: int, lanes: int) -> None:
        """Allocate the buffers for this number of strips and lanes, unless they exist."""
        if not self.buffers or (len(self.buffers[0]), self.buffers[0].shape[2]) != (strips, lanes):
            size = len(self.inverse)
            coarser = (len(self.restrict.first) - 1) * self.restrict.height
            self.buffers = [np.zeros((strips, m, lanes), dtype=np.float32) for m in (size, size, size, coarser)]


class Hierarchy:
    """Levels of multigrid, from the finest matrix to one that is solved directly."""

    def __init__(self, matrix: Blocks, positions: Vec | None) -> None:
        """matrix: A, 3 x 3 blocks, double precision. positions: of its nodes [m], (n, 3); None where they are not
        known.

        Raises NotDefinite.
        """
        count = len(matrix.first) - 1
        modes = make_rigid_modes(np.zeros((count, 3)) if positions is None else positions)
        self.levels: list[Level] = []
        while (len(matrix.first) - 1) * matrix.height > DENSE:
            number, owner = aggregates(matrix)
            if number == len(owner):  # no two rows are coupled any more
                break
            single = Blocks(matrix.first, matrix.column, matrix.values.astype(np.float32), matrix.height, matrix.width)
            inverse = _invert(matrix.diagonal())
            largest = _largest(single, inverse.reshape(-1, matrix.height).astype(np.float32))
            whole = matrix.scipy()
            prolong, modes = tentative(number, owner, modes)
            smoothing = sp.bsr_matrix((inverse, np.arange(len(inverse)), np.arange(len(inverse) + 1)),
                                      shape=whole.shape)
            prolong = (prolong - (4.0 / 3.0 / largest) * (smoothing @ (whole @ prolong))).tobsr(prolong.blocksize)
            restrict = prolong.T.tobsr((MODES, matrix.height))
            coarse = (restrict @ (whole @ prolong)).tobsr((MODES, MODES))
            self.levels.append(Level(single, np.ascontiguousarray(inverse.reshape(-1, matrix.height), np.float32),
                                     largest, Blocks.of(prolong), Blocks.of(restrict), []))
            matrix = _with_pivots(Blocks.of(coarse, np.float64))
        self._bottom = _exact(matrix)

    def solve(self, rhs: Vec) -> Vec:
        """Return approximately A⁻¹ rhs, (strips, m, lanes), float32, by one V-cycle; the next call overwrites the
        result."""
        return self._cycle(0, rhs)

    def _cycle(self, depth: int, b: Vec) -> Vec:
        """Return approximately A⁻¹ b on the level `depth`, (strips, m, lanes), by one V-cycle from zero."""
        if depth == len(self.levels):
            size = self._bottom.shape[1]
            solution: Vec = (self._bottom @ b.reshape(len(b), -1, size, b.shape[2])).reshape(b.shape)
            return solution
        level = self.levels[depth]
        level.prepare(len(b), b.shape[2])
        x, other, d, coarse = level.buffers
        matrix, inverse = level.matrix, level.inverse
        steps = _chebyshev(level.largest)
        # smooth, from zero
        smooth_from_zero(b, inverse, steps[0][1], d, x)
        for old, new in steps[1:]:
            matrix.smooth(x, b, inverse, old, new, d, other)
            x, other = other, x
        # what is left, on the coarser level
        other[:] = b
        matrix.multiply(x, other, -1)
        level.restrict.multiply(other, coarse)
        level.prolong.multiply(self._cycle(depth + 1, coarse), x, 1)
        # smooth again, the same polynomial, which keeps it symmetric
        for old, new in steps:
            matrix.smooth(x, b, inverse, old, new, d, other)
            x, other = other, x
        return x


def _chebyshev(largest: float) -> list[tuple[float, float]]:
    """Return the factors of the last step and of D⁻¹ times the residual, for each step of a Chebyshev smoother."""
    middle, half = 0.5 * largest * (1.0 + 1.0 / SMOOTHED), 0.5 * largest * (1.0 - 1.0 / SMOOTHED)
    steps = [(0.0, 1.0 / middle)]
    ratio = half / middle
    for _ in range(1, DEGREE):
        after = 1.0 / (2.0 * middle / half - ratio)
        steps.append((after * ratio, 2.0 * after / half))
        ratio = after
    return steps


def _invert(blocks: Vec) -> Vec:
    """Return inverses of diagonal blocks (n, k, k). Raises NotDefinite."""
    try:
        np.linalg.cholesky(blocks)
    except np.linalg.LinAlgError as failure:
        raise NotDefinite("a diagonal block is not positive definite") from failure
    inverse: Vec = np.linalg.inv(blocks)
    return inverse


def _largest(matrix: Blocks, inverse: Vec) -> float:
    """Return a bound for the eigenvalues of D⁻¹ A, from the power method."""
    size = len(inverse)
    vectors: list[Vec] = [np.zeros((1, size, 1), dtype=np.float32) for _ in range(4)]
    x, zero, d, out = vectors
    x[:] = np.random.default_rng(0).normal(size=x.shape)
    largest = 0.0
    for _ in range(POWER):
        x /= np.linalg.norm(x)
        # d = −D⁻¹ A x
        matrix.smooth(x, zero, inverse, 0.0, 1.0, d, out)
        largest = float(np.linalg.norm(d))
        x, d = d, x
    return ABOVE * largest


def _with_pivots(matrix: Blocks) -> Blocks:
    """Return the matrix with pivots of 1 in the rows of modes that an aggregate does not have, which are zero."""
    blocks = matrix.diagonal()
    empty = np.einsum("nii->ni", blocks) <= 0.0
    if empty.any():
        row = np.repeat(np.arange(len(matrix.first) - 1), np.diff(matrix.first))
        fixed = blocks.copy()
        group, which = np.nonzero(empty)
        fixed[group, which, which] = 1.0
        values = matrix.values.copy()
        values[row == matrix.column] = fixed.reshape(len(fixed), -1)
        return replace(matrix, values=values)
    return matrix


def _exact(matrix: Blocks) -> Vec:
    """Return the inverse of the coarsest matrix, (1, m, m), or those of its diagonal blocks where no two rows are
    coupled.

    Raises NotDefinite.
    """
    is_diagonal = len(matrix.column) == len(matrix.first) - 1
    whole = matrix.diagonal() if is_diagonal else matrix.scipy().toarray()[None]
    inverse = _invert(0.5 * (whole + whole.transpose(0, 2, 1)))
    inverse_of_matrix: Vec = (0.5 * (inverse + inverse.transpose(0, 2, 1))).astype(np.float32)
    return inverse_of_matrix
