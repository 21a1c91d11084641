"""One table of rows is solved by each back end that takes its kind, and multipliers come out under the rows' names."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from solver.rows import bounded
from solver.rows.bilateral import Bilateral
from solver.rows.bounded_rows import BoundedRows
from solver.rows.dense_dual import DenseDual
from solver.rows.eliminated import EliminatedRows
from solver.rows.filtered import FilteredProgram
from solver.rows.names import NO_MULTIPLIERS, Multipliers, RowMultipliers, row_names, tangent_names
from solver.rows.sparse.program import SparseProgram
from solver.rows.tables import ConeRows, DenseRows, SparseRows, VertexRows, bounds_of, concatenate_tables

NODES = 12


def program(seed, compliance=0.0, joining=3):
    """A matrix of a ring of nodes, b, rows of single nodes and `joining` rows over three nodes each; some equations."""
    rng = np.random.default_rng(seed)
    size = 3 * NODES
    A = 0.1 * np.eye(size)
    for v in range(NODES):
        at = np.concatenate([3 * w + np.arange(3) for w in (v, (v + 1) % NODES)])
        J = rng.normal(size=(4, 6))
        A[np.ix_(at, at)] += J.T @ J
    vertex = np.repeat(np.arange(NODES), 2).astype(np.int32)
    factor = np.zeros((len(vertex), 5))
    factor[:, :3] = rng.normal(size=(len(vertex), 3))
    soft = compliance * (rng.random(len(vertex) + joining) < 0.5)
    own = VertexRows.hard(vertex, factor, rng.normal(size=len(vertex)), rng.random(len(vertex)) < 0.3,
                          1000 + rng.permutation(len(vertex)))
    across = sp.random(joining, size, 0.2, random_state=seed, format="csr")
    others = SparseRows.hard(across, rng.normal(size=joining), np.arange(joining) == 0, 7 * np.arange(joining))
    return (A, 3.0 * rng.normal(size=size), VertexRows(own.target, own.low, own.high, soft[joining:], own.name,
                                                       own.vertex, own.factor),
            SparseRows(others.target, others.low, others.high, soft[:joining], others.name, others.matrix))


def unknowns():
    table = np.full((NODES, 5), -1, np.int32)
    table[:, :3] = np.arange(3 * NODES).reshape(-1, 3)
    return table


def dense(own, others):
    """Both tables as one with a dense Jacobian."""
    G = np.zeros((len(own), 3 * NODES))
    for r, v in enumerate(own.vertex):
        G[r, 3 * v:3 * v + 3] = own.factor[r, :3]
    columns = [np.concatenate([getattr(own, name), getattr(others, name)])
               for name in ("target", "low", "high", "compliance", "name")]
    return DenseRows(*columns, np.concatenate([G, others.matrix.toarray()]))


def by_dual(A, b, rows, warm=None):
    """Rates, and multipliers of all rows by name."""
    equations, others = rows.of(rows.is_equation), rows.of(~rows.is_equation)
    dual = DenseDual(lambda right: np.linalg.solve(A, right), equations, others, ConeRows.none(len(b)))
    found = dual.solve(np.linalg.solve(A, b), warm)
    return found.u, Multipliers.of((equations.name, found.bilateral), (others.name, found.unilateral)), found.active


@pytest.mark.parametrize("compliance", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(8))
def test_dense_dual_and_sparse_primal_solve_one_table(seed, compliance):
    A, b, own, others = program(seed, compliance)
    rows = dense(own, others)
    sparse = SparseProgram().solve(sp.csc_matrix(A), b, unknowns(), own, others)
    u, multipliers, _ = by_dual(A, b, rows)
    # both are softened by 1e-9 where rows are dependent
    assert sparse.u == pytest.approx(u, abs=1e-6 * np.abs(u).max())
    wanted = multipliers.at(rows.name)
    assert sparse.multipliers.at(rows.name) == pytest.approx(wanted, abs=1e-5 * np.abs(wanted).max())
    assert np.count_nonzero(wanted[~rows.is_equation]) > 3
    off = rows.G @ sparse.u + rows.compliance * sparse.multipliers.at(rows.name) - rows.target
    assert np.abs(off[rows.is_equation]).max() < 1e-8 and off.min() > -1e-8


def test_a_sparse_program_with_compliance_is_solved_again_for_another_right_side():
    A, b, own, others = program(3, 0.3)
    solver = SparseProgram()
    before = solver.solve(sp.csc_matrix(A), b, unknowns(), own, others)
    again = solver.again(-b, before.warm)
    u, _, _ = by_dual(A, -b, dense(own, others))
    assert again.u == pytest.approx(u, abs=1e-6 * np.abs(u).max()) and len(again.u) == len(b)


def pinned(seed):
    """Nodes pinned along one direction, or two that are not at right angles."""
    rng = np.random.default_rng(seed)
    A, b, _, _ = program(seed)
    vertex = np.array([0, 3, 3, 7], np.int32)
    factor = np.zeros((4, 5))
    factor[:, :3] = rng.normal(size=(4, 3))
    rows = VertexRows.hard(vertex, factor, rng.normal(size=4), np.ones(4, bool), np.array([5, 40, 12, 7]))
    nothing = SparseRows.hard(sp.csr_matrix((0, len(b))), np.zeros(0), np.zeros(0, bool), np.zeros(0, np.int64))
    return A, b, rows, dense(rows, nothing)


@pytest.mark.parametrize("seed", range(4))
def test_a_pinned_direction_has_one_reaction_whoever_solves_it(seed):
    """Taken out of the unknowns by frames, by filtered gradients and by given directions, or by its dual."""
    A, b, own, rows = pinned(seed)
    u, reaction = Bilateral(rows, lambda right: np.linalg.solve(A, right)).solve(np.linalg.solve(A, b))
    sparse = SparseProgram().solve(sp.csc_matrix(A), b, unknowns(), own)
    listed = SparseRows(rows.target, rows.low, rows.high, rows.compliance, rows.name, sp.csr_array(rows.G))
    filtered, impulse = FilteredProgram(sp.csc_array(A), listed).solve(b)
    directions = np.linalg.pinv(rows.G)
    eliminated = EliminatedRows(rows, directions)
    given, own_impulse = eliminated.solve(np.linalg.solve(A, b), np.linalg.solve(A, rows.G.T))
    for other in (sparse.u, filtered, given):
        assert other == pytest.approx(u, abs=1e-8 * np.abs(u).max())
    for other in (sparse.multipliers.at(rows.name), impulse, own_impulse,
                  eliminated.multipliers(A @ given - b).at(rows.name)):
        assert other == pytest.approx(reaction, abs=1e-8 * np.abs(reaction).max())


def test_elimination_leaves_iterates_on_the_rows_and_residuals_without_their_impulses():
    A, b, _, rows = pinned(1)
    eliminated = EliminatedRows(rows, np.linalg.pinv(rows.G))
    u = eliminated.impose(b)
    assert rows.G @ u == pytest.approx(rows.target, abs=1e-12)
    assert rows.G @ eliminated.direction_across(b) == pytest.approx(np.zeros(4), abs=1e-12)
    end, _ = Bilateral(rows, lambda right: np.linalg.solve(A, right)).solve(np.linalg.solve(A, b))
    assert eliminated.residual_across(A @ end - b) == pytest.approx(np.zeros(len(b)), abs=1e-10 * np.abs(b).max())
    order = np.random.default_rng(0).permutation(NODES)
    turned = eliminated.reorder(order).impose(b.reshape(-1, 3)[order].ravel())
    assert turned.reshape(-1, 3) == pytest.approx(u.reshape(-1, 3)[order], abs=1e-12)


@pytest.mark.parametrize("change", ["compliance", "low"])
def test_what_a_back_end_does_not_take_is_refused(change):
    A, b, own, rows = pinned(0)
    columns = {name: getattr(rows, name).copy() for name in ("target", "low", "high", "compliance", "name")}
    columns[change][0] = 0.5
    listed = SparseRows(**columns, matrix=sp.csr_array(rows.G))
    with pytest.raises(ValueError, match="hard equations"):
        FilteredProgram(sp.csc_array(A), listed)
    if change == "low":
        bounded_rows = SparseRows(**columns, matrix=sp.csr_matrix(rows.G))
        with pytest.raises(ValueError, match="multiplier is 0 at least"):
            SparseProgram().solve(sp.csc_matrix(A), b, unknowns(), own.of(slice(0)), bounded_rows)


@pytest.mark.parametrize("seed", range(4))
def test_a_dense_program_starts_from_multipliers_by_name(seed, monkeypatch):
    """Wherever the rows are now: the first guess of active rows is the last one, to the same bytes."""
    A, b, own, others = program(seed, joining=6)
    rows = dense(own, others)
    taken, solve = [], bounded.semismooth_newton

    def counted(*given):
        taken.append(int(solve(*given)))
        return taken[-1]

    monkeypatch.setattr(bounded, "semismooth_newton", counted)
    u, _, active = by_dual(A, b, rows)
    warm, _, again = by_dual(A, b, rows, active)
    turned, _, _ = by_dual(A, b, rows.of(np.random.default_rng(seed).permutation(len(rows))), active)
    assert taken[0] > 1 and taken[1:] == [1, 1]
    assert warm.tobytes() == u.tobytes() and again.value.tobytes() == active.value.tobytes()
    assert turned == pytest.approx(u, abs=1e-9 * np.abs(u).max())


def test_cones_start_from_friction_by_name():
    """Friction has the name of its contact, so a jam begins where it ended, in whatever order contacts are."""
    rng = np.random.default_rng(2)
    half, contacts = rng.normal(size=(12, 12)), 4
    A, N, T = half @ half.T + np.eye(12), rng.normal(size=(4, 12)), rng.normal(size=(8, 12))
    name, free = row_names(0, np.arange(contacts), 3), rng.normal(size=12) - 3.0 * N.sum(axis=0)

    def solved(order, warm):
        both = (2 * order[:, None] + np.arange(2)).ravel()
        rows = DenseRows(np.zeros(contacts), *bounds_of(np.zeros(contacts, bool)), np.zeros(contacts), name[order],
                         N[order])
        dual = DenseDual(lambda right: np.linalg.solve(A, right), DenseRows.none(12), rows,
                         ConeRows(T[both], np.zeros(8), np.full(contacts, 0.4)))
        return dual._guess(warm), dual.solve(free, warm), both

    _, found, _ = solved(np.arange(contacts), None)
    order = np.array([2, 0, 3, 1])
    guess, again, both = solved(order, found.active)
    assert np.count_nonzero(found.friction) >= 4
    assert guess[0] == pytest.approx(found.unilateral[order]) and guess[1] == pytest.approx(found.friction[both])
    assert again.u == pytest.approx(found.u, abs=1e-9)


@pytest.mark.parametrize("compliance", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_rows_whose_bounds_change_are_those_of_the_dense_dual(seed, compliance):
    """Equations alone, rows that may be exceeded, and drives with a largest effort, from rates with or without it."""
    A, b, own, others = program(seed, compliance)
    rows, free = dense(own, others), np.linalg.solve(A, b)

    def respond(right):
        return np.linalg.solve(A, right)

    equations, limits = rows.of(rows.is_equation), rows.of(~rows.is_equation)
    _, wanted = Bilateral(equations, respond).solve(free)
    assert BoundedRows(equations, respond).solve(free) == pytest.approx(wanted, abs=1e-9 * np.abs(wanted).max())
    most = np.geomspace(0.01, 100.0, len(limits))
    for bounds in ((limits.low, limits.high), (-most, most)):
        bounded_rows = replace(limits, low=bounds[0], high=bounds[1])
        dual = DenseDual(respond, DenseRows.none(len(b)), bounded_rows, ConeRows.none(len(b)))
        wanted = dual.solve(free).unilateral
        near = pytest.approx(wanted, abs=1e-6 * np.abs(wanted).max())
        program_of_rows = BoundedRows(limits, respond)
        present = np.linspace(-1.0, 1.0, len(limits))
        assert program_of_rows.solve(free, bounds) == near
        assert program_of_rows.solve(free + respond(limits.G.T @ present), bounds, present) == near
        assert BoundedRows(bounded_rows, respond, wanted).solve(free) == near
        assert np.count_nonzero(wanted) > 3
    assert (np.abs(wanted) == most).any() and (np.abs(wanted) < most).any()


def test_multipliers_of_a_table_are_found_in_another_order_too():
    name = np.array([40, 7, 12])
    found = RowMultipliers(name, np.array([1.0, 2.0, 3.0]))
    assert found.at(name) is found.value
    assert found.at(np.array([12, 40, 5, 7])).tolist() == [3.0, 1.0, 0.0, 2.0]
    assert found.at(name[::-1]).tolist() == [3.0, 2.0, 1.0]
    assert len(NO_MULTIPLIERS) == 0 and NO_MULTIPLIERS.at(name).tolist() == [0.0] * 3


def test_names_are_distinct_and_survive_the_memory_of_a_state():
    first, second, third = np.meshgrid([-1, 0, 65534], [-1, 5, 65534], [0, 3, 65000])
    names = np.concatenate([row_names(kind, first.ravel(), second.ravel(), third.ravel()) for kind in (0, 1, 15)])
    every = np.concatenate([names, tangent_names(names)])
    assert len(np.unique(every)) == len(every) and (names.astype(float).astype(np.int64) == names).all()


def test_tables_of_one_form_are_joined_with_all_they_say():
    _, _, own, others = program(5, 0.3)
    for table in (own, others, dense(own, others)):
        both = concatenate_tables(table.of(slice(2, None)), table.of(slice(2)))
        assert len(both) == len(table) and (np.sort(both.name) == np.sort(table.name)).all()
        order = np.concatenate([np.arange(2, len(table)), [0, 1]])
        assert (both.compliance == table.compliance[order]).all()
        assert (both.is_equation == table.is_equation[order]).all()
