"""Programs whose rows touch one vertex or several: against daqp, against the conditions of a minimum, and refusals."""

import daqp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import LinearConstraint, minimize

from solver.linear.cholesky.superlu import SuperLU
from solver.rows.names import Multipliers
from solver.rows.sparse.across import Across
from solver.rows.sparse.minimum import Infeasible, Singular
from solver.rows.sparse.program import SparseProgram
from solver.rows.tables import SparseRows, VertexRows, no_sparse_rows, no_vertex_rows

NONE = 1e30  #: a bound that is none, in daqp's words


def table(vertex, factor, target, equal=None, first=100):
    factor = np.asarray(factor, dtype=float)
    padded = np.zeros((len(factor), 5))
    padded[:, : factor.shape[1]] = factor
    return VertexRows.hard(np.asarray(vertex, np.int32), padded, np.asarray(target, dtype=float),
                           np.zeros(len(target), bool) if equal is None else np.asarray(equal, dtype=bool),
                           first + np.arange(len(target), dtype=np.int64))


def starting(names):
    """A warm start in which these rows are active."""
    return Multipliers.of((names, np.ones(len(names))))


def random_program(seed, count=30, most_rows=3):
    """A ring of vertices of three and five unknowns that are numbered apart; rows stand doubled here and there."""
    rng = np.random.default_rng(seed)
    sizes = np.where(rng.random(count) < 0.3, 5, 3)
    unknowns = np.full((count, 5), -1, np.int32)
    unknowns[:, :3] = rng.permutation(3 * count).reshape(count, 3)
    wide = np.flatnonzero(sizes == 5)
    unknowns[wide, 3:] = 3 * count + rng.permutation(2 * len(wide)).reshape(-1, 2)
    size = int(sizes.sum())
    A = np.zeros((size, size))
    for v in range(count):
        for w in (v, (v + 1) % count, (v + 7) % count):
            at = np.unique(np.concatenate([unknowns[v, : sizes[v]], unknowns[w, : sizes[w]]]))
            J = rng.normal(size=(4, len(at)))
            A[np.ix_(at, at)] += J.T @ J
    A += 0.05 * np.eye(size)
    vertex, factor, target, equal = [], [], [], []
    for v in range(count):
        for _ in range(rng.integers(0, most_rows + 1)):
            holds, row = bool(rng.random() < 0.15), rng.normal(size=5)
            for length in [1.0, 2.0] if rng.random() < 0.3 else [1.0]:
                vertex.append(v)
                factor.append(length * row)
                target.append(length * (0.3 if holds else -0.2) * (1 + row[0]))
                equal.append(holds)
    rows = table(vertex, factor, target, equal)
    spread = seed % 8
    matrix = sp.random(spread, size, 0.05, random_state=seed, format="csr")
    return (sp.csc_matrix(A), 3.0 * rng.normal(size=size), unknowns, rows,
            SparseRows.hard(matrix, 0.2 * rng.normal(size=spread) - 0.3, np.arange(spread) < 1,
                       10_000 + np.arange(spread, dtype=np.int64)))


def written_out(size, unknowns, rows, spread):
    """All rows as one dense matrix, their targets and which have to hold."""
    dense = np.zeros((len(rows), size))
    for r, v in enumerate(rows.vertex):
        for i, unknown in enumerate(unknowns[v]):
            if unknown >= 0:
                dense[r, unknown] += rows.factor[r, i]
    return (np.vstack([dense, spread.matrix.toarray()]), np.concatenate([rows.target, spread.target]),
            np.concatenate([rows.is_equation, spread.is_equation]))


def by_daqp(A, b, C, c, equal):
    """daqp's minimum and its value."""
    x, value, flag, _ = daqp.solve(A.toarray(), -b, C, np.where(equal, c, NONE), c,
                                   np.where(equal, 5, 0).astype(np.int32), primal_tol=1e-11)
    assert flag > 0
    return x, value


