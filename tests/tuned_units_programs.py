"""Small systems in which tuned constants of programs of rows steer; see `tuned_units`."""

import numpy as np
import pytest
import scipy.sparse as sp
from tuned_units import fails

from solver.rows import dense_dual
from solver.rows.bilateral import Bilateral
from solver.rows.bilateral_kernels import factor_rows
from solver.rows.bounded import BoundedProgram
from solver.rows.dense_dual import DenseDual
from solver.rows.filtered import FilteredProgram
from solver.rows.names import Multipliers
from solver.rows.sparse import frames, reduced, vertex_programs
from solver.rows.sparse.minimum import Infeasible, Singular
from solver.rows.sparse.program import SparseProgram, _precise, _Run
from solver.rows.tables import ConeRows, DenseRows, SparseRows, VertexRows, bounds_of, no_vertex_rows


def _equations(*rows):
    return Bilateral(DenseRows.equations(np.array(rows)), lambda right: right)


def pivots_of_rows_that_others_imply():
    """How many of two rows are redundant that are nearly the same."""
    return [len(_equations([1.0, 0.0], [1.0, apart]).redundant) for apart in (1e-5, 1e-3)]


def softening_of_rows_that_others_imply():
    """Powers of ten by which a doubled row is missed."""
    rows = Bilateral(DenseRows.equations(np.array([[1.0], [1.0]]), np.ones(2)), lambda right: right)
    return round(float(np.log10(1.0 - rows.solve(np.zeros(1))[0][0])))


def rows_that_no_rate_moves():
    """Which rows count as moved by a rate, in Python as the kernel has the constant compiled in."""
    G, scale = np.diag([1.0, 1e-8, 1e-5]), np.empty(3)
    factor_rows.py_func(G, G.T.copy(), np.zeros(3), 0.0, 0.0, np.zeros((3, 3)), scale, np.empty(3, np.int64))
    return (scale > 0.0).tolist()


def _bounded(size, seed, rank=None, least=1e-6):
    """A program by seed, and its solution's arguments."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(size, rank or size))
    W, slip, most = half @ half.T + least * np.eye(size), rng.normal(size=size), np.abs(rng.normal(size=size)) / 9
    return BoundedProgram(W, slip), (slip, -most, most)


def bounds_that_are_exceeded_a_little():
    """Iterations of an active set, whose minimum without bounds exceeds one by so much."""
    found = []
    for much in (1e-12, 1e-7):
        program = BoundedProgram(np.eye(3), -np.ones(3))
        found.append(program._by_active_set(-np.ones(3), np.zeros(3), np.array([2.0, 2.0, 1.0 - much])) is not None
                     and program.iterations)
    return found


def impulses_that_rounding_leaves_open():
    """Powers of ten of the impulses along two rows that say the same, with other targets and without bounds."""
    row = np.random.default_rng(1).normal(size=(2, 1))
    program = BoundedProgram(row @ row.T, np.ones(2))
    never = np.full(2, np.inf)
    return round(float(np.log10(np.abs(program._by_active_set(np.array([1.0, -1.0]), -never, never)).max())))


def bounds_that_a_warm_start_is_on():
    """Active bounds of a start that is within so much of them."""
    program = BoundedProgram(np.eye(2), np.zeros(2), np.array([1.0 - 1e-11, 1.0 - 1e-5]))
    return program._flag_active(np.zeros(2), np.ones(2)).tolist()


def impulses_within_bounds_by_newton():
    """Whether Newton's method settles, which takes 4 and 13 iterations."""
    found = []
    for program, given in (_bounded(20, 0), _bounded(40, 7, 8)):
        program.solve(*given)
        found.append(program._few)
    return found


def impulses_that_are_on_no_bound():
    """Whether Newton's method is left to an active set, with 10 and 60 impulses within their bounds."""
    found = []
    for size in (10, 60):
        program, (slip, low, high) = _bounded(size, 0, least=1.0)
        program.solve(slip, 1e3 * low, 1e3 * high)
        found.append(program._few)
    return found


def slips_without_a_direction():
    """Which axis of friction lies along a slip of this size."""
    return [dense_dual._along(np.array([0.0, slip]))[1, 0] for slip in (1e-13, 1e-8)]


