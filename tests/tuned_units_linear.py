"""Small systems in which tuned constants of linear/ steer; see `tuned_units`."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit
from random_trees import random_tree

from solver.assembly.pattern import node_graph
from solver.errors import StepFailed
from solver.linear import quickest
from solver.linear.banded_cholesky import BandedCholesky
from solver.linear.block_krylov import largest
from solver.linear.blocks import LANES
from solver.linear.cholesky import fronts, lanes, multifrontal, symbolic_kernels
from solver.linear.cholesky.front_layout import FrontLayout
from solver.linear.cholesky.fronts import Fronts, LaterPatterns
from solver.linear.cholesky.mixed import Mixed
from solver.linear.cholesky.multifrontal import Multifrontal, Workspace
from solver.linear.cholesky.single import SingleFactor
from solver.linear.cholesky.symbolic import NodeGraph
from solver.linear.interface import NotPositiveDefinite
from solver.linear.secant_pairs import SecantPairs
from solver.linear.tree import springs
from solver.linear.tree.factor import TreeFactor
from solver.meshing.grid import box_tets


def _lower(graph, shift=0.1):
    """Lower triangle of a graph's Laplacian with blocks of 3 x 3."""
    graph = sp.csr_matrix(graph, dtype=float)
    laplacian = sp.diags(np.asarray(graph.sum(axis=0)).ravel() + shift) - graph
    lower = sp.tril(sp.kron(laplacian, np.eye(3) + 0.1, format="csc"), format="csc")
    lower.sort_indices()
    return lower


def _joined(graph):
    """Graph with an edge wherever another one, (n, n), has an entry beside its diagonal."""
    graph = sp.csr_matrix(graph + graph.T, dtype=float)
    graph.setdiag(0.0)
    graph.eliminate_zeros()
    graph.data[:] = 1.0
    return graph


def _chain(count, reach=1):
    return sp.diags([1.0] * (2 * reach), [k for k in range(-reach, reach + 1) if k], shape=(count, count))


@cache
def _box(*counts):
    """Nodes of a box of cells and the graph of its edges, without a diagonal."""
    nodes, tets = box_tets(counts, tuple(0.1 * count for count in counts))
    return nodes, _joined(node_graph(tets, len(nodes)))


def bands_that_are_narrow():
    """Whether bands of nodes that are joined with so many after them are factored as such."""
    found = []
    for reach in (1, 4, 7, 12):
        solver = BandedCholesky(SimpleNamespace(analyse=lambda lower, retained: None, why="", factored=0))
        solver.analyse(_lower(_chain(40, reach)), 0)
        found.append(solver._is_narrow)
    return found


def eigenvectors_of_close_eigenvalues():
    """Eigenvectors, to the last bit, of the largest eigenvalues, which differ by so little."""
    found = []
    for gap in (0.3, 0.1, 0.03, 1e-3):
        values = np.concatenate([1.0 - gap * np.arange(4), np.linspace(0.9 - 3 * gap, 0.0, 60)])
        first = np.random.default_rng(0).normal(size=(64, 2))
        found.append(largest(lambda x, values=values: values[:, None] * x, first, 2).tobytes())
    return found


def pairs_without_curvature():
    """Numbers of pairs of steps and changes with so much curvature."""
    found = []
    for curvature in (1e-12, 1e-7):
        pairs = SecantPairs(4)
        pairs.clear(2)
        pairs.add(np.array([1.0, 0.0]), np.array([curvature, 1.0]))
        found.append(len(pairs))
    return found


def solvers_that_are_worth_it():
    """Solvers that are chosen where they were so many times as fast."""
    return [quickest.Table([quickest.Measured("step", "bar", 10, 10, 1, {"cholmod": times, "mixed": 1.0})]).key(
        "step", [10]) for times in (0.9, 1.02, 1.2, 3.0)]


class _Diagonal:
    """A tree whose factor is the identity, while its matrix has other eigenvalues."""

    parent, dof = np.zeros(0, np.int32), np.zeros(1, np.int32)

    def __init__(self, values):
        self.values = values

    def substitute(self, u, wrench=None):
        return np.zeros((0, u.shape[1], 6))

    def multiply(self, parts, pairs, blocks, u, out):
        out[:] = self.values[:, None] * u
        return out