def judged(A, b, C, c, equal, answer, tolerance=1e-8):
    """The conditions of a minimum, each relative to the size of what it is about."""
    multiplier, gap = np.concatenate([answer.on_vertex, answer.spread]), C @ answer.u - c
    # a corner that all of it is pressed into stands still but for rounding
    fastest, strongest = max(np.abs(answer.u).max(), 1e-6), np.abs(b).max()
    assert np.abs(gap[equal]).max(initial=0.0) <= tolerance * fastest
    assert gap.min(initial=0.0) >= -tolerance * fastest
    assert multiplier[~equal].min(initial=0.0) >= -tolerance * strongest
    assert np.abs(multiplier * gap).max(initial=0.0) <= tolerance * strongest * fastest
    assert np.abs(A @ answer.u - b - C.T @ multiplier).max() <= tolerance * strongest


def value_of(A, b, u):
    return 0.5 * u @ (A @ u) - b @ u


@pytest.mark.parametrize("seed", range(24))
def test_minimum_is_daqps(seed):
    A, b, unknowns, rows, spread = random_program(seed)
    C, c, equal = written_out(len(b), unknowns, rows, spread)
    answer = SparseProgram().solve(A, b, unknowns, rows, spread)
    judged(A, b, C, c, equal, answer)
    expected, value = by_daqp(A, b, C, c, equal)
    assert value_of(A, b, answer.u) == pytest.approx(value, rel=1e-8)
    assert np.abs(answer.u - expected).max() <= 1e-7 * np.abs(expected).max()
    assert len(rows) > 20 and 5 <= answer.active.sum() < len(rows)


def test_minimum_is_scipys():
    A, b, unknowns, rows, spread = random_program(5, count=8)
    C, c, equal = written_out(len(b), unknowns, rows, spread)
    answer = SparseProgram().solve(A, b, unknowns, rows, spread)
    found = minimize(lambda u: value_of(A, b, u), answer.u * 0.0, jac=lambda u: A @ u - b, hess=lambda u: A,
                     method="trust-constr", constraints=LinearConstraint(C, c, np.where(equal, c, np.inf)),
                     options={"xtol": 1e-10, "gtol": 1e-10, "barrier_tol": 1e-10, "maxiter": 2000})
    assert value_of(A, b, answer.u) == pytest.approx(found.fun, rel=1e-6)
    assert value_of(A, b, answer.u) <= found.fun + 1e-9 * abs(found.fun)


def test_without_cholmod_too():
    A, b, unknowns, rows, spread = random_program(3)
    ours = SparseProgram(SuperLU()).solve(A, b, unknowns, rows, spread)
    assert np.abs(ours.u - SparseProgram().solve(A, b, unknowns, rows, spread).u).max() <= 1e-10 * np.abs(ours.u).max()


def test_only_what_is_below_the_diagonal_is_read():
    A, b, unknowns, rows, spread = random_program(3)
    whole = SparseProgram().solve(A, b, unknowns, rows, spread)
    half = SparseProgram().solve(sp.tril(A, format="csc"), b, unknowns, rows, spread)
    assert (whole.u == half.u).all()


@pytest.mark.parametrize("seed", range(6))
def test_warm_start_gives_the_same_answer_and_saves_factors(seed):
    A, b, unknowns, rows, spread = random_program(seed)
    program = SparseProgram()
    cold = program.solve(A, b, unknowns, rows, spread)
    warm = program.solve(A, b, unknowns, rows, spread, cold.warm)
    assert warm.tried == 1 < cold.tried and (warm.active == cold.active).all()
    # what held at the step before is found by the rows' names, wherever they stand now
    order = np.random.default_rng(seed).permutation(len(rows))
    turned = rows.of(order)
    again = program.solve(A, b, unknowns, turned, spread, cold.warm)
    wrong = program.solve(A, b, unknowns, rows, spread, starting(np.setdiff1d(rows.name, cold.warm.name)))
    for other in (warm, again, wrong):
        assert np.abs(other.u - cold.u).max() <= 1e-10 * np.abs(cold.u).max()


