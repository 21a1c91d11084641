"""A u = b under active rows: directions of single vertices are removed from the matrix, other rows border it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import solve_triangular

from ...linear.cholesky.supernodal import Supernodes
from ...linear.interface import LinearSolver, NotPositiveDefinite, inside_of
from ...state import Index, Mask, Vec
from ...threads import kernel
from ..tables import MOST
from .across import Across
from .cached_columns import FREED, ON_VERTEX, SPREAD, CachedColumns, Name
from .frames import (
    make_frames,
    matrix_in_frames,
    multipliers_of,
    product,
    product_at,
    rotate_frames,
    satisfy_rows,
)
from .minimum import Singular
from .vertex_pattern import VertexPattern

#: response of a row to its multiplier relative to that without active rows, up to which these imply the row
IMPLIED = 1.0e-12
LIGHTEST = 1.0e-3  #: diagonal entry relative to the largest, to which smaller ones are raised in the search for it
TINY = 1.0e-300


class ReducedProgram:
    """One matrix with a changing set of active rows; vertices are indexed by rank, unknowns by position
    (VertexPattern).

    Rows of single vertices that are active at a factorization fix directions, which are removed from the matrix. Where
    few rows change later, the factor is reused with a border: new active rows, and released directions as unknowns.
    """

    many = 32  #: new columns of one factor, from which half solves L⁻¹ a are quicker than solves
    few = 24  #: new rows and released directions beside one factor, above which another factor is as quick
    singular = 1.0e-13  #: stiffness of a motion relative to the diagonal, up to which nothing resists it
    shift = 1.0e-9  #: first multiple of the diagonal that is added to look for the motion that nothing resists

    def __init__(self, pattern: VertexPattern, linear: LinearSolver) -> None:
        self.pattern, self.linear = pattern, linear
        count, size = len(pattern.rank), pattern.lower.shape[0]
        self._fixed: Index = np.zeros(count, np.int32)  #: number of directions of each vertex outside the matrix
        self._frames, self._corners = np.zeros((count, MOST, MOST)), np.zeros((count, MOST, MOST))
        self._next_fixed: Index = np.zeros(count, np.int32)
        self._next_frames, self._next_corners = np.zeros((count, MOST, MOST)), np.zeros((count, MOST, MOST))
        self._probe: Vec = np.cos(12.9898 * np.arange(size) ** 2)
        self._values: Vec = np.zeros(0)
        self._halves: Supernodes | None = None  #: inside of the factor, for half solves of columns
        self._fresh = True  #: whether no column was solved with this factor
        self.factored = self.tried = 0

    def take(self, values: Vec, touched: Index, row_first: Index, factor: Vec, spread: Across) -> None:
        """Set another matrix and its rows, none of which is active.

        values: of A on the pattern. touched: vertices that have rows, (t,); rows row_first[k] to row_first[k + 1] of
        factor (r, 5) are those of touched[k]. spread: the rows on several vertices.
        """
        self._values, self._touched, self._row_first, self._factor = values, touched, row_first, factor
        self._spread = spread
        self._member: Index = np.full(len(factor), -1, np.int32)
        self._next_member: Index = np.full(len(factor), -1, np.int32)
        self._fixed[:] = self._next_fixed[:] = 0
        self._vertex_of: Index = np.repeat(touched, np.diff(row_first))
        self._has_factor = self._proven = False
        self._proven_fixed = self._fixed
        self.diagonal: Vec = values[self.pattern.lower.indptr[:-1]]
        inverse = 1.0 / np.maximum(self.diagonal, TINY)
        #: response of each row to its multiplier by the diagonal alone, (s,), and of those of vertices, (r,)
        self.responses: Vec = spread.squares(inverse)
        at = self.pattern.start[self._vertex_of][:, None] + np.arange(MOST)
        self._row_responses: Vec = np.einsum("ri,ri->r", np.square(factor), np.append(inverse, np.zeros(MOST))[at])
        self.factored = self.tried = 0

    def activate(self, active: Mask, spread_active: Mask) -> None:
        """Make these rows active, (r,) and (s,). A row that earlier rows imply is removed from the masks.

        Raises Singular.
        """
        self.tried += 1
        make_frames(self._touched, self._row_first, self._factor, self.pattern.start, active, self._next_member,
                    self._next_fixed, self._next_frames, self._next_corners)
        if not (self._has_factor and self._find_changes()):
            self._refactor()
            self._find_changes()
        if not self._border(active, spread_active):
            self._refactor()
            self._find_changes()
            self._border(active, spread_active)

    def _refactor(self) -> None:
        """Factor the matrix without the directions that the active rows fix. Raises Singular."""
        pattern = self.pattern
        self._fixed, self._next_fixed = self._next_fixed, self._fixed
        self._frames, self._next_frames = self._next_frames, self._frames
        self._corners, self._next_corners = self._next_corners, self._corners
        self._member, self._next_member = self._next_member, self._member
        self._next_fixed[:], self._next_member[:] = self._fixed, self._member
        matrix_in_frames(*pattern.blocks, self._values, self._fixed, self._frames, pattern.lower.data)
        self.factored += 1
        self._has_factor = False
        try:
            self.linear.factor(pattern.lower)
        except NotPositiveDefinite:
            raise self._nothing_resists() from None
        self._has_factor = True
        self._scale = _scale(pattern.lower.data[pattern.lower.indptr[:-1]])
        self._proven = self._proven and bool((self._fixed >= self._proven_fixed).all())
        self._cached_columns = CachedColumns(len(self.diagonal))
        self._halves, self._fresh = None, True

    def _find_changes(self) -> bool:
        """Find the changes since the matrix was factored; return whether they are few enough for a border."""
        was, now = self._member >= 0, self._next_member >= 0
        released = self._vertex_of[was & ~now]
        freed = np.zeros(len(self._fixed), np.bool_)
        freed[released] = True
        self._extra: Index = (now & (~was | freed[self._vertex_of])).nonzero()[0].astype(np.int32)
        vertices = freed.nonzero()[0]
        if len(self._extra) + int(self._fixed[vertices].sum()) > self.few:
            return False
        self._freed = [(int(v), k) for v in vertices for k in range(self._fixed[v])]
        #: `_fixed` and `_member` without released directions
        self._factored_fixed, self._factored_member = self._fixed, self._member
        if len(vertices):
            self._factored_fixed, self._factored_member = self._fixed.copy(), self._member.copy()
            self._factored_fixed[vertices] = 0
            self._factored_member[freed[self._vertex_of]] = -1
        return True

    def _border(self, active: Mask, spread_active: Mask) -> bool:
        """Build the border of the factor: released directions, and active rows that the factor does not include. Return
        False where nothing resists these directions, up to rounding."""
        spread_indices = spread_active.nonzero()[0]
        extra, count = len(self._extra), len(self._freed)
        freed: list[Name] = [(FREED, v, k) for v, k in self._freed]
        names = [*freed, *((ON_VERTEX, r, 0) for r in self._extra.tolist()),
                 *((SPREAD, k, 0) for k in spread_indices.tolist())]
        new = self._cached_columns.missing(names)
        if new:
            written = self._write_columns(new)
            self._cached_columns.add(new, written, *self._solve_columns(new, written))
        self._cached_columns.choose(names)
        whole, in_frames, second = self._cached_columns.columns()
        self._freed_columns, self._rows = whole[:, :count], whole[:, count:]
        self._products_in_frames, self._rows_in_frames = in_frames[:, :count], in_frames[:, count:]
        self._solved_freed, self._solved_rows = second[:, :count], second[:, count:]
        if not count and not self._rows.shape[1]:
            self._spread_indices, self._triangle = spread_indices, np.zeros((0, 0))
            return True

        alike, solved, moved = self._cached_columns.between()
        own = moved[:count, :count]
        stiff = own - solved[:count, :count]
        try:
            self._stiff = np.linalg.cholesky(0.5 * (stiff + stiff.T))
        except np.linalg.LinAlgError:
            return False
        if not (np.square(self._stiff.diagonal()) > self.singular * own.diagonal()).all():
            return False
        self._across = alike[count:, :count] - solved[count:, :count]
        matrix = solved[count:, count:]
        if count:
            half = solve_triangular(self._stiff, self._across.T, lower=True, check_finite=False)
            matrix = matrix + half.T @ half
        least = IMPLIED * np.concatenate([self._row_responses[self._extra], self.responses[spread_indices]])
        is_independent, triangle = np.empty(len(matrix), np.bool_), np.zeros_like(matrix)
        independent(np.ascontiguousarray(matrix), least, is_independent, triangle)
        if not is_independent.all():
            active[self._extra[~is_independent[:extra]]] = False
            spread_active[spread_indices[~is_independent[extra:]]] = False
            self._rows, self._rows_in_frames, self._solved_rows = (
                columns[:, is_independent] for columns in (self._rows, self._rows_in_frames, self._solved_rows))
            self._across, triangle = self._across[is_independent], triangle[np.ix_(is_independent, is_independent)]
            spread_indices, self._extra = spread_indices[is_independent[extra:]], self._extra[is_independent[:extra]]
        self._spread_indices, self._triangle = spread_indices, triangle
        return True

    def _write_columns(self, names: Sequence[Name]) -> Vec:
        """Return rows and released directions over all unknowns, as columns (m, c) in Fortran's order."""
        whole = np.zeros((len(self.diagonal), len(names)), order="F")
        for (kind, number, direction), column in zip(names, whole.T):
            if kind == SPREAD:
                self._spread.write(number, column)
                continue
            v = int(self._vertex_of[number]) if kind == ON_VERTEX else number
            first, end = self.pattern.start[v], self.pattern.start[v + 1]
            column[first:end] = (self._factor[number, : end - first] if kind == ON_VERTEX
                                 else self._frames[v, : end - first, direction])
        return whole

    def _solve_columns(self, names: Sequence[Name], whole: Vec) -> tuple[Vec, Vec, Vec, dict[Name, Vec]]:
        """Return new columns in frames (for released directions, A times these), their x and y as in `CachedColumns`,
        and A times each released direction by name."""
        products = dict[Name, Vec]()
        in_frames = np.ascontiguousarray(whole)
        if in_frames is whole:  # a single column is both
            in_frames = whole.copy()
        for c, name in enumerate(names):
            kind, v, k = name
            if kind == FREED:
                moved = products[name] = np.empty(len(whole))
                size = self.pattern.start[v + 1] - self.pattern.start[v]
                product_at(*self.pattern.blocks, self._values, v, np.ascontiguousarray(self._frames[v, :size, k]),
                           moved)
                in_frames[:, c] = moved
        self._into(in_frames)
        if self._halves is None and self._fresh and len(names) >= self.many:
            self._halves = inside_of(self.linear)
        self._fresh = False
        if self._halves is None:
            return in_frames, in_frames, self.linear.solve(in_frames), products
        half = self._halves.half(in_frames)
        return in_frames, half, half, products

    def _solution(self, columns: Vec) -> Vec:
        """Return the factor's solution, (m,), for a column in the form of y in `CachedColumns`."""
        return columns if self._halves is None else self._halves.other_half(columns[:, None].copy())[:, 0]

    def solve(self, rhs: Vec, target: Vec, spread_target: Vec) -> tuple[Vec, Vec, Vec]:
        """Return u, (m,), and multipliers of the rows of vertices, (r,), and of the others, (s,), 0 for inactive ones.

        rhs: b, (m,). target, spread_target: of both tables, (r,) and (s,). Raises Singular.
        """
        size = len(rhs)
        u, product_u = np.empty(size), np.empty(size)
        on_vertex, spread = np.zeros(len(target)), np.zeros(len(spread_target))
        satisfy_rows(self._touched, self._row_first, self._factored_member, self._factored_fixed, self._frames,
                     self._corners, self.pattern.start, target, u)
        product(self.pattern.lower.indptr, self.pattern.lower.indices, self._values, u, product_u)
        left = rhs - product_u
        sides = np.empty((size, 1 if self._proven else 2))
        sides[:, 0] = left
        self._into(sides)
        if not self._proven:
            sides[:, 1] = self._scale * self._probe
        y = self.linear.solve(sides)
        if not self._proven:
            self._prove(y[:, 1])
        free: Vec = y[:, 0].copy()
        multipliers = np.zeros(self._rows.shape[1])
        if len(multipliers) or len(self._freed):
            goal = np.concatenate([target[self._extra], spread_target[self._spread_indices]])
            free, moved, multipliers = self._solve_bordered(free, left, goal - u @ self._rows)
            u += moved
        u += self._out(free)
        if len(multipliers):
            # once more, against the rounding of the border's small matrix
            nothing = np.zeros(size)
            free, moved, more = self._solve_bordered(nothing, nothing, goal - u @ self._rows)
            u += moved + self._out(free)
            multipliers += more
        on_spread = multipliers[len(self._extra):]
        product(self.pattern.lower.indptr, self.pattern.lower.indices, self._values, u, product_u)
        rest = product_u - rhs
        if len(multipliers):
            rest -= self._rows @ multipliers
        multipliers_of(self._touched, self._row_first, self._factored_member, self._factored_fixed, self._frames,
                       self._corners, self.pattern.start, rest, on_vertex)
        on_vertex[self._extra], spread[self._spread_indices] = multipliers[: len(self._extra)], on_spread
        return u, on_vertex, spread

    def _solve_bordered(self, free: Vec, left: Vec, missing: Vec) -> tuple[Vec, Vec, Vec]:
        """Return u in the matrix' own directions, u of released directions, (m,) each, and the multipliers of the rows.

        free: the solution without border, (m,). left: b − A u of the present u. missing: residual of each row's target.
        """
        missing = missing - self._rows_in_frames.T @ free
        half = np.zeros(0)
        if len(self._freed):
            pull = self._freed_columns.T @ left - self._products_in_frames.T @ free
            half = pull
            solve_lower(self._stiff, half)
            moved = half.copy()
            solve_transposed(self._stiff, moved)
            missing = missing - self._across @ moved
        multipliers = np.zeros(0)
        if len(missing):
            multipliers = missing.copy()
            solve_lower(self._triangle, multipliers)
            solve_transposed(self._triangle, multipliers)
        more = self._solved_rows @ multipliers
        if not len(self._freed):
            return free + self._solution(more), np.zeros(len(free)), multipliers
        amounts = self._across.T @ multipliers
        solve_lower(self._stiff, amounts)
        amounts += half
        solve_transposed(self._stiff, amounts)
        return free + self._solution(more - self._solved_freed @ amounts), self._freed_columns @ amounts, multipliers

    def product(self, u: Vec) -> Vec:
        """Return A u, (m,)."""
        out = np.empty(len(u))
        product(self.pattern.lower.indptr, self.pattern.lower.indices, self._values, u, out)
        return out

    def _into(self, columns: Vec) -> None:
        rotate_frames(self._touched, self._fixed, self._frames, self.pattern.start, False, columns)

    def _out(self, y: Vec) -> Vec:
        column = y.reshape(-1, 1).copy()
        rotate_frames(self._touched, self._fixed, self._frames, self.pattern.start, True, column)
        return column[:, 0]

    def _prove(self, response: Vec) -> None:
        """Raise Singular where the response to a force on all unknowns, (m,), shows a motion that nothing resists."""
        moved = self._scale * response
        ratio = float(np.linalg.norm(self._probe) / max(float(np.linalg.norm(moved)), TINY))
        if not ratio > self.singular:
            raise self._describe_singular(moved, ratio)
        self._proven, self._proven_fixed = True, self._fixed.copy()

    def _nothing_resists(self) -> Singular:
        """Return the failure that names the motion of least stiffness, by inverse iteration with the least multiple of
        the diagonal added that makes the matrix definite."""
        lower, original = self.pattern.lower, self.pattern.lower.data.copy()
        diagonal = lower.indptr[:-1]
        self._scale = _scale(np.abs(original[diagonal]))
        raised, shift = original.copy(), self.shift
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
        return self._describe_singular(moved, float(motion @ full))

    def _describe_singular(self, moved: Vec, ratio: float) -> Singular:
        """Return the failure that names a motion of m unknowns.

        moved: the motion in frames, times `_scale`, (m,). ratio: its stiffness relative to the diagonal.
        """
        start = self.pattern.start
        motion = np.abs(self._out(moved / self._scale)) * _scale(np.abs(self.diagonal))
        largest = (motion >= 0.3 * motion.max()).nonzero()[0]
        largest = largest[np.argsort(-motion[largest], kind="stable")]
        unknown = np.argsort(self.pattern.row_of)[largest]
        vertex = self.pattern.vertex[np.searchsorted(start, largest, side="right") - 1]
        return Singular(unknown.astype(np.int32), vertex, ratio)