def iterations_with_far_springs():
    """Iterations on matrices with so many eigenvalues that are far apart, −1 where they do not converge."""
    found = []
    for count in (5, 60, 150):
        tree = _Diagonal(np.geomspace(1.0, 3e7 if count > 100 else 1e3, count))
        solver = springs.FarSprings(tree, (), np.zeros((0, 2)), np.zeros((0, 6, 6)))
        try:
            solver.solve(np.ones((count, 1)))
            found.append(solver.taken)
        except StepFailed:
            found.append(-1)
    return found


def springs_that_are_a_border():
    """Whether so many springs between so many bodies are a border."""
    found = [springs._may_be_border(*size) for size in ((200, 1000), (200, 10_000))]
    random = np.random.default_rng(0)
    for count in (20, 100, 200):
        tree = random_tree(25, random)
        tree.tie(count, random, 1.0)
        factor = TreeFactor(tree.parent, tree.dof)
        factor.factor(*tree.blocks)
        found.append(factor._far._border is not None)
    return found


def directions_of_springs():
    """Number of directions of a block with such singular values."""
    return len(springs.Terms(np.array([[0, 1]]), np.diag([1.0, 1e-5, 1e-12, 1e-16, 0.0, 0.0])[None]).first)


@cache
def _halves(rows, columns, side):
    if len(rows) * len(columns) <= 4:
        return [r * side + c for r in rows for c in columns]
    if len(rows) < len(columns):
        k = len(columns) // 2
        return [*_halves(rows, columns[:k], side), *_halves(rows, columns[k + 1:], side),
                *(r * side + columns[k] for r in rows)]
    k = len(rows) // 2
    return [*_halves(rows[:k], columns, side), *_halves(rows[k + 1:], columns, side),
            *(rows[k] * side + c for c in columns)]


@cache
def _square(side):
    """Graph of a square of springs, and an order of its nodes that dissects it."""
    grid = sp.kronsum(_chain(side), _chain(side)).tocsr()
    grid.setdiag(0.0)
    grid.eliminate_zeros()
    return grid, np.array(_halves(tuple(range(side)), tuple(range(side)), side), dtype=np.int32)


def _fronts(side):
    graph, order = _square(side)
    lower = _lower(graph)
    return Fronts(NodeGraph(lower.indptr, lower.indices, 0).tree(order).symbolic(), lower, Workspace()), lower


def layout_of_fronts():
    """Parts, stacked values and room of layouts of fronts, of a square and of nodes that are joined with the last."""
    loose, found = _lower(_joined(sp.bmat([[sp.csr_matrix((60, 60)), np.ones((60, 8))],
                                           [None, np.ones((8, 8))]]))), []
    for inside in (_fronts(24)[0],
                   Fronts(NodeGraph(loose.indptr, loose.indices, 0).tree().symbolic(), loose, Workspace())):
        layout = FrontLayout.of_all(inside)
        found.append(None if layout is None else (layout.parts, layout.stacked, layout.in_values.most))
    return found


def parts_of_an_elimination_tree():
    """Fronts at the top and in subtrees, and the memory of solves with many right-hand sides."""
    inside, lower = _fronts(24)
    found = [len(inside.top), inside.trees.tolist(), inside._works.shape]
    inside.factor(lower)
    groups = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("solver.linear.cholesky.supernodal.parallel_for",
                      lambda kernel, pieces, *_: groups.append(pieces))
        inside.half(np.zeros((3 * 24 * 24, 40)))
        inside.solve_lt(np.zeros((3 * 24 * 24, 300)))
    return found, groups


def stages_of_a_factor():
    """Pieces of the stages of a factor."""
    nodes, graph = _box(6, 6, 6)
    lower = _lower(graph)
    inside = Fronts(NodeGraph(lower.indptr, lower.indices, 0).tree().symbolic(), lower, Workspace())
    plan = multifrontal.multifrontal(inside, lower)
    return [stage.pieces for stage in plan._stages(lower.data, 1.0, np.zeros(1, np.float32))]


def updates_that_fit():
    """Whether update matrices of so many values fit where L has as many, or is small."""
    return [Multifrontal.fits.fget(SimpleNamespace(update_size=updates, _values=values,
                                                   _most=fronts.MOST_UPDATE_VALUES))
            for updates, values in ((5e6, 1.0), (5e7, 1.0), (4e7, 3e7), (1e8, 3e7), (1e8, 1e9), (5e8, 1e9))]