def _pressed(seed, contacts, rates, friction, of=DenseDual):
    """The solution of contacts with friction, by seed."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(rates, rates))
    A, N, T = half @ half.T + 0.01 * np.eye(rates), rng.normal(size=(contacts, rates)), rng.normal(
        size=(2 * contacts, rates))
    free = rng.normal(size=rates) - 2.0 * N.sum(axis=0)
    rows = DenseRows(np.zeros(contacts), *bounds_of(np.zeros(contacts, bool)), np.zeros(contacts),
                     np.arange(contacts), N)
    dual = of(lambda right: np.linalg.solve(A, right), DenseRows.none(rates), rows,
              ConeRows(T, np.zeros(2 * contacts), np.full(contacts, friction)))
    return dual.solve(free)


def contacts_that_share_a_load():
    """Powers of ten by which two equal contacts yield."""
    rows = DenseRows(np.ones(2), *bounds_of(np.zeros(2, bool)), np.zeros(2), np.arange(2), np.ones((2, 1)))
    dual = DenseDual(lambda right: right, DenseRows.none(1), rows, ConeRows.none(1))
    return round(float(np.log10(1.0 - dual.solve(np.zeros(1)).u[0])))


def contacts_whose_motion_is_prescribed():
    """Rates of a body whose drive leaves a contact little to move."""
    found = []
    for left in (1e-5, 1e-2):
        rows = DenseRows(np.ones(1), *bounds_of(np.zeros(1, bool)), np.zeros(1), np.arange(1),
                         np.array([[1.0, left]]))
        dual = DenseDual(lambda right: right, DenseRows.equations(np.array([[1.0, 0.0]])), rows, ConeRows.none(2))
        found.append(bool(np.abs(dual.solve(np.zeros(2)).u).max() > 0.5))
    return found


def passes_of_a_jam():
    """Passes of contacts and friction that never agree."""
    return _pressed(0, 4, 5, 1.0).sweeps


def passes_after_which_both_are_solved():
    """Passes of contacts and friction that Newton's method ends."""
    return _pressed(16, 8, 10, 0.8).sweeps


def iterations_of_contacts_with_friction():
    """Passes of contacts and friction, for which Newton's method takes more iterations or fewer."""
    return [_pressed(64, 8, 10, 0.8).sweeps, _pressed(0, 6, 4, 1.5).sweeps]


def passes_until_contacts_agree():
    """Passes of contacts and friction without Newton's method."""
    class Staggered(DenseDual):
        tries, newton_iterations = (), 0

    return [_pressed(seed, 2, 6, 0.2, Staggered).sweeps for seed in range(4)]


def _pinned(G, target=None, size=6):
    count = len(G)
    rows = SparseRows.hard(sp.csr_array(np.array(G)), np.zeros(count) if target is None else np.array(target),
                           np.ones(count, bool), np.arange(count))
    half = np.random.default_rng(0).normal(size=(size, size))
    return FilteredProgram(sp.csc_array(half @ half.T + np.eye(size)), rows)


def rows_of_a_single_node():
    """Whether rows are refused that have a small entry at another node."""
    refused = []
    for entry in (1e-14, 1e-6):
        try:
            _pinned([[1.0, 0, 0, entry, 0, 0]])
            refused.append(False)
        except ValueError:
            refused.append(True)
    return refused


def iterations_of_filtered_gradients():
    """Iterations of conjugate gradients on 60 unknowns of which one is fixed."""
    program = _pinned(np.eye(60)[:1], size=60)
    program.solve(np.cos(np.arange(60.0)))
    return program.taken


def targets_of_one_node_that_differ():
    """Whether two targets of one row are refused."""
    refused = []
    for off in (1e-11, 1e-5):
        try:
            _pinned([[1.0, 0, 0, 0, 0, 0], [1.0, 0, 0, 0, 0, 0]], [1.0, 1.0 + off])
            refused.append(False)
        except ValueError:
            refused.append(True)
    return refused


def directions_that_others_imply():
    """Whether a direction is new beside the first axis, in Python as kernels have the constant compiled in."""
    return [bool(frames.add_direction.py_func(np.array([1.0, apart, 0.0]), 3, np.eye(5), 1, np.zeros((5, 5))))
            for apart in (1e-11, 1e-5)]


