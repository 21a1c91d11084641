"""min ½ uᵀ A u − uᵀ b under G u = g and C u ≥ c, where most rows have one vertex: a primal-dual active set method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from ...errors import StepFailed
from ...linear.choose import choose
from ...linear.interface import LinearSolver, available
from ...state import Index, Mask, Vec
from ..names import Multipliers, Names
from ..tables import SparseRows, VertexRows, no_sparse_rows
from .across import Across
from .minimum import Infeasible, Minimum
from .reduced import IMPLIED, ReducedProgram
from .slack import SlackProgram
from .table_kernels import sort_rows
from .vertex_pattern import VertexPattern
from .vertex_programs import choose_rows


@dataclass(frozen=True)
class _Table:
    """Rows of vertices, scaled to length one and sorted by vertex, equations first."""

    order: Index  #: indices of the caller's rows in the order of this table, (r,)
    length: Vec  #: lengths of the caller's rows in the order of this table, (r,)
    vertex: Index  #: (r,) rank
    touched: Index  #: (t,) ranks
    first: Index  #: (t + 1,)
    factor: Vec  #: (r, 5)
    target: Vec  #: (r,)
    equal: Mask  #: (r,)
    name: Names  #: (r,)


class SparseProgram:
    """Solver of programs whose matrices have one pattern, of which order and symbolic factor are reused.

    Active rows of one vertex are eliminated in an orthonormal frame of this vertex, those over several by the factor's
    inverse. The active set is updated at all vertices in one sweep: at each by the small program in which the other
    vertices are at rest, which for one row is the semismooth Newton method. Where the sweeps return to an earlier
    active set, rows are added one at a time by a dual active set, which always terminates. Rows with compliance have a
    slack unknown. [Hintermüller 2002, changed: rows of a vertex together] [Goldfarb 1983]
    """

    def __init__(self, linear: LinearSolver | None = None) -> None:
        """linear: solver in double precision; None: the best that is installed."""
        self._linear = _precise() if linear is None else linear
        self._pattern: VertexPattern | None = None
        self._reduced: ReducedProgram | None = None
        self._run: _Run | None = None
        self._slack: SlackProgram | None = None  #: last program, where rows of it had compliance; else None

    @property
    def backend(self) -> str:
        """Return the name of the linear solver's class."""
        return type(self._linear).__name__

    def solve(self, matrix: sp.csc_matrix, rhs: Vec, unknowns: Index, rows: VertexRows,
              spread: SparseRows | None = None, warm: Multipliers | None = None) -> Minimum:
        """Return the minimum of a program.

        matrix: A, (m, m), symmetric, positive definite where the equations are satisfied; only its lower triangle is
        read, and its pattern must not be modified later. rhs: b, (m,). unknowns: of each vertex, (n, 5), −1 after its
        last. rows, spread: equations, and rows whose multiplier is at least 0. warm: multipliers of rows that are
        probably active.

        Raises Infeasible with the names of rows that contradict each other, Singular with the unknowns of a motion that
        nothing resists, StepFailed where numbers are not finite, ValueError for other bounds of multipliers.
        """
        if not (np.isfinite(matrix.data).all() and np.isfinite(rhs).all() and np.isfinite(rows.target).all()
                and np.isfinite(rows.factor).all()):
            raise StepFailed("the cloth's matrix, forces or constraints are not finite")
        spread = no_sparse_rows(len(rhs)) if spread is None else spread
        _refuse_bounds(rows, spread)
        self._slack = SlackProgram.of(matrix, unknowns, rows, spread)
        if self._slack is not None:
            slack = self._slack
            matrix, unknowns, rows, spread, rhs = (slack.matrix, slack.unknowns, slack.rows, slack.spread,
                                                   slack.extend(rhs))
        self._run = _Run(self._reduce_for(matrix, unknowns), matrix, rhs, rows, spread)
        return self._minimum(warm)

    def again(self, rhs: Vec, warm: Multipliers | None = None) -> Minimum:
        """Return the minimum of the last program with another b, (m,), on its factor. Raises as `solve`."""
        if not np.isfinite(rhs).all():
            raise StepFailed("the cloth's forces are not finite")
        assert self._run is not None
        self._run.take(rhs if self._slack is None else self._slack.extend(rhs))
        return self._minimum(warm)

    def _minimum(self, warm: Multipliers | None) -> Minimum:
        """Return the minimum of the last program in terms of its own rows and unknowns. warm: rows that are probably
        active."""
        assert self._run is not None
        minimum = self._run.minimum(warm)
        return minimum if self._slack is None else self._slack.minimum(minimum)

    def _reduce_for(self, matrix: sp.csc_matrix, unknowns: Index) -> ReducedProgram:
        """Return the reduced program of a matrix, with the last elimination order where the pattern has not changed."""
        if self._reduced is None or self._pattern is None or not self._pattern.is_of(matrix, unknowns):
            self._pattern = VertexPattern(matrix, unknowns, partial(self._linear.order, lasts=False))
            self._linear.analyse(self._pattern.lower, 0)
            self._reduced = ReducedProgram(self._pattern, self._linear)
        return self._reduced


