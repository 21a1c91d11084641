"""Conjugate gradients for several right-hand sides at once, each with steps of its own.

One product with A and one application of the preconditioner serve all columns, so memory is read once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...state import Vec
from ...threads import kernel, parallel_for
from ..blocks import CHUNKS, Blocks, dots

SMALLEST = 1.0e-290  #: a residual whose square is below is nothing


@kernel("void(i8, i8, f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[:,::1], f4[:,:,::1],"
        " f8[:,:,::1])")
def _advance(start, stop, x, r, p, q, step, scale, single, out):  # type: ignore[no-untyped-def]
    """Write x += step p, r −= step q and single = scale r, and parts of rᵀ r of each column to `out`."""
    size, lanes = x.shape[1], x.shape[2]
    for piece in range(start, stop):
        strip, chunk = piece // CHUNKS, piece % CHUNKS
        total, along, factor = out[strip, chunk], step[strip], scale[strip]
        total[:] = 0.0
        for i in range(chunk * size // CHUNKS, (chunk + 1) * size // CHUNKS):
            a, b, d, e, f = x[strip, i], r[strip, i], p[strip, i], q[strip, i], single[strip, i]
            for c in range(lanes):
                a[c] += along[c] * d[c]
            for c in range(lanes):
                b[c] -= along[c] * e[c]
            for c in range(lanes):
                f[c] = b[c] * factor[c]
            for c in range(lanes):
                total[c] += b[c] * b[c]


@kernel("void(i8, i8, f8[:,:,::1], f4[:,:,::1], f8[:,::1], f8[:,::1])")
def _update_direction(start, stop, p, z, scale, betas):  # type: ignore[no-untyped-def]
    """Write p = scale z + β p, with one scale and one β for each column."""
    size, lanes = p.shape[1], p.shape[2]
    for piece in range(start, stop):
        strip, chunk = piece // CHUNKS, piece % CHUNKS
        factor, beta = scale[strip], betas[strip]
        for i in range(chunk * size // CHUNKS, (chunk + 1) * size // CHUNKS):
            a, b = p[strip, i], z[strip, i]
            for c in range(lanes):
                a[c] = factor[c] * b[c] + beta[c] * a[c]


class NegativeCurvature(Exception):
    """Raised at a direction along which the matrix is not positive."""


class Columns:
    """Conjugate gradients for A X = B, with work arrays that the next call reuses."""

    def __init__(self, tolerance: float, most: int) -> None:
        """tolerance: largest |A x − b| / |b| of each column. most: largest number of iterations."""
        self.tolerance, self.most = tolerance, most
        self.taken = 0  #: iterations of the last solve
        self._arrays: list[Vec] = []

    def solve(self, matrix: Blocks, r: Vec, x: Vec, precondition: Callable[[Vec], Vec]) -> bool:
        """Improve x, (strips, m, lanes), until all columns of A x = r are solved; return whether they are.

        r: right-hand sides, of the shape of x; residuals afterwards. precondition: returns approximately A⁻¹ times
        columns in single precision. Raises NegativeCurvature.
        """
        if not self._arrays or self._arrays[0].shape != r.shape:
            self._arrays = [np.zeros(r.shape), np.zeros(r.shape), np.zeros(r.shape, dtype=np.float32)]
        p, q, single = self._arrays
        pieces = len(r) * CHUNKS
        partial = np.zeros((len(r), CHUNKS, r.shape[2]))

        # start from x in the columns where it reduces the residual
        rhs_square = self._dots(r, r, partial)
        nothing = np.zeros_like(rhs_square)
        matrix.multiply(x, q)
        square = self._dots(q, q, partial)
        is_worse = square >= 2.0 * self._dots(r, q, partial)
        if (is_worse & (square > 0.0)).any():
            x *= ~is_worse[:, None, :]
            q *= ~is_worse[:, None, :]
        p[:] = 0.0
        parallel_for(_advance, pieces, x, r, p, q, nothing + 1.0, 1.0 / _root(rhs_square), single, partial)
        square = partial.sum(axis=1)
        goal = self.tolerance**2 * rhs_square
        scale, before = 1.0 / _root(rhs_square), nothing
        self.taken = 0
        active = square > np.maximum(goal, SMALLEST)
        while active.any():
            if self.taken == self.most:
                return False
            # z = B r of columns that are scaled to about unit length, since single precision ends at 1e-38
            z = precondition(single)
            along = self._dots(r, z, partial) / scale
            betas = np.divide(along, before, out=np.zeros_like(along), where=active & (before > 0.0))
            parallel_for(_update_direction, pieces, p, z, np.where(active, 1.0 / scale, 0.0), betas)
            matrix.multiply(p, q)
            curvature = self._dots(p, q, partial)
            if (np.minimum(curvature, along)[active] <= 0.0).any():
                raise NegativeCurvature("a direction of negative curvature")
            step = np.divide(along, curvature, out=np.zeros_like(along), where=active)
            scale = 1.0 / _root(square)
            parallel_for(_advance, pieces, x, r, p, q, step, scale, single, partial)
            square, before = partial.sum(axis=1), along
            self.taken += 1
            active &= square > goal
        return True

    @staticmethod
    def _dots(x: Vec, y: Vec, partial: Vec) -> Vec:
        parallel_for(dots, len(x) * CHUNKS, x, y, partial)
        total: Vec = partial.sum(axis=1)
        return total


def _root(square: Vec) -> Vec:
    root: Vec = np.sqrt(np.where(square > SMALLEST, square, 1.0))
    return root
