"""Small systems in which tuned constants of iterative linear solvers steer; see `tuned_units`."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from tuned_units_contact import Interpreted
from tuned_units_sliding import stand_in

from solver.linear.blocks import Blocks
from solver.linear.multigrid import aggregates, hierarchy
from solver.linear.multigrid.solver import Multigrid
from solver.linear.quickest import Measured, Table
from solver.linear.secant_pairs import SecantPairs


def pairs_without_curvature():
    """Numbers of pairs of steps and changes whose cosine is so much."""
    found = []
    for cosine in (1e-12, 1e-7):
        pairs = SecantPairs(3)
        pairs.clear(2)
        pairs.add(np.array([1.0, 0.0]), np.array([cosine, 1.0]))
        found.append(len(pairs))
    return found


def solvers_that_are_a_little_faster():
    """Whether another solver is taken that is by 3 % and by 20 % faster."""
    return [bool(Table([Measured("use", "box", 10, 10, 1, {"cholmod": faster, "other": 1.0})]).least)
            for faster in (1.03, 1.2)]


def _chain(count, coupling=0.4):
    """A chain of nodes as 3 × 3 blocks."""
    line = sp.diags([np.full(count - 1, -coupling), np.ones(count), np.full(count - 1, -coupling)], [-1, 0, 1])
    return Blocks.of(sp.kron(line, sp.identity(3)).tobsr((3, 3)), np.float64)


def neighbours_of_a_chain():
    """Numbers of aggregates of chains that are coupled weakly and strongly."""
    return [aggregates.aggregates(_chain(30, coupling))[0] for coupling in (0.03, 0.2)]


def modes_of_an_aggregate():
    """Which modes of an aggregate are its own that differ from the first one by so much."""
    modes = np.zeros((4, 3, 6))
    modes[:, 0] = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    modes[0, 1, 1], modes[0, 1, 2] = 1e-6, 1e-2
    with Interpreted(aggregates):
        return (np.diagonal(aggregates.tentative(1, np.zeros(4, np.int32), modes)[1][0]) > 0.0).tolist()


def levels_of_a_chain():
    """Numbers of levels of chains of 150 and of 600 nodes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hierarchy, "_exact", lambda matrix: None)
        return [len(hierarchy.Hierarchy(_chain(count), None).levels) for count in (150, 600)]


def largest_eigenvalue_of_a_chain():
    """Bound of the largest eigenvalue of a chain, which is 1.8, to the last bit."""
    return hierarchy._largest(Blocks.of(_chain(40).scipy().tobsr((3, 3)), np.float32),
                              np.tile(np.eye(3, dtype=np.float32), (40, 1)))


def steps_of_a_smoother():
    """Factors of the steps of a smoothing polynomial."""
    return hierarchy._chebyshev(1.8)


def iterations_of_multigrid():
    """Iterations of a solve of a chain."""
    solver = Multigrid()
    lower = sp.csc_matrix(sp.tril(_chain(310, 0.4999).scipy()))
    solver.analyse(lower, 0)
    solver.factor(lower)
    solver.solve(np.sin(np.arange(930.0)))
    return solver.taken


def iterations_that_multigrid_may_take():
    """Whether a V-cycle may take more than 100 and less than 3,000 iterations, and an old one 20 to 300."""
    found = []
    for built_for in (1, 0):
        columns = SimpleNamespace(solve=lambda *_: True, most=0)
        solver = stand_in(Multigrid, _hierarchy=SimpleNamespace(solve=None), _columns=columns, _built_for=built_for,
                          factored=1, _spread=SimpleNamespace(blocks=None), _since=0, taken=0)
        Multigrid._iterate(solver, None, None)
        found.append(columns.most)
    return 100 < found[0], found[0] < 3000, 20 < found[1], found[1] < 300


def cycles_that_are_outdated():
    """Whether V-cycles are outdated whose last matrix took a few, and many, more iterations than the one before."""
    return [Multigrid._is_outdated.fget(stand_in(Multigrid, _spent=spent)) for spent in ([2, 7], [2, 20])]


UNITS = (
    pairs_without_curvature, solvers_that_are_a_little_faster, neighbours_of_a_chain, modes_of_an_aggregate,
    levels_of_a_chain, largest_eigenvalue_of_a_chain, steps_of_a_smoother, iterations_of_multigrid,
    iterations_that_multigrid_may_take, cycles_that_are_outdated)