class _Run:
    """One program with its unknowns by position in the factor's order and its rows by vertex."""

    at_once = 12  #: active sets that are tried before rows are added one at a time
    gap = 1.0e-11  #: violation of a row relative to the largest unknown, up to which it is rounding
    force = 1.0e-11  #: negative multiplier relative to the largest force, up to which it is rounding
    implied_gap = 1.0e-9  #: violation relative to the largest unknown, above which implied equations contradict
    sign_change = 1.0e-12  #: change of a multiplier relative to the largest, up to which it keeps its sign
    against = 1.0e-9  #: change of a multiplier relative to the largest, above which its row is named as contradicting

    def __init__(self, reduced: ReducedProgram, matrix: sp.csc_matrix, rhs: Vec, rows: VertexRows,
                 spread: SparseRows) -> None:
        """matrix: A, (m, m). rhs: b, (m,). rows, spread: rows of single vertices, and across vertices."""
        pattern = reduced.pattern
        self.reduced, self.rows, self.given_names = reduced, _table(rows, pattern), rows.name
        self.values = pattern.values(matrix)
        self.spread, self.spread_length = self._across(spread)
        self.spread_target: Vec = spread.target / self.spread_length
        self.spread_equal, self.spread_name = spread.is_equation, spread.name
        reduced.take(self.values, self.rows.touched, self.rows.first, self.rows.factor, self.spread)
        self.heaviest = float(reduced.diagonal.max(initial=0.0))
        self.take(rhs)

    def take(self, rhs: Vec) -> None:
        """Set another b, (m,)."""
        self.rhs: Vec = np.empty(len(rhs))
        self.rhs[self.reduced.pattern.row_of] = rhs
        self.strongest = float(np.abs(rhs).max(initial=0.0))
        self.reduced.factored = self.reduced.tried = 0

    def _across(self, spread: SparseRows) -> tuple[Across, Vec]:
        """Return the spread rows with unknowns by position, scaled to length one, and their lengths, (s,)."""
        matrix = spread.matrix
        row = np.repeat(np.arange(len(spread)), np.diff(matrix.indptr))
        length = np.sqrt(np.bincount(row, np.square(matrix.data), len(spread)))
        length[length == 0.0] = 1.0
        return (Across(matrix.indptr, row, self.reduced.pattern.row_of[matrix.indices], matrix.data / length[row]),
                length)

    def minimum(self, warm: Multipliers | None) -> Minimum:
        """Return the minimum: by sweeps that change many rows at once, else row by row. Raises Infeasible and Singular.
        """
        table = self.rows
        self.active: Mask = table.equal.copy() if warm is None else table.equal | warm.has(table.name)
        self.spread_active: Mask = (self.spread_equal.copy() if warm is None
                                    else self.spread_equal | warm.has(self.spread_name))
        settled = self._at_once()
        if not settled:
            self._one_by_one()
        self._check_implied()

        row_of = self.reduced.pattern.row_of
        on_vertex, active = np.empty(len(table.order)), np.empty(len(table.order), np.bool_)
        on_vertex[table.order] = self.multiplier / table.length
        active[table.order] = self.active
        spread = self.spread_multiplier / self.spread_length
        own, others = self.active & ~table.equal, self.spread_active & ~self.spread_equal
        warm = Multipliers.of((table.name[own], (self.multiplier / table.length)[own]),
                              (self.spread_name[others], spread[others]))
        return Minimum(self.u[row_of], on_vertex, spread, active, self.spread_active,
                       (self.given_names, self.spread_name), warm, self.reduced.factored, self.reduced.tried,
                       not settled)

    def _at_once(self) -> bool:
        """Return whether the sweeps found an active set whose solution is the minimum."""
        table, seen = self.rows, set[bytes]()
        for _ in range(self.at_once):
            name = self.active.tobytes() + self.spread_active.tobytes()
            if name in seen:
                return False
            seen.add(name)
            self._solve_active()
            exceeded = ~self.spread_active & ~self.spread_equal & (self._spread_gap() < -self._spread_tolerance())
            negative = self.spread_active & ~self.spread_equal & (self.spread_multiplier < -self._weakest())
            changed = choose_rows(*self.reduced.pattern.blocks, self.values, table.touched, table.first, table.factor,
                                  table.target, table.equal, self.u, self.multiplier, self._tolerance(),
                                  self._weakest(), self.active)
            if not (changed or exceeded.any() or negative.any()):
                return True
            self.spread_active ^= exceeded | negative
        return False

    def _one_by_one(self) -> None:
        """Find the minimum from the last active set, by a dual active set. [Goldfarb 1983]"""
        self._release_negative()
        for _ in range(20 * (len(self.active) + len(self.spread_active)) + 20):
            gap = np.concatenate([self._gap() / self._tolerance(), self._spread_gap() / self._spread_tolerance()])
            gap[np.concatenate([self.active | self.rows.equal, self.spread_active | self.spread_equal])] = np.inf
            worst = int(gap.argmin()) if len(gap) else 0
            if not len(gap) or gap[worst] >= -1.0:
                return
            self._add(worst)
        raise StepFailed("the active rows of the cloth were not found")

    def _release_negative(self) -> None:
        """Release active rows until no multiplier is negative."""
        while True:
            self._solve_active()
            weakest = self._weakest()
            negative = self.active & ~self.rows.equal & (self.multiplier < -weakest)
            spread_negative = self.spread_active & ~self.spread_equal & (self.spread_multiplier < -weakest)
            if not (negative.any() or spread_negative.any()):
                return
            self.active &= ~negative
            self.spread_active &= ~spread_negative

    def _add(self, one: int) -> None:
        """Make another row active and release those whose multipliers become negative. Raises Infeasible."""
        count = len(self.active)
        row = self._row(one)
        free_response = float(np.square(row) @ (1.0 / self.reduced.diagonal))
        dual_step = 0.0
        while True:
            move, change, spread_change = self.reduced.solve(row, np.zeros(count), np.zeros(len(self.spread_active)))
            response = float(row @ move)
            gap = float(row @ self.u) - (self.rows.target[one] if one < count else self.spread_target[one - count])
            whole = -gap / response if response > IMPLIED * free_response else np.inf
            multiplier = np.concatenate([self.multiplier, self.spread_multiplier])
            changes = np.concatenate([change, spread_change])
            may_leave = np.concatenate([self.active & ~self.rows.equal, self.spread_active & ~self.spread_equal])
            may_leave &= changes < -self.sign_change * np.abs(changes).max(initial=0.0)
            until = np.where(may_leave, np.maximum(multiplier, 0.0) / np.where(may_leave, -changes, 1.0), np.inf)
            first = int(until.argmin())
            fraction = min(whole, float(until[first]))
            if fraction == np.inf:
                against = np.abs(changes) > self.against * np.abs(changes).max(initial=1.0e-300)
                names = np.concatenate([self.rows.name, self.spread_name])
                raise Infeasible([int(names[one]), *names[against]])
            dual_step += fraction
            self.multiplier += fraction * change
            self.spread_multiplier += fraction * spread_change
            if whole < np.inf:
                self.u += fraction * move
            self._set(one if fraction == whole else first, fraction == whole)
            if fraction == whole:
                self._solve_active()
                return
            self.reduced.activate(self.active, self.spread_active)

    def _set(self, one: int, is_active: bool) -> None:
        """Make one row, numbered over both tables, active or inactive; an inactive one has no multiplier."""
        count = len(self.active)
        if one < count:
            self.active[one] = is_active
        else:
            self.spread_active[one - count] = is_active
        if not is_active:
            (self.multiplier if one < count else self.spread_multiplier)[one if one < count else one - count] = 0.0

    def _row(self, one: int) -> Vec:
        """Return a row over all unknowns, (m,)."""
        count = len(self.active)
        if one >= count:
            across: Vec = np.zeros(len(self.rhs))
            self.spread.write(one - count, across)
            return across
        row, start, vertex = np.zeros(len(self.rhs)), self.reduced.pattern.start, self.rows.vertex[one]
        row[start[vertex] : start[vertex + 1]] = self.rows.factor[one, : start[vertex + 1] - start[vertex]]
        return row

    def _solve_active(self) -> None:
        """Solve for unknowns and multipliers with the active rows as equations. Raises Singular."""
        self.reduced.activate(self.active, self.spread_active)
        self.u, self.multiplier, self.spread_multiplier = self.reduced.solve(self.rhs, self.rows.target,
                                                                             self.spread_target)
        # where all unknowns are fixed, u is rounding of the response of the heaviest one to the forces
        diagonal_response = self.strongest / max(self.heaviest, 1.0e-300)
        self.fastest = max(float(np.abs(self.u).max(initial=0.0)), diagonal_response, 1.0e-300)

    def _check_implied(self) -> None:
        """Raise Infeasible where an equation was left out as implied by others but is not satisfied."""
        off = self.rows.equal & ~self.active
        if off.any():
            off &= np.abs(self._gap()) > self.implied_gap / self.gap * self._tolerance()
        if off.any():
            vertex = self.rows.vertex[off][0]
            raise Infeasible(self.rows.name[self.rows.equal & (self.rows.vertex == vertex)])
        off = self.spread_equal & ~self.spread_active
        if off.any():
            off &= np.abs(self._spread_gap()) > self.implied_gap / self.gap * self._spread_tolerance()
        if off.any():
            raise Infeasible([*self.spread_name[off], *self.rows.name[self.rows.equal], *self.spread_name[
                self.spread_equal & self.spread_active]])

    def _gap(self) -> Vec:
        """Return the excess of each row of a vertex over its target, (r,)."""
        table, start = self.rows, self.reduced.pattern.start
        at = start[table.vertex][:, None] + np.arange(table.factor.shape[1])
        local: Vec = np.append(self.u, np.zeros(table.factor.shape[1]))[at]
        return np.einsum("ri,ri->r", table.factor, local) - table.target  # type: ignore[no-any-return]

    def _spread_gap(self) -> Vec:
        """Return the excess of each row across vertices over its target, (s,)."""
        return self.spread.times(self.u) - self.spread_target

    def _tolerance(self) -> Vec:
        """Return the violation of each vertex' row that may be rounding, (r,)."""
        return self.gap * (self.fastest + np.abs(self.rows.target))

    def _spread_tolerance(self) -> Vec:
        """Return the violation of each row across vertices that may be rounding, (s,)."""
        return self.gap * (self.fastest + np.abs(self.spread_target))

    def _weakest(self) -> float:
        """Return the size of a multiplier up to which it may be rounding."""
        return self.force * max(self.strongest, self.heaviest * self.fastest)


