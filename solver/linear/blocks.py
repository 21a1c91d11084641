"""Sparse matrices of small dense blocks, their products and their smoothing steps, for many columns at once.

Columns come in strips: vectors are (strips, m, LANES), or (1, m, 1) for a single column. Each row of a result is
written by one thread, so no result depends on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..state import Index, Vec
from ..threads import inline, kernel, parallel_for

CHUNKS = 64  #: of block rows; each has a sum of its own
LANES = 16  #: columns of a strip: a few vector registers
HIGHEST = 6  #: rows of a block

MATRIX = "i4[::1], i4[::1], {0}[:,::1], i8, i8"


def both(pattern: str) -> list[str]:
    """Return a kernel's signatures in single and double precision; in `pattern`, {0} is the type and MATRIX the arrays
    of Blocks."""
    return [pattern.replace("MATRIX", MATRIX).format(kind) for kind in ("f4", "f8")]


@inline
def _rows(first, last, column, values, height, width, x, acc):  # type: ignore[no-untyped-def]
    """Write one block row times a strip x to acc, (height LANES,). first, last: range of the blocks of this row."""
    for k in range(height * LANES):
        acc[k] = 0.0
    for k in range(first, last):
        value = values[k]
        for r in range(0, height, 3):
            o = acc[r * LANES : (r + 3) * LANES]
            for s in range(0, width, 3):
                # nine values against three rows; the constant distances let LLVM make vectors of the lanes
                base = r * width + s
                a00, a01, a02 = value[base], value[base + 1], value[base + 2]
                base += width
                a10, a11, a12 = value[base], value[base + 1], value[base + 2]
                base += width
                a20, a21, a22 = value[base], value[base + 1], value[base + 2]
                low = (column[k] * width + s) * LANES
                e = x[low : low + 3 * LANES]
                for lane in range(LANES):
                    p, q, t = e[lane], e[LANES + lane], e[2 * LANES + lane]
                    o[lane] += a00 * p + a01 * q + a02 * t
                    o[LANES + lane] += a10 * p + a11 * q + a12 * t
                    o[2 * LANES + lane] += a20 * p + a21 * q + a22 * t


@inline
def _rows_of_one(first, last, column, values, height, width, x, acc):  # type: ignore[no-untyped-def]
    """Write one block row times a single column x to acc, (height,). first, last: range of the blocks of this row."""
    zero = values.dtype.type(0.0)  # of the matrix's own type: Python's would turn the sums into doubles
    for r in range(0, height, 3):
        a, b, c = zero, zero, zero
        for k in range(first, last):
            m = values[k, r * width : (r + 3) * width]
            low = column[k] * width
            e = x[low : low + width]
            for s in range(0, width, 3):
                p, q, t = e[s], e[s + 1], e[s + 2]
                a += m[s] * p + m[s + 1] * q + m[s + 2] * t
                b += m[width + s] * p + m[width + s + 1] * q + m[width + s + 2] * t
                c += m[2 * width + s] * p + m[2 * width + s + 1] * q + m[2 * width + s + 2] * t
        acc[r], acc[r + 1], acc[r + 2] = a, b, c


@kernel(both("void(i8, i8, MATRIX, i8, {0}[:,::1], {0}, {0}[:,::1], {0}[:,::1])"))
def _multiply(start, stop, first, column, values, height, width, lanes, x, sign, y, works):  # type: ignore[no-untyped-def]
    """Write y = A x where sign is 0, else add sign A x to y, for pieces start to stop: CHUNKS of block rows of each
    strip."""
    count = first.shape[0] - 1
    for piece in range(start, stop):
        strip, chunk = piece // CHUNKS, piece % CHUNKS
        acc = works[piece]
        for i in range(chunk * count // CHUNKS, (chunk + 1) * count // CHUNKS):
            if lanes == 1:
                _rows_of_one(first[i], first[i + 1], column, values, height, width, x[strip], acc)
            else:
                _rows(first[i], first[i + 1], column, values, height, width, x[strip], acc)
            size = height * lanes
            out = y[strip, i * size : (i + 1) * size]
            if sign == 0:
                for k in range(size):
                    out[k] = acc[k]
            else:
                for k in range(size):
                    out[k] += sign * acc[k]


@kernel("void(i8, i8, i4[::1], i4[::1], f4[:,::1], i8, i8, i8, f4[:,::1], f4[:,::1], f4[:,::1], f4, f4, f4[:,::1],"
        " f4[:,::1], f4[:,::1])")
def _smooth(  # type: ignore[no-untyped-def]
    start, stop, first, column, values, height, width, lanes, x, b, inverse, old, new, d, out, works,
):
    """Write d = old d + new D⁻¹ (b − A x) and out = x + d, for pieces start to stop. inverse: of the diagonal
    blocks."""
    count = first.shape[0] - 1
    for piece in range(start, stop):
        strip, chunk = piece // CHUNKS, piece % CHUNKS
        rest = works[piece, : height * lanes]
        size = height * lanes
        for i in range(chunk * count // CHUNKS, (chunk + 1) * count // CHUNKS):
            if lanes == 1:
                _rows_of_one(first[i], first[i + 1], column, values, height, width, x[strip], rest)
            else:
                _rows(first[i], first[i + 1], column, values, height, width, x[strip], rest)
            rhs = b[strip, i * size : (i + 1) * size]
            for k in range(size):
                rest[k] = new * (rhs[k] - rest[k])
            for r in range(height):
                low = (i * height + r) * lanes
                step, before = d[strip, low : low + lanes], x[strip, low : low + lanes]
                after = out[strip, low : low + lanes]
                for lane in range(lanes):
                    step[lane] *= old
                for k in range(height):
                    m = inverse[i * height + r, k]
                    for lane in range(lanes):
                        step[lane] += m * rest[k * lanes + lane]
                for lane in range(lanes):
                    after[lane] = before[lane] + step[lane]


@kernel("void(i8, i8, i8, f4[:,::1], f4[:,::1], f4, f4[:,::1], f4[:,::1])")
def _smooth_from_zero(start, stop, lanes, b, inverse, new, d, out):  # type: ignore[no-untyped-def]
    """Write d = new D⁻¹ b and out = d, for pieces start to stop: a smoothing step from x = 0 and d = 0."""
    height = inverse.shape[1]
    count = inverse.shape[0] // height
    for piece in range(start, stop):
        strip, chunk = piece // CHUNKS, piece % CHUNKS
        for row in range(chunk * count // CHUNKS * height, (chunk + 1) * count // CHUNKS * height):
            block = row // height * height
            step, after = d[strip, row * lanes : (row + 1) * lanes], out[strip, row * lanes : (row + 1) * lanes]
            for lane in range(lanes):
                step[lane] = 0.0
            for k in range(height):
                m = new * inverse[row, k]
                other = b[strip, (block + k) * lanes : (block + k + 1) * lanes]
                for lane in range(lanes):
                    step[lane] += m * other[lane]
            for lane in range(lanes):
                after[lane] = step[lane]


@kernel(["void(i8, i8, f8[:,:,::1], f8[:,:,::1], f8[:,:,::1])", "void(i8, i8, f8[:,:,::1], f4[:,:,::1], f8[:,:,::1])"])
def dots(start, stop, x, y, out):  # type: ignore[no-untyped-def]
    """Write parts of xᵀ y of each column, for pieces start to stop: CHUNKS of the rows of each strip.

    x, y: (strips, m, lanes). out: (strips, CHUNKS, lanes), whose sum over the chunks is xᵀ y.
    """
    size, lanes = x.shape[1], x.shape[2]
    for piece in range(start, stop):
        strip, chunk = piece // CHUNKS, piece % CHUNKS
        total = out[strip, chunk]
        total[:] = 0.0
        for i in range(chunk * size // CHUNKS, (chunk + 1) * size // CHUNKS):
            p, q = x[strip, i], y[strip, i]
            for c in range(lanes):
                total[c] += p[c] * q[c]


@dataclass(frozen=True)
class Blocks:
    """Sparse matrix of dense blocks of one size, in compressed block rows."""

    first: Index  #: (rows + 1,) first block of each block row
    column: Index  #: (blocks,)
    values: Vec  #: (blocks, height width), each row-major; float32 or float64
    height: int  #: 3 or 6
    width: int

    @classmethod
    def of(cls, matrix: sp.bsr_matrix, kind: type = np.float32) -> Blocks:
        """Return a copy of a SciPy matrix of blocks, with values of the dtype `kind`."""
        height, width = matrix.blocksize
        values: Vec = np.ascontiguousarray(matrix.data.reshape(-1, height * width), dtype=kind)
        return cls(matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), values, height, width)

    def scipy(self) -> sp.bsr_matrix:
        """Return this matrix, which must be square, as a SciPy matrix that shares the values."""
        size = (len(self.first) - 1) * self.height
        data = self.values.reshape(-1, self.height, self.width)
        return sp.bsr_matrix((data, self.column, self.first), shape=(size, size))

    def diagonal(self) -> Vec:
        """Return a copy of the diagonal blocks, (rows, height, width), of a matrix that has all of them."""
        row = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        blocks: Vec = self.values[row == self.column].reshape(-1, self.height, self.width)
        return blocks

    def multiply(self, x: Vec, y: Vec, sign: int = 0) -> None:
        """Write y = A x, or add A x to y for a sign of 1, or subtract it for −1. x, y: columns, (strips, m, lanes)."""
        strips, _, lanes = x.shape
        parallel_for(_multiply, strips * CHUNKS, self.first, self.column, self.values, self.height, self.width, lanes,
                     _flatten(x), sign, _flatten(y), _works(strips, x.dtype))

    def smooth(self, x: Vec, b: Vec, inverse: Vec, old: float, new: float, d: Vec, out: Vec) -> None:
        """Write d = old d + new D⁻¹ (b − A x) and out = x + d, one step of a smoother, in single precision.

        x, b, d, out: (strips, m, lanes). inverse: inverses of the diagonal blocks D, (rows height, height).
        """
        strips, _, lanes = x.shape
        parallel_for(_smooth, strips * CHUNKS, self.first, self.column, self.values, self.height, self.width, lanes,
                     _flatten(x),
                     _flatten(b), inverse, old, new, _flatten(d), _flatten(out), _works(strips, x.dtype))


def smooth_from_zero(b: Vec, inverse: Vec, new: float, d: Vec, out: Vec) -> None:
    """Write d = out = new D⁻¹ b, the first step of a smoother from x = 0, in single precision.

    b, d, out: (strips, m, lanes). inverse: inverses of the diagonal blocks D, (rows height, height).
    """
    strips, _, lanes = b.shape
    parallel_for(_smooth_from_zero, strips * CHUNKS, lanes, _flatten(b), inverse, new, _flatten(d), _flatten(out))


def _flatten(vectors: Vec) -> Vec:
    return vectors.reshape(len(vectors), -1)


def _works(strips: int, kind: np.dtype) -> Vec:
    """Return scratch memory for one block row for each piece of work, (strips CHUNKS, HIGHEST LANES)."""
    return np.empty((strips * CHUNKS, HIGHEST * LANES), dtype=kind)