def _scale(diagonal: Vec) -> Vec:
    """Return square roots of the diagonal, (m,), with the smallest entries raised."""
    roots: Vec = np.sqrt(np.maximum(diagonal, LIGHTEST * float(diagonal.max(initial=TINY))))
    return roots


# for so few rows scipy's checks take longer than the solution
@kernel("void(f8[:,:], f8[::1])")
def solve_lower(triangle, x):  # type: ignore[no-untyped-def]
    """Replace x (k,) by L⁻¹ x, L lower triangular (k, k)."""
    for i in range(len(x)):
        for j in range(i):
            x[i] -= triangle[i, j] * x[j]
        x[i] /= triangle[i, i]


@kernel("void(f8[:,:], f8[::1])")
def solve_transposed(triangle, x):  # type: ignore[no-untyped-def]
    """Replace x (k,) by L⁻ᵀ x, L lower triangular (k, k)."""
    for i in range(len(x) - 1, -1, -1):
        x[i] /= triangle[i, i]
        for j in range(i):
            x[j] -= triangle[i, j] * x[i]


@kernel("void(f8[:,::1], f8[::1], b1[::1], f8[:,::1])")
def independent(matrix, least, is_independent, triangle):  # type: ignore[no-untyped-def]
    """Write Cholesky's factor (k, k) of the rows whose pivot exceeds `least`, (k,), and `is_independent`, True for
    these."""
    for i in range(matrix.shape[0]):
        pivot = matrix[i, i]
        for j in range(i):
            if is_independent[j]:
                total = matrix[i, j]
                for k in range(j):
                    if is_independent[k]:
                        total -= triangle[i, k] * triangle[j, k]
                triangle[i, j] = total / triangle[j, j]
                pivot -= triangle[i, j] * triangle[i, j]
        is_independent[i] = pivot > least[i]
        if is_independent[i]:
            triangle[i, i] = np.sqrt(pivot)
