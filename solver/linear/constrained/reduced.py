"""A u = b where some rows hold: directions of single vertices out of the matrix, other rows by its inverse."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from ...state import Index, Mask, Vec
from ...threads import kernel
from ..interface import LinearSolver, NotPositiveDefinite
from .frames import (
    into_frames,
    make_frames,
    matrix_in_frames,
    meet,
    multipliers_of,
    out_of_frames,
    product,
)
from .rows import MOST, Singular
from .vertex_pattern import VertexPattern

SINGULAR = 1.0e-13  #: of the matrix' diagonal: as much resists a motion as rounding leaves of nothing
IMPLIED = 1.0e-12  #: of what moves a row: all that is left of it once others hold that imply it
LIGHTEST = 1.0e-3  #: of the largest diagonal entry: those below count as if they had it
SHIFT = 1.0e-9  #: of the diagonal, to look for the motion that nothing resists
TINY = 1.0e-300


class Reduced:
    """One matrix with a changing set of rows that hold. Vertices go by rank, unknowns by place (VertexPattern)."""

    def __init__(self, pattern: VertexPattern, linear: LinearSolver) -> None:
        self.pattern, self.linear = pattern, linear
        count, size = len(pattern.rank), pattern.lower.shape[0]
        self.held: Index = np.zeros(count, np.int32)
        self._frames, self._corners = np.zeros((count, MOST, MOST)), np.zeros((count, MOST, MOST))
        self._probe: Vec = np.cos(12.9898 * np.arange(size) ** 2)
        self._values: Vec = np.zeros(0)
        self.factored = 0

    def take(self, values: Vec, touched: Index, row_first: Index, factor: Vec, spread: Vec) -> None:
        """Another matrix and its rows, none of which hold yet.

        values: of A on the pattern. touched (t,): vertices that have rows, theirs are row_first[k] to row_first[k + 1]
        of factor (r, 5). spread: the other rows, (s, m).
        """
        self._values, self._touched, self._row_first, self._factor = values, touched, row_first, factor
        self._spread = spread
        self.member: Index = np.full(len(factor), -1, np.int32)
        self.held[:] = 0
        self._proven, self._proven_held = False, self.held
        self.diagonal: Vec = values[self.pattern.lower.indptr[:-1]]
        inverse = 1.0 / np.maximum(self.diagonal, TINY)
        #: what each row moves where nothing holds and no unknown drags another along, (s,)
        self.loose: Vec = np.square(spread) @ inverse
        self.factored = 0

    def hold(self, active: Mask, spread_active: Mask) -> None:
        """Let these rows hold and factor what is left; a row that others imply is taken out of the masks.

        Those that come first count first, those of single vertices before the others. Raises Singular.
        """
        pattern = self.pattern
        make_frames(self._touched, self._row_first, self._factor, pattern.start, active, self.member, self.held,
                    self._frames, self._corners)
        matrix_in_frames(*pattern.blocks, self._values, self.held, self._frames, pattern.lower.data)
        self.factored += 1
        try:
            self.linear.factor(pattern.lower)
        except NotPositiveDefinite:
            raise self._nothing_resists() from None
        self._scale = _scale(pattern.lower.data[pattern.lower.indptr[:-1]])
        self._proven = self._proven and bool((self.held >= self._proven_held).all())

        asked = np.flatnonzero(spread_active)
        columns = np.ascontiguousarray(self._spread[asked].T)
        if len(asked):
            self._into(columns)
            response = self.linear.solve(columns)
            kept, triangle = np.empty(len(asked), np.bool_), np.zeros((len(asked), len(asked)))
            independent(np.ascontiguousarray(columns.T @ response), IMPLIED * self.loose[asked], kept, triangle)
            spread_active[asked[~kept]] = False
            asked, columns, response = asked[kept], columns[:, kept], response[:, kept]
            self._triangle, self._response = triangle[np.ix_(kept, kept)], response
        self._asked, self._columns = asked, columns

    def solve(self, right: Vec, target: Vec, spread_target: Vec) -> tuple[Vec, Vec, Vec]:
        """u (m,), and the multipliers of vertices' rows (r,) and of the others (s,), zero where they do not hold.

        Raises Singular.
        """
        size = len(right)
        u, product_u = np.empty(size), np.empty(size)
        on_vertex, spread = np.zeros(len(target)), np.zeros(len(spread_target))
        meet(self._touched, self._row_first, self.member, self.held, self._frames, self._corners, self.pattern.start,
             target, u)
        product(*self.pattern.blocks, self._values, u, product_u)
        sides = np.empty((size, 1 if self._proven else 2))
        sides[:, 0] = right - product_u
        self._into(sides)
        if not self._proven:
            sides[:, 1] = self._scale * self._probe
        y = self.linear.solve(sides)
        if not self._proven:
            self._prove(y[:, 1])
        free: Vec = y[:, 0].copy()
        if len(self._asked):
            missing = spread_target[self._asked] - self._spread[self._asked] @ u - self._columns.T @ free
            half = solve_triangular(self._triangle, missing, lower=True)
            spread[self._asked] = solve_triangular(self._triangle, half, lower=True, trans=1)
            free += self._response @ spread[self._asked]
        u += self._out(free)
        product(*self.pattern.blocks, self._values, u, product_u)
        rest = product_u - right
        if len(self._asked):
            rest -= spread[self._asked] @ self._spread[self._asked]
        multipliers_of(self._touched, self._row_first, self.member, self.held, self._frames, self._corners,
                       self.pattern.start, rest, on_vertex)
        return u, on_vertex, spread

    def product(self, u: Vec) -> Vec:
        """A u, (m,)."""
        out = np.empty(len(u))
        product(*self.pattern.blocks, self._values, u, out)
        return out

    def _into(self, columns: Vec) -> None:
        into_frames(self._touched, self.held, self._frames, self.pattern.start, columns)

    def _out(self, y: Vec) -> Vec:
        column = y.reshape(-1, 1).copy()
        out_of_frames(self._touched, self.held, self._frames, self.pattern.start, column)
        return column[:, 0]

    def _prove(self, response: Vec) -> None:
        """Raises Singular where a force that pushes everywhere moves something as if nothing resisted."""
        moved = self._scale * response
        share = float(np.linalg.norm(self._probe) / max(float(np.linalg.norm(moved)), TINY))
        if not share > SINGULAR:
            raise self._singular(moved, share)
        self._proven, self._proven_held = True, self.held.copy()

    def _nothing_resists(self) -> Singular:
        """The motion of the smallest share: inverse iteration, the diagonal raised until the matrix is definite."""
        lower, original = self.pattern.lower, self.pattern.lower.data.copy()
        diagonal = lower.indptr[:-1]
        self._scale = _scale(np.abs(original[diagonal]))
        raised, shift = original.copy(), SHIFT
        while True:
            raised[diagonal] = original[diagonal] + shift * self._scale**2
            lower.data[:] = raised
            try:
                self.linear.factor(lower)
                break
            except NotPositiveDefinite:
                shift *= 2.0
        moved = self._probe
        for _ in range(60):
            moved = self._scale * self.linear.solve(self._scale * moved)
            moved /= np.linalg.norm(moved)
        lower.data[:] = original
        motion = moved / self._scale
        full = lower @ motion + lower.T @ motion - original[diagonal] * motion
        return self._singular(moved, float(motion @ full))

    def _singular(self, moved: Vec, share: float) -> Singular:
        """moved: the motion in frames, times `_scale`."""
        start = self.pattern.start
        motion = np.abs(self._out(moved / self._scale)) * _scale(np.abs(self.diagonal))
        largest = np.flatnonzero(motion >= 0.3 * motion.max())
        largest = largest[np.argsort(-motion[largest], kind="stable")]
        unknown = np.argsort(self.pattern.place)[largest]
        vertex = self.pattern.vertex[np.searchsorted(start, largest, side="right") - 1]
        return Singular(unknown.astype(np.int32), vertex, share)


def _scale(diagonal: Vec) -> Vec:
    """Roots of the diagonal, none much smaller than the others, (m,)."""
    roots: Vec = np.sqrt(np.maximum(diagonal, LIGHTEST * float(diagonal.max(initial=TINY))))
    return roots


@kernel("void(f8[:,::1], f8[::1], b1[::1], f8[:,::1])")
def independent(matrix, least, kept, triangle):  # type: ignore[no-untyped-def]
    """Cholesky's factor of the rows whose pivot is more than `least`, (k,), the others left out and not kept."""
    for i in range(matrix.shape[0]):
        pivot = matrix[i, i]
        for j in range(i):
            if kept[j]:
                total = matrix[i, j]
                for k in range(j):
                    if kept[k]:
                        total -= triangle[i, k] * triangle[j, k]
                triangle[i, j] = total / triangle[j, j]
                pivot -= triangle[i, j] * triangle[i, j]
        kept[i] = pivot > least[i]
        if kept[i]:
            triangle[i, i] = np.sqrt(pivot)