def pivots_that_are_lost():
    """Whether a factor in single precision is refused whose pivot is so small a part of the diagonal."""
    found = []
    for part in (1e-6, 1e-3):
        near = np.sqrt(1.0 - part)
        lower = sp.csc_matrix(np.tril(np.kron([[1.0, near], [near, 1.0]], np.eye(3)) + 1e-30 * np.ones((6, 6))))
        inside = Fronts(NodeGraph(lower.indptr, lower.indices, 0).tree().symbolic(), lower, Workspace())
        try:
            SingleFactor(inside).factor(lower)
            found.append(False)
        except NotPositiveDefinite:
            found.append(True)
    return found


def supernodes_that_are_joined():
    """First columns of supernodes of a box, and of random graphs."""
    found = []
    graphs = [sp.random(90, 90, share, random_state=seed, format="csr")
              for seed, share in ((0, 0.04), (1, 0.06), (2, 0.02))]
    for graph in (_box(4, 4, 3)[1], *graphs):
        lower = _lower(_joined(graph))
        tree = NodeGraph(lower.indptr, lower.indices, 0).tree()
        first, lengths = np.empty(tree.of.count + 1, np.int32), np.empty(tree.of.count, np.int32)
        made = symbolic_kernels.join_columns.py_func(tree.parent, tree.counts, first, lengths)
        found.append(first[: made + 1].tolist())
    # a supernode of five columns and few rows below a column with many
    first, lengths = np.empty(7, np.int32), np.empty(6, np.int32)
    made = symbolic_kernels.join_columns.py_func(
        np.array([1, 2, 3, 4, 5, -1], np.int32), np.array([6, 5, 4, 3, 2, 200], np.int32), first, lengths)
    return [*found, first[: made + 1].tolist()]


def _orders(side, pairs, steps):
    """Which orders are looked for, lasting or not, and the work of patterns of a square with so many more pairs."""
    graph, order = _square(side)
    looked, work = [], []

    def look(asked, lasts):
        looked.append(lasts)
        return order if lasts else np.arange(side * side, dtype=np.int32)

    later = LaterPatterns(_lower(graph), 0, look)
    later._first_tree = NodeGraph(*later._first, 0).tree(order)
    random = np.random.default_rng(0)
    for _ in range(steps):
        ends = random.integers(0, side * side, (pairs, 2))
        ends = ends[ends[:, 0] != ends[:, 1]]
        more = sp.coo_matrix((np.ones(len(ends)), tuple(ends.T)), shape=graph.shape).tocsr()
        lower = _lower(graph + more + more.T)
        later._symbolic(lower)
        work.append((len(looked), later._work, later._own is None))
    return looked, work


def orders_of_later_patterns():
    """Which orders are looked for where few and many pairs come and go in a square."""
    return [_orders(12, pairs, 20) for pairs in (8, 12, 30)]


def orders_of_large_patterns():
    """Which orders are looked for in squares of so many nodes, where many pairs come."""
    return [_orders(side, pairs, 1)[0] for side, pairs in ((36, 400), (50, 100), (50, 700))]


def _loops():
    """Dot products of a loop over rows of L, to the last bit."""
    loop = lanes._intrinsic(2, False)

    @njit
    def run(values, work):
        loop(values, 0, 11, work, 2 * LANES, 0, 9)

    random = np.random.default_rng(0)
    values, work = random.normal(size=40).astype(np.float32), random.normal(size=11 * LANES).astype(np.float32)
    run(values, work)
    return work.tobytes()


def columns_that_are_read_together():
    """Calls of loops over one and over several columns of a supernode, and an answer to the last bit."""
    calls = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lanes, "_forward_four", lambda *_: calls.append("several"))
        patch.setattr(lanes, "_forward_one", lambda *_: calls.append("one"))
        lanes.forward_lanes.py_func(np.ones(200, np.float32), 0, 12, 10, np.ones(12 * LANES, np.float32))
    return calls, _loops()


def answers_that_are_refined():
    """Solves with a single factor, and factors in double precision, for chains whose last link is so weak."""
    found = []
    for weak in (1.0, 1e-3, 1e-5, 1e-6):
        graph = _chain(100).tolil()
        graph[98, 99] = graph[99, 98] = weak
        lower = _lower(graph, 1e-6)
        solver = Mixed()
        solver.analyse(lower, 3)
        solver.factor(lower)
        solver.condense()
        found.append(solver.taken)
        solver.solve(np.random.default_rng(0).normal(size=300))
        found += [solver.taken, solver.in_double]
    return found


UNITS = tuple(value for name, value in list(globals().items())
              if callable(value) and getattr(value, "__module__", "") == __name__ and not name.startswith("_"))