def _chosen(row_factors, targets):
    """Rows of one vertex of unit stiffness at rest that become active, in Python as above."""
    count = len(targets)
    factor = np.zeros((count, 5))
    factor[:, :3] = row_factors
    pattern = SparseProgram()._reduce_for(sp.csc_matrix(np.eye(3)), np.array([[0, 1, 2, -1, -1]])).pattern
    active = np.zeros(count, bool)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("with_rows", "add_direction", "complete", "gap_of"):
            patch.setattr(vertex_programs, name, getattr(vertex_programs, name).py_func)
        vertex_programs.choose_rows.py_func(
            *pattern.blocks, pattern.values(sp.csc_matrix(np.eye(3))), np.zeros(1, np.int32),
            np.array([0, count], np.int32), factor, np.array(targets), np.zeros(count, bool), np.zeros(3),
            np.zeros(count), np.full(count, 1e-12), 1e-12, active)
    return active.tolist()


def rows_of_a_vertex_whose_combinations_are_tried():
    """Which rows of a vertex become active: two, and nine of which eight have the same direction."""
    return [_chosen(np.eye(3)[:2], [1.0, 0.5]),
            _chosen([[1.0, 0.0, 0.0]] * 8 + [[0.0, 1.0, 0.0]], [*np.linspace(2.0, 1.0, 8), 0.5])]


class Counted:
    """A linear solver that counts its factors."""

    def __init__(self):
        self.inner, self.factors = _precise(), 0

    def factor(self, matrix):
        self.factors += 1
        self.inner.factor(matrix)

    def __getattr__(self, name):
        return getattr(self.inner, name)


def _unknowns(count):
    table = np.full((count, 5), -1, np.int32)
    table[:, :3] = np.arange(3 * count).reshape(-1, 3)
    return table


def _spread(matrix, target, equal, first=500):
    return SparseRows.hard(sp.csr_matrix(matrix), np.array(target, float), np.full(len(target), equal),
                           first + np.arange(len(target)))