@pytest.mark.parametrize("seed", range(6))
def test_another_right_side_by_the_factor_that_there_is(seed):
    A, b, unknowns, rows, spread = random_program(seed)
    program = SparseProgram()
    before = program.solve(A, b, unknowns, rows, spread)
    turned = b + 0.1 * np.random.default_rng(seed).normal(size=len(b))
    again, alone = program.again(turned, before.warm), SparseProgram().solve(A, turned, unknowns, rows, spread)
    assert value_of(A, turned, again.u) == pytest.approx(value_of(A, turned, alone.u), rel=1e-9)
    assert np.abs(again.u - alone.u).max() <= 1e-8 * np.abs(alone.u).max()
    assert again.factored < alone.factored or again.factored == 0


def test_rows_that_have_to_hold_do_where_nothing_else_resists():
    """Two unknowns do the same, but for the row that holds one of them; the row beside it is let go."""
    unknowns = np.arange(15).reshape(3, 5).astype(np.int32)
    J = np.random.default_rng(1).normal(size=(40, 15))
    J[:, 4] = -J[:, 3]
    A, b = J.T @ J, np.random.default_rng(2).normal(size=15)
    A[4, 4] *= 1.0 + 1e-11
    b[0] = 5.0
    factor = np.zeros((2, 5))
    factor[0, 4] = factor[1, 0] = 1.0
    rows = table([0, 0], factor, [0.0, -9.0], [True, False])
    answer = SparseProgram().solve(sp.csc_matrix(A), b, unknowns, rows, None, starting(rows.name))
    assert answer.factored == 1 < answer.tried  # it was let go beside the factor
    assert abs(answer.u[4]) < 1e-14 * np.abs(answer.u).max()
    alone = np.delete(np.arange(15), 4)
    assert answer.u[alone] == pytest.approx(np.linalg.solve(A[np.ix_(alone, alone)], b[alone]), rel=1e-8)


def test_another_pattern_is_taken_up():
    program = SparseProgram()
    for seed in (1, 2, 1):
        A, b, unknowns, rows, spread = random_program(seed, count=20 + seed)
        assert (program.solve(A, b, unknowns, rows, spread).u
                == SparseProgram().solve(A, b, unknowns, rows, spread).u).all()


def test_same_bytes():
    answers = [SparseProgram().solve(*random_program(11)) for _ in range(2)]
    assert answers[0].u.tobytes() == answers[1].u.tobytes()
    assert answers[0].on_vertex.tobytes() == answers[1].on_vertex.tobytes()


