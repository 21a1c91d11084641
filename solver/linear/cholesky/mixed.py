"""Factor in single precision on all threads, and solutions refined until they have the digits of a double precision
factor.

CHOLMOD finds the order and the pattern of L. Each refinement multiplies the error by that of the factor, about 1e-4,
for a product with A in double precision and a solve in single precision for all columns at once. Where single precision
does not suffice, CHOLMOD factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...state import Index, Mask, Vec
from ...threads import kernel, parallel_for
from ..analysed import Analysed
from ..blocks import CHUNKS, dots
from ..bordered import Bordered, block_diagonal
from ..interface import NotPositiveDefinite, available
from ..spread import Spread
from .multifrontal import Single
from .single import SingleFactor
from .single_columns import SingleColumns

LIBRARY: Any = available("cholmod") or available("cvxopt")
if LIBRARY is None:
    raise ImportError("neither scikit-sparse nor cvxopt is installed")

TOLERANCE = 1.0e-10  #: |A x − b| of each column over |b|; that of a double factor is about 1e-13
#: the same of J. It is a basis: what is left of it squares its error in Jᵀ A J, what moves in it balances to the digits
#: of its own small system, and where a body comes to rest does not depend on it
TOLERANCE_J = 2.0e-3
MOST = 8  #: solves with the single factor for an answer: more mean that it is of no use
SMALLEST = 1.0e-290  #: a residual whose square is below is nothing


class Mixed(Bordered):
    """LinearSolver that factors in single precision and refines its solutions; in double precision where single
    fails."""

    proves_definite = True

    def __init__(self) -> None:
        self._library = LIBRARY()
        self.why = "a factor in single precision on CHOLMOD's pattern, refined"
        self.remarks: list[str] = []
        self.factored = 0
        self.in_double = 0  #: factors that single precision could not do
        self._is_reported = False
        self.taken = 0  #: solves with the single factor for the last answer
        self.tolerance, self.tolerance_of_j = TOLERANCE, TOLERANCE_J

    @staticmethod
    def order(graph: sp.csc_matrix, lasts: bool = True) -> Index:
        """Return CHOLMOD's fill-reducing order of the nodes of a graph (n, n), (n,). lasts: whether the pattern
        stays."""
        return LIBRARY.order(graph, lasts)  # type: ignore[no-any-return]

    def analyse(self, lower: sp.csc_matrix, retained: int) -> None:
        """Take the sparsity pattern of a lower triangle (m, m), whose last `retained` unknowns are condensed to."""
        self._analysed = Analysed(lower)
        self._spread = Spread(lower, retained)
        inner = self._spread.inner
        if retained:
            self._own = lower[:inner, :inner].tocsc()
            self._own.sort_indices()
            column = np.repeat(np.arange(lower.shape[0]), np.diff(lower.indptr))
            self._inside: Index | None = np.flatnonzero((lower.indices < inner) & (column < inner))
        else:
            self._own, self._inside = lower, None
        if inner:
            self._library.analyse(self._own, 0)
        self._single: SingleFactor | None = None
        self._columns: SingleColumns | None = None
        self._is_double = False
        self._arrays: dict[tuple[int, ...], tuple[Vec, Vec, Single, Vec]] = {}
        self._jacobian = None

    def factor(self, lower: sp.csc_matrix, positions: Vec | None = None) -> None:
        """Factor A_qq in single precision, in double precision where that fails.

        lower: lower triangle of A, (m, m). positions: not used. Raises NotPositiveDefinite.
        """
        self.factored += 1
        if not self._analysed.is_of(lower):
            self.analyse(lower, self._spread.retained)
        self._lower, self._jacobian = lower, None
        if not self._spread.inner:
            return
        if self._inside is None:
            self._own = lower
        else:
            np.take(lower.data, self._inside, out=self._own.data, mode="clip")
        if self._single is None:
            # the library shows its pattern only with a factor
            self._factor_double(None)
            inside = self._library.supernodes()
            if inside is None:
                return
            self._single = SingleFactor(inside)
        because = "BLAS is out of reach or memory short"
        self._is_double = not self._single.can_factor(self._own)
        if not self._is_double:
            if self._columns is None:
                self._columns = SingleColumns(self._library.supernodes(), self._single)
            try:
                self._single.factor(self._own)
            except NotPositiveDefinite as failure:
                self._is_double, because = True, str(failure)
        if self._is_double:
            self._factor_double(because)
        else:
            self._spread.fill(lower)

    def _factor_double(self, because: str | None) -> None:
        """Factor in double precision. because: what single precision lacks, reported once; None reports nothing."""
        self._is_double = True
        self.in_double += 1
        self._library.factor(self._own)
        if because is not None and not self._is_reported:
            self._is_reported = True
            self.remarks.append(f"Mixed Precision factors in double precision where single does not do, which takes "
                                f"longer; here {because}")

    def forget_past(self) -> None:
        """Do nothing: no factor and no solution depends on an earlier one."""

    def _solve(self, columns: Vec, name: str, count: int) -> Vec:
        """Return A_qq⁻¹ columns, (inner, count), by refinement, or else by the factor in double precision."""
        if not columns.size:
            return np.zeros((self._spread.inner, count))
        if not self._is_double:
            solution = self._refine(columns, name)
            if solution is not None:
                return block_diagonal(solution, count)
            self._factor_double("its answers do not come near")
        solved: Vec = self._library.solve(block_diagonal(columns, count))
        columns[:] = 0.0
        return solved

    def _refine(self, left: Vec, name: str) -> Vec | None:
        """Return A_qq⁻¹ times strips of columns, which the next call overwrites; None without convergence.

        left: strips (strips, inner, lanes), overwritten by their residuals; unchanged without convergence.
        """
        tolerance = self.tolerance_of_j if name == "retained" else self.tolerance
        goal = np.maximum(tolerance**2 * self._squares(left), SMALLEST)
        x = self._work_arrays(left.shape)[0]
        x[:] = 0.0
        self.taken = 0
        return x if self._improve(left, x, goal) else None

    def _improve(self, left: Vec, x: Vec, goal: Vec) -> bool:
        """Solve with the single precision factor until the residual of each column is at its goal; return whether it
        is.

        left: residuals. x: the work array for solutions of this shape. goal: squared norms, (strips, lanes). Without
        convergence x is 0 and `left` is as it was for x = 0.
        """
        _, moved, single, _ = self._work_arrays(left.shape)
        square, taken_before = self._squares(left), self.taken
        while (far := square > goal).any():
            near = False
            if self.taken > taken_before and self._shape(int(far.sum())) != left.shape:
                # columns that have not converged continue in strips of their own
                few, goals = self._few(left, goal, far)
                solution = self._work_arrays(few.shape)[0]
                solution[:] = 0.0
                near = self._improve(few, solution, goals)
                self._put_back(few, solution, far, left, x)
            if near:
                break
            if self.taken >= MOST or not np.isfinite(square).all():
                self._spread.blocks.multiply(x, left, 1)
                x[:] = 0.0
                return False
            # columns of about unit length, since single precision ends at 1e-38
            scale = np.sqrt(np.where(square > SMALLEST, square, 1.0))
            parallel_for(_to_single, len(left) * CHUNKS, left, 1.0 / scale, single)
            unit = self._precondition(single)
            parallel_for(_move, len(left) * CHUNKS, single, scale * unit, x, moved)
            self._spread.blocks.multiply(moved, left, -1)
            square = self._squares(left)
            self.taken += 1
        return True

    def _squares(self, left: Vec) -> Vec:
        """Return the squared norm of each column, (strips, lanes)."""
        partial = self._work_arrays(left.shape)[3]
        parallel_for(dots, len(left) * CHUNKS, left, left, partial)
        total: Vec = partial.sum(axis=1)
        return total

    def _work_arrays(self, shape: tuple[int, ...]) -> tuple[Vec, Vec, Single, Vec]:
        """Return work arrays for strips of this shape: solution, its last change, that in single precision, partial
        sums."""
        if shape not in self._arrays:
            self._arrays[shape] = (np.zeros(shape), np.zeros(shape), np.zeros(shape, np.float32),
                                   np.zeros((shape[0], CHUNKS, shape[2])))
        return self._arrays[shape]

    def _few(self, left: Vec, goal: Vec, far: Mask) -> tuple[Vec, Vec]:
        """Return the columns that are marked in `far`, in as few strips as they need: residuals and goals."""
        many = int(far.sum())
        few = np.zeros(self._shape(many))
        strips, width = len(few), few.shape[2]
        goals = np.full((strips, width), np.inf)
        goals.ravel()[:many] = goal[far]
        for k, (strip, lane) in enumerate(np.argwhere(far).tolist()):
            few[k // width, :, k % width] = left[strip, :, lane]
        return few, goals

    @staticmethod
    def _put_back(few: Vec, solution: Vec, far: Mask, left: Vec, x: Vec) -> None:
        """Write the residuals of the columns that `_few` returned back to `left`, and add their solutions to x."""
        width = few.shape[2]
        for k, (strip, lane) in enumerate(np.argwhere(far).tolist()):
            x[strip, :, lane] += solution[k // width, :, k % width]
            left[strip, :, lane] = few[k // width, :, k % width]

    def _precondition(self, single: Single) -> float:
        """Overwrite strips in single precision by about A_qq⁻¹ times them over a factor, which is returned."""
        assert self._single is not None and self._columns is not None
        if single.shape[2] == 1:
            single[0, :, 0] = self._single.solve(single[0, :, 0].astype(float)) / self._single.unit
        else:
            self._columns.solve(single)
        return self._single.unit


@kernel("void(i8, i8, f8[:,:,::1], f8[:,::1], f4[:,:,::1])")
def _to_single(start, stop, r, scale, out):  # type: ignore[no-untyped-def]
    """Write scale r in single precision to `out`, with one scale for each column."""
    size, lanes = r.shape[1], r.shape[2]
    for piece in range(start, stop):
        strip, chunk = piece // CHUNKS, piece % CHUNKS
        factor = scale[strip]
        for i in range(chunk * size // CHUNKS, (chunk + 1) * size // CHUNKS):
            row, single = r[strip, i], out[strip, i]
            for c in range(lanes):
                single[c] = np.float32(row[c] * factor[c])


@kernel("void(i8, i8, f4[:,:,::1], f8[:,::1], f8[:,:,::1], f8[:,:,::1])")
def _move(start, stop, z, scale, x, moved):  # type: ignore[no-untyped-def]
    """Write moved = scale z and add it to x, with one scale for each column."""
    size, lanes = x.shape[1], x.shape[2]
    for piece in range(start, stop):
        strip, chunk = piece // CHUNKS, piece % CHUNKS
        factor = scale[strip]
        for i in range(chunk * size // CHUNKS, (chunk + 1) * size // CHUNKS):
            single, step, sum_ = z[strip, i], moved[strip, i], x[strip, i]
            for c in range(lanes):
                step[c] = factor[c] * single[c]
                sum_[c] += step[c]