def _solved(A, b, rows=None, spread=None, warm=None, linear=None):
    """The minimum, and the solver that found it."""
    program = SparseProgram(linear)
    A = sp.csc_matrix(A)
    return program.solve(A, np.array(b, float), _unknowns(len(b) // 3), rows or no_vertex_rows(), spread, warm), program


def _ring(seed, count, most):
    """A ring of vertices with rows that may be exceeded, by seed: arguments of `_solved`."""
    rng = np.random.default_rng(seed)
    A = 0.05 * np.eye(3 * count)
    for v in range(count):
        at = np.concatenate([3 * w + np.arange(3) for w in (v, (v + 1) % count)])
        J = rng.normal(size=(4, 6))
        A[np.ix_(at, at)] += J.T @ J
    vertex = np.repeat(np.arange(count, dtype=np.int32), most)
    factor = np.zeros((len(vertex), 5))
    factor[:, :3] = rng.normal(size=(len(vertex), 3))
    rows = VertexRows.hard(vertex, factor, rng.normal(size=len(vertex)) - 0.3, np.zeros(len(vertex), bool),
                           np.arange(len(vertex)))
    return A, 3.0 * rng.normal(size=3 * count), rows


def active_sets_that_are_tried():
    """Whether rows of strings that a load lifts from a floor are added one at a time."""
    found = []
    for count, load in ((20, 5.0), (60, 30.0)):
        A = np.kron(2.001 * np.eye(count) - np.eye(count, k=1) - np.eye(count, k=-1), np.eye(3))
        b, factor = np.tile([0.0, 0.0, -1.0], count), np.zeros((count, 5))
        b[3 * (count // 2) + 2], factor[:, 2] = load, 1.0
        rows = VertexRows.hard(np.arange(count, dtype=np.int32), factor, np.zeros(count), np.zeros(count, bool),
                               np.arange(count))
        found.append(_solved(A, b, rows, warm=Multipliers.of((rows.name, np.ones(count))))[0].one_by_one)
    return found


def rows_that_are_exceeded_a_little():
    """Rows that become active, where they are exceeded by so much."""
    spread = _spread(np.eye(3)[:2], [1.0 + 1e-12, 1.0 + 1e-7], False)
    return _solved(np.eye(3), np.ones(3), spread=spread)[0].spread_active.tolist()


def multipliers_that_pull_a_little():
    """Rows that stay active from the start, with multipliers below 0 by so much."""
    spread = _spread(np.eye(3)[:2], [1.0 - 1e-12, 1.0 - 1e-7], False)
    return _solved(np.eye(3), np.ones(3), spread=spread,
                   warm=Multipliers.of((spread.name, np.ones(2))))[0].spread_active.tolist()


def equations_that_contradict_a_little():
    """Whether two equal equations with targets that differ by so much are refused."""
    row = np.eye(3)[:1].repeat(2, axis=0)
    return [fails(_solved, np.eye(3), np.ones(3), None, _spread(row, [1.0, 1.0 + off], True)) for off in (1e-10, 1e-6)]


def _one_by_one(*given):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Run, "at_once", 0)
        return _solved(*given)[0]


def multipliers_that_change_a_little():
    """Active rows of a start without load, one of which would be pulled by so much of another row's multiplier."""
    found = []
    for little in (1e-13, 1e-6):
        spread = _spread([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [little, 1.0, 1.0]], [0.0, 0.0, 1.0], False)
        found.append(_one_by_one(np.eye(3), [0.0, -5.0, 0.0], None, spread,
                                 Multipliers.of((spread.name[:2], np.ones(2)))).spread_active.tolist())
    return found


def rows_that_are_named_as_contradicting():
    """Names of rows that a row contradicts, one by so little."""
    found = []
    for little in (1e-11, 1e-5):
        equations = VertexRows.hard(np.zeros(2, np.int32), np.eye(5)[:2], np.array([1.0, 0.0]), np.ones(2, bool),
                                    np.array([7, 8]))
        try:
            _one_by_one(np.eye(3), np.zeros(3), equations, _spread([[-1.0, -little, 0.0]], [0.0], False))
        except Infeasible as failure:
            found.append(failure.names.tolist())
    return found


def columns_that_are_half_solved():
    """Whether columns of 5 and of 40 rows are half solved."""
    found = []
    for count in (5, 40):
        A, b, _ = _ring(0, 20, 1)
        program = _solved(A, b, spread=_spread(np.eye(60)[:count], np.zeros(count), True))[1]
        found.append(program._reduced._halves is not None)
    return found


def rows_beside_one_factor():
    """Numbers of factors of a ring whose active rows change much or little."""
    found = []
    for given in ((0, 6, 1), (0, 60, 2)):
        A, b, rows = _ring(*given)
        start = Multipliers.of((rows.name[::3], np.ones(len(rows.name[::3]))))
        found.append(_solved(A, b, rows, warm=start)[0].factored)
    return found


def _link(stiffness):
    """Two unknowns whose joint motion has so little stiffness, beside others of one."""
    A = np.eye(6)
    A[:2, :2] = [[1.0, -1.0 + stiffness], [-1.0 + stiffness, 1.0]]
    return A


def motions_that_nothing_resists():
    """Whether motions are refused with so much stiffness."""
    return [fails(_solved, _link(stiffness), np.ones(6)) for stiffness in (1e-14, 1e-8)]


def multiples_of_the_diagonal_that_are_tried():
    """Factors that are tried to find a motion of negative stiffness."""
    linear = Counted()
    try:
        _solved(_link(-1e-8), np.ones(6), linear=linear)
    except Singular:
        return linear.factors


def rows_that_active_rows_imply():
    """Equations that become active, nearly the same as the first."""
    near = np.array([[1.0, 0.0, 0.0], [1.0, 1e-7, 0.0], [1.0, 0.0, 1e-4]])
    return _solved(np.eye(3), np.eye(3)[0], spread=_spread(near, [1.0, 1.0, 1.0], True))[0].spread_active.tolist()


def scales_of_light_unknowns():
    """Scales of a light unknown beside a heavy one."""
    return float(reduced._scale(np.array([1.0, 1e-6]))[1])


UNITS = (
    pivots_of_rows_that_others_imply, softening_of_rows_that_others_imply, rows_that_no_rate_moves,
    bounds_that_are_exceeded_a_little, impulses_that_rounding_leaves_open, bounds_that_a_warm_start_is_on,
    impulses_within_bounds_by_newton, impulses_that_are_on_no_bound, slips_without_a_direction,
    contacts_that_share_a_load, contacts_whose_motion_is_prescribed, passes_of_a_jam,
    passes_after_which_both_are_solved, iterations_of_contacts_with_friction, passes_until_contacts_agree,
    rows_of_a_single_node, iterations_of_filtered_gradients, targets_of_one_node_that_differ,
    directions_that_others_imply, rows_of_a_vertex_whose_combinations_are_tried, active_sets_that_are_tried,
    rows_that_are_exceeded_a_little, multipliers_that_pull_a_little, equations_that_contradict_a_little,
    multipliers_that_change_a_little, rows_that_are_named_as_contradicting, columns_that_are_half_solved,
    rows_beside_one_factor, motions_that_nothing_resists, multiples_of_the_diagonal_that_are_tried,
    rows_that_active_rows_imply, scales_of_light_unknowns)
