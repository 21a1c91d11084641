"""Small systems in which tuned constants of linear/multigrid steer; see `tuned_units`."""

from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp
from tuned_units_contact import Interpreted
from tuned_units_linear import _box, _chain, _lower

from solver.errors import StepFailed
from solver.linear.blocks import Blocks
from solver.linear.multigrid import aggregates
from solver.linear.multigrid.hierarchy import Hierarchy
from solver.linear.multigrid.solver import Multigrid


def _blocks(graph, weights=None):
    return Blocks.of(_whole(graph, weights).tobsr((3, 3)), np.float64)


def _whole(graph, shift=None):
    lower = _lower(graph, 0.1 if shift is None else shift)
    return sp.csr_matrix(lower + sp.tril(lower, -1).T)


def aggregates_of_a_grid():
    """Numbers of aggregates of grids whose nodes are joined so weakly in one direction."""
    found = []
    for weak in (0.02, 0.2):
        grid = sp.kronsum(_chain(12), weak * _chain(12)).tocsr()
        grid.setdiag(0.0)
        found.append(aggregates.aggregates(_blocks(grid))[0])
    return found


def modes_of_an_aggregate_that_depend_on_each_other():
    """Numbers of modes of aggregates so much smaller than their distance."""
    near = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    positions = np.concatenate([1e-6 * near, [[1.0, 2.0, 3.0]] + 1e-3 * near])
    with Interpreted(aggregates):
        modes = aggregates.make_rigid_modes(positions)
        coarse = aggregates.tentative(2, np.repeat([0, 1], 4).astype(np.int32), modes)[1]
    return [int(np.count_nonzero(np.diagonal(block))) for block in coarse]


def levels_of_multigrid():
    """Numbers of levels for so many cells, the bound of eigenvalues and an answer of the V-cycle, to the last bit."""
    found = []
    for counts in ((5, 5, 5), (7, 7, 7)):
        nodes, graph = _box(*counts)
        hierarchy = Hierarchy(_blocks(graph), nodes)
        right = np.random.default_rng(0).normal(size=(1, 3 * len(nodes), 1)).astype(np.float32)
        found += [len(hierarchy.levels), [level.largest for level in hierarchy.levels],
                  hierarchy.solve(right).tobytes()]
    return found


def answers_of_multigrid():
    """Numbers of iterations and V-cycles of matrices that change."""
    nodes, graph = _box(7, 7, 7)
    solver, found, random = Multigrid(), [], np.random.default_rng(0)
    right = random.normal(size=3 * len(nodes))
    solver.analyse(_lower(graph), 0)
    for change in (0.0, 0.3, 1.0, 2.0, 2.5, 3.0, 3.0, 3.0):
        stiff = sp.csr_matrix(graph.multiply(np.exp(change * np.outer(nodes[:, 0], np.ones(len(nodes))) * 5.0)))
        solver.factor(_lower(stiff + stiff.T), nodes)
        solver.solve(right)
        found += [solver.taken, solver.built]
    return found


def _chained(count, shift=1e-6):
    """Whether multigrid solves a chain whose V-cycle does nothing, and whether one that is outdated is made anew."""
    solver, lower = Multigrid(), _lower(_chain(count), shift)
    solver.analyse(lower, 0)
    solver.factor(lower)
    solver._hierarchy = SimpleNamespace(solve=lambda rhs: rhs)
    return solver, lower


def iterations_of_multigrid():
    """Whether iterations on chains of so many nodes converge, with a V-cycle that does nothing."""
    found = []
    for count in (40, 120, 700):
        solver, _ = _chained(count)
        solver._build = lambda: None
        try:
            solver.solve(np.random.default_rng(0).normal(size=3 * count))
            found.append(True)
        except StepFailed:
            found.append(False)
    return found


def iterations_with_an_old_cycle():
    """Numbers of V-cycles for chains of so many nodes, where one that does nothing is there from an earlier matrix."""
    found = []
    for count in (3, 5, 8, 35, 130):
        solver, lower = _chained(count)
        solver._built_for = 0
        solver.solve(np.random.default_rng(0).normal(size=3 * count))
        found.append(solver.built)
    return found


UNITS = (
    aggregates_of_a_grid, modes_of_an_aggregate_that_depend_on_each_other, levels_of_multigrid,
    answers_of_multigrid, iterations_of_multigrid, iterations_with_an_old_cycle)