def dense_pairs(seed, count=6):
    """Vertices that all hang together, two rows each: guesses for all at once come back to where they were."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(3 * count, 3 * count))
    unknowns = np.full((count, 5), -1, np.int32)
    unknowns[:, :3] = np.arange(3 * count).reshape(count, 3)
    factor = rng.normal(size=(2 * count, 3))
    return (sp.csc_matrix(J.T @ J + 1e-3 * np.eye(3 * count)), rng.normal(size=3 * count), unknowns,
            table(np.repeat(np.arange(count), 2), factor, np.zeros(2 * count)))


def test_where_guesses_go_in_circles_rows_are_taken_one_by_one():
    # found by trying seeds 0 to 299: two go in circles
    A, b, unknowns, rows = dense_pairs(48)
    answer = SparseProgram().solve(A, b, unknowns, rows)
    assert answer.one_by_one
    C, c, equal = written_out(len(b), unknowns, rows, no_sparse_rows(len(b)))
    judged(A, b, C, c, equal, answer)
    assert value_of(A, b, answer.u) == pytest.approx(by_daqp(A, b, C, c, equal)[1], rel=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_one_by_one_is_daqps_from_any_start(seed, monkeypatch):
    monkeypatch.setattr("solver.rows.sparse.program._Run.at_once", 0)
    A, b, unknowns, rows, spread = random_program(seed)
    C, c, equal = written_out(len(b), unknowns, rows, spread)
    rng = np.random.default_rng(seed)
    for names in (rows.name[:0], rng.permutation(rows.name)[: len(rows) // 2]):
        answer = SparseProgram().solve(A, b, unknowns, rows, spread, starting(names))
        assert answer.one_by_one
        judged(A, b, C, c, equal, answer)
        assert value_of(A, b, answer.u) == pytest.approx(by_daqp(A, b, C, c, equal)[1], rel=1e-8)


CORNER = {
    "three normals, two directions left": ([[1, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1]], [1, 0, 0, 0]),
    "a normal twice": ([[0, 0, 1], [0, 0, 1], [0, 0, 3]], [0, 0, 0]),
    "nearly the same normal": ([[0, 0, 1], [0, 1e-10, 1], [1e-10, 0, 1]], [0, 0, 0]),
    "nails' four": ([[0.3, 0, 1], [-0.3, 0, 1], [0, 0.3, 1], [0, -0.3, 1]], [0, 0, 0, 0]),
    "all nine": ([[np.cos(a), np.sin(a), 1.0] for a in np.arange(9) * 0.7], [0] * 9),
}


@pytest.mark.parametrize("name", CORNER)
@pytest.mark.parametrize("seed", range(4))
def test_rows_of_a_corner_that_others_imply(name, seed):
    factor, equal = CORNER[name]
    A, b, unknowns, _, _ = random_program(seed)
    b = np.zeros(len(b))
    b[unknowns[4, :3]] = [0.7, -2.0, -30.0]  # into the corner
    rows = table([4] * len(factor), factor, np.zeros(len(factor)), equal)
    answer = SparseProgram().solve(A, b, unknowns, rows)
    C, c, holds = written_out(len(b), unknowns, rows, no_sparse_rows(len(b)))
    judged(A, b, C, c, holds, answer)
    assert value_of(A, b, answer.u) == pytest.approx(by_daqp(A, b, C, c, holds)[1], rel=1e-8, abs=1e-12)
    assert answer.active.any() and np.linalg.matrix_rank(C[answer.active]) == answer.active.sum()


IMPOSSIBLE = {
    "two walls": ([2, 2], [[1, 0, 0], [-1, 0, 0]], [1, 1], [0, 0], [100, 101]),
    "two equations": ([2, 2], [[1, 0, 0], [1, 0, 0]], [1, 2], [1, 1], [100, 101]),
    "three of four": ([2, 2, 2, 5], [[1, 1, 0], [1, -1, 0], [-1, 0, 0], [1, 0, 0]], [1, 1, 1, 0], [0] * 4,
                      [100, 101, 102]),
    "nothing to push": ([2, 7], [[0, 0, 0], [0, 1, 0]], [1, 1], [0, 0], [100]),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_rows_that_contradict_each_other_are_named(name):
    vertex, factor, target, equal, named = IMPOSSIBLE[name]
    A, b, unknowns, _, _ = random_program(3)
    with pytest.raises(Infeasible, match="contradict each other") as raised:
        SparseProgram().solve(A, b, unknowns, table(vertex, factor, target, equal))
    assert raised.value.names.tolist() == named


def test_a_row_over_several_vertices_against_one_on_a_vertex_is_named():
    A, b, unknowns, _, _ = random_program(3)
    rows = table([2, 3], [[1, 0, 0], [1, 0, 0]], [0.0, 0.0])
    matrix = np.zeros((1, len(b)))
    matrix[0, unknowns[[2, 3], 0]] = -1.0
    across = SparseRows.hard(sp.csr_matrix(matrix), np.array([0.5]), np.zeros(1, bool), np.array([7], np.int64))
    with pytest.raises(Infeasible) as raised:
        SparseProgram().solve(A, b, unknowns, rows, across)
    assert raised.value.names.tolist() == [7, 100, 101]


@pytest.mark.parametrize("own", [0.0, 1e-17, -1.0])
def test_an_unknown_that_nothing_resists_is_named(own):
    A, b, unknowns, _, _ = random_program(3)
    A = A.tolil()
    A[7, :] = 0.0
    A[:, 7] = 0.0
    A[7, 7] = own
    with pytest.raises(Singular, match=r"unknowns 7 \(vertices") as raised:
        SparseProgram().solve(A.tocsc(), b, unknowns, no_vertex_rows())
    assert raised.value.unknowns.tolist() == [7] and 7 in unknowns[raised.value.vertices[0]]


def test_a_motion_of_several_unknowns_that_nothing_resists_is_named_and_a_row_may_forbid_it():
    A, b, unknowns, _, _ = random_program(3)
    motion = np.zeros(len(b))
    motion[unknowns[2, :3]] = [1.0, 2.0, -1.0]
    across = np.eye(len(b)) - np.outer(motion, motion) / (motion @ motion)
    singular = sp.csc_matrix(across @ A.toarray() @ across)
    with pytest.raises(Singular) as raised:
        SparseProgram().solve(singular, b, unknowns, no_vertex_rows())
    assert sorted(raised.value.unknowns) == sorted(unknowns[2, :3]) and (raised.value.vertices == 2).all()
    rows = table([2], [[1.0, 0.0, 0.0]], [0.25], [1])
    answer = SparseProgram().solve(singular, b, unknowns, rows)
    C, c, equal = written_out(len(b), unknowns, rows, no_sparse_rows(len(b)))
    judged(singular, b, C, c, equal, answer)


def test_numbers_that_are_none_and_vertices_that_share_an_unknown_are_refused():
    from solver.errors import StepFailed

    A, b, unknowns, rows, spread = random_program(3)
    with pytest.raises(StepFailed, match="not finite"):
        SparseProgram().solve(A, b * np.nan, unknowns, rows, spread)
    shared = unknowns.copy()
    shared[0, 0] = shared[1, 0]
    with pytest.raises(ValueError, match="one vertex"):
        SparseProgram().solve(A, b, shared, rows, spread)


@pytest.mark.parametrize("seed", range(8))
def test_rows_that_come_and_go_beside_one_factor_answer_as_another_factor_does(seed, monkeypatch):
    A, b, unknowns, rows, spread = random_program(seed, count=60)
    answers = []
    for few in (0, 24, 10_000):
        monkeypatch.setattr("solver.rows.sparse.reduced.ReducedProgram.few", few)
        answers.append(SparseProgram().solve(A, b, unknowns, rows, spread, starting(rows.name[::3])))
    anew, usual, beside = answers
    assert beside.factored == 1 < beside.tried and usual.factored <= anew.factored == anew.tried
    for other in (usual, beside):
        assert np.abs(other.u - anew.u).max() <= 1e-10 * np.abs(anew.u).max()
        assert np.abs(other.on_vertex - anew.on_vertex).max() <= 1e-9 * np.abs(anew.on_vertex).max()


@pytest.mark.parametrize("seed", [3, 5, 7])
def test_half_of_a_solve_beside_the_factor_is_enough(seed, monkeypatch):
    """L⁻¹ times the columns, twice, in place of them and A⁻¹ times them."""
    A, b, unknowns, rows, spread = random_program(seed)
    C, c, equal = written_out(len(b), unknowns, rows, spread)
    whole = SparseProgram().solve(A, b, unknowns, rows, spread)
    monkeypatch.setattr("solver.rows.sparse.reduced.ReducedProgram.many", 1)
    program = SparseProgram()
    answer = program.solve(A, b, unknowns, rows, spread)
    assert program._reduced._halves is not None
    judged(A, b, C, c, equal, answer)
    assert np.abs(answer.u - whole.u).max() <= 1e-10 * np.abs(whole.u).max()
    assert (answer.spread_active == whole.spread_active).all() and answer.spread_active.any()


def test_rows_across_vertices_by_their_entries():
    """One unknown twice in a row too."""
    rng = np.random.default_rng(4)
    first, row = np.array([0, 3, 3, 7]), np.repeat([0, 1, 2], [3, 0, 4])
    column, value = np.array([1, 4, 2, 0, 3, 3, 5]), rng.normal(size=7)
    rows, u, dense = Across(first, row, column, value), rng.normal(size=6), np.zeros((3, 6))
    np.add.at(dense, (row, column), value)
    written = np.zeros((3, 6))
    for k in range(3):
        rows.write(k, written[k])
    np.testing.assert_array_equal(written, dense)
    np.testing.assert_allclose(rows.times(u), dense @ u, rtol=1e-13)
    np.testing.assert_allclose(rows.squares(u), [u[column[row == k]] @ value[row == k] ** 2 for k in range(3)],
                               rtol=1e-13, atol=1e-300)