def _refuse_bounds(*tables: VertexRows | SparseRows) -> None:
    """Raise ValueError where a multiplier has other bounds than those of an equation or of a row that may be
    exceeded."""
    for table in tables:
        if not (table.is_equation | (table.low == 0.0) & np.isposinf(table.high)).all():
            raise ValueError("a sparse program takes equations and rows whose multiplier is 0 at least")


def _precise() -> LinearSolver:
    """Return CHOLMOD where it is installed, else another solver in double precision for matrices without blocks of
    three."""
    return choose(next(key for key in ("cholmod", "cvxopt", "superlu") if available(key) is not None))


def _table(rows: VertexRows, pattern: VertexPattern) -> _Table:
    """Return rows sorted by the rank of their vertices. Raises IndexError where a vertex does not exist."""
    rank, count = pattern.rank[rows.vertex], len(rows)
    order, ranks, touched, first = (np.empty(count + 1, np.int32) for _ in range(4))
    length, goal, unit = np.empty(count), np.empty(count), np.empty(rows.factor.shape)
    many = sort_rows(rank, rows.is_equation, np.ascontiguousarray(rows.factor),
                     np.ascontiguousarray(rows.target), pattern.start, order, length, ranks, touched, first, unit, goal)
    order = order[:count]
    return _Table(order, length, ranks[:count], touched[:many], first[: many + 1], unit, goal, rows.is_equation[order],
                  rows.name[order])
