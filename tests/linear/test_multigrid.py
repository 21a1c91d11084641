"""Multigrid answers what a direct factor answers, in iterations that do not grow with the mesh."""

import numpy as np
import pytest
import scipy.sparse as sp
from bodies import NONE, box, make, nearest, positions, run, settled
from installed import DIRECT
from matrix import some
from scipy.spatial.transform import Rotation

from solver import threads
from solver.assembly.pattern import Pattern
from solver.coordinates.prescribed import Motion
from solver.linear.interface import NotPositiveDefinite
from solver.linear.multigrid.hierarchy import Hierarchy
from solver.linear.multigrid.solver import Multigrid
from solver.meshing.grid import box_tets


def pinned_bar(cells, poisson=0.45, turn=None, linear="multigrid"):
    """−K of a bar 1 x 1 x 4 that hangs on its lower end, its nodes' places; maybe turned as a whole."""
    nodes, tets = box_tets(cells, (0.1, 0.1, 0.4))
    world = make(nodes, tets, poisson=poisson, linear=linear)
    free = np.flatnonzero(nodes[:, 2] > 0.0).astype(np.int32)
    pattern = Pattern(world.tets, free, len(nodes))
    x = nodes if turn is None else nodes @ turn.as_matrix().T
    lin = world.linearise_at(x, None, 0.0)
    pattern.gather(lin.blocks, lin.node_blocks, -1.0, np.zeros(len(nodes)))
    return pattern.matrix(), x[free]


def iterations(lower, places, tolerance=1e-8):
    solver = Multigrid()
    solver.tolerance = tolerance
    solver.analyse(lower, 0)
    solver.factor(lower, places)
    right = np.random.default_rng(0).normal(size=lower.shape[0])
    answer = solver.solve(right)
    whole = lower + sp.tril(lower, -1).T
    assert np.linalg.norm(whole @ answer - right) <= 1.1 * tolerance * np.linalg.norm(right)
    return solver.taken


@pytest.mark.parametrize("poisson", [0.3, 0.45])
def test_iterations_do_not_grow_with_the_mesh(poisson):
    few = iterations(*pinned_bar((4, 4, 16), poisson))
    many = iterations(*pinned_bar((10, 10, 40), poisson))
    assert many <= few + 8 and many <= 30


def test_a_body_that_has_turned_is_solved_as_quickly_since_its_nodes_places_are_known():
    turn = Rotation.from_rotvec([1.2, -0.7, 0.5])
    lower, places = pinned_bar((8, 8, 32), turn=turn)
    still = iterations(*pinned_bar((8, 8, 32)))
    assert iterations(lower, places) <= still + 2
    assert iterations(lower, turn.inv().apply(places)) > still + 5


SCENES = {
    "held": {"pinned": True},
    "loose": {"ground": (-0.05, 200.0)},
    "corrected": {"pinned": True, "corrections": 2},
    "damped": {"pinned": True, "damping": ("rayleigh", 1e-3, 0.5)},
    "moved": {"pinned": True, "motion": True, "corrections": 1},
    "in stages": {"pinned": True, "integrator": "sdirk2"},
}


BODIES = [(method, scene) for method in ("vanilla", "conjac") for scene in SCENES]


@pytest.mark.parametrize("method, scene", some(
    BODIES, ("vanilla", "held"), ("conjac", "loose"), ("conjac", "corrected"), ("vanilla", "damped"),
    ("conjac", "moved"), ("vanilla", "in stages")))
def test_bodies_move_as_with_a_direct_factor(method, scene):
    nodes, tets = box((16, 6, 6), (0.16, 0.06, 0.06))
    settings = dict(SCENES[scene])
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9) if settings.pop("pinned", False) else NONE
    if settings.pop("motion", False):
        path = nodes[pinned] + 0.02 * np.sin(np.linspace(0, 3, 41))[:, None, None] * [0, 1, 0]
        settings["motion"] = Motion(path, 1 / 120)
    dynamic = [nearest(nodes, (0.16, 0.03, 0.03)), nearest(nodes, (0.08, 0.03, 0.06))]
    ends = []
    for linear in (DIRECT, "multigrid"):
        world = make(nodes, tets, dynamic=dynamic, pinned=pinned, method=method, linear=linear, **settings)
        assert linear == DIRECT or len(_hierarchy(world).levels) > 0
        ends.append(positions(world, run(world, 7)))
    moved = np.abs(ends[0] - nodes).max()
    assert moved > 0.005 and np.abs(ends[0] - ends[1]).max() <= 3e-6 * moved


def _hierarchy(world):
    """Return the hierarchy of a world that has made one step."""
    run(world, 1)
    return world.linear._hierarchy


@pytest.mark.long
def test_a_body_comes_to_rest_where_it_does_with_a_direct_factor():
    """Balance of forces does not depend on how well J is known."""
    nodes, tets = box((12, 4, 4), (0.12, 0.04, 0.04))
    pinned, dynamic = np.flatnonzero(nodes[:, 0] < 1e-9), [nearest(nodes, (0.12, 0.02, 0.02))]
    ends = []
    for linear, tolerance in ((DIRECT, None), ("multigrid", 1e-4)):
        world = make(nodes, tets, dynamic=dynamic, pinned=pinned, linear=linear, beta=2.0)
        if tolerance:
            world.linear.tolerance = tolerance
        ends.append(positions(world, settled(world, 400, 1 / 24, moves=1e-10)))
    assert np.abs(ends[0] - nodes).max() > 0.01
    assert np.abs(ends[0] - ends[1]).max() <= 1e-6 * 0.12


def stepped(count, steps=6):
    threads.configure(count)
    try:
        nodes, tets = box((16, 6, 6), (0.16, 0.06, 0.06))
        world = make(nodes, tets, dynamic=[nearest(nodes, (0.16, 0.03, 0.03))], linear="multigrid",
                     pinned=np.flatnonzero(nodes[:, 0] < 1e-9))
        return world, run(world, steps)
    finally:
        threads.configure(None)


def test_bytes_do_not_depend_on_the_number_of_threads():
    assert stepped(1)[1].q.tobytes() == stepped(2)[1].q.tobytes()


def test_a_step_after_a_snapshot_does_not_depend_on_what_was_before():
    world, state = stepped(2)
    world.forget_past()
    fresh, _ = stepped(2, 0)
    assert world.step(state, 1 / 120).q.tobytes() == fresh.step(state, 1 / 120).q.tobytes()


def test_the_v_cycle_is_reused_while_it_serves_and_the_last_answer_is_a_start():
    lower, places = pinned_bar((6, 6, 24))
    solver = Multigrid()
    solver.analyse(lower, 12)
    for _ in range(4):
        solver.factor(lower, places)
        first = solver.condense()
    assert solver.built == 1 and solver.taken == 0
    assert np.abs(first).max() > 0.1
    # a material twice as stiff is the same preconditioned problem
    lower.data *= 2.0
    solver.factor(lower, places)
    assert solver.built == 1 and np.abs(solver.condense() - first).max() <= 1e-5 * np.abs(first).max()


@pytest.mark.parametrize("decades", [0.6, 3.0])
def test_a_v_cycle_that_has_aged_is_built_anew(decades):
    """Bars that differ so much that a V-cycle of their own pays, or that nothing else will do."""
    lower, places = pinned_bar((6, 6, 24))
    # softer towards the free end
    weight = np.repeat(10.0 ** (-0.5 * decades * places[:, 2] / 0.4), 3)
    aged = lower.copy()
    aged.data *= weight[lower.indices] * np.repeat(weight, np.diff(lower.indptr))
    solver = Multigrid()
    solver.analyse(lower, 0)
    right = np.random.default_rng(1).normal(size=lower.shape[0])
    solver.factor(lower, places)
    solver.solve(right)
    taken = []
    for k in range(6):
        solver.factor(aged, places)
        solver.solve(np.roll(right, 7 * k + 1))
        taken.append(solver.taken)
    own = iterations(aged, places, solver.tolerance)
    assert solver.built == 2 and max(taken[2:]) <= own + 3, (solver.built, own, taken)


def test_what_is_not_positive_definite_is_refused():
    lower, places = pinned_bar((4, 4, 16))
    solver = Multigrid()
    solver.analyse(lower, 0)
    turned = lower.copy()
    turned.data *= -1.0
    with pytest.raises(NotPositiveDefinite):
        solver.factor(turned, places)
    solver.factor(lower, places)
    solver.factor(turned, places)  # the V-cycle is kept, so nothing is noticed yet
    with pytest.raises(NotPositiveDefinite):
        solver.solve(np.ones(lower.shape[0]))


def test_hundreds_of_pieces_that_do_not_hang_together():
    lower, _ = pinned_bar((2, 2, 2))
    many = sp.block_diag([lower] * 200, format="csc")
    many.sort_indices()
    solver = Multigrid()
    solver.analyse(many, 0)
    solver.factor(many)
    right = np.random.default_rng(3).normal(size=many.shape[0])
    assert np.linalg.norm((many + sp.tril(many, -1).T) @ solver.solve(right) - right) <= 1e-6 * np.linalg.norm(right)


def test_columns_come_out_the_same_one_by_one_and_in_strips():
    lower, places = pinned_bar((5, 5, 20))
    solver = Multigrid()
    solver.tolerance = 1e-11
    solver.analyse(lower, 0)
    solver.factor(lower, places)
    right = np.random.default_rng(4).normal(size=(lower.shape[0], 19))
    together = solver.solve(right)
    alone = np.stack([solver.solve(column) for column in right.T], axis=1)
    assert np.abs(together - alone).max() <= 1e-8 * np.abs(alone).max()


def test_the_v_cycle_is_symmetric():
    lower, places = pinned_bar((5, 5, 20))
    solver = Multigrid()
    solver.analyse(lower, 0)
    solver.factor(lower, places)
    hierarchy: Hierarchy = solver._hierarchy
    a, b = np.random.default_rng(5).normal(size=(2, 1, lower.shape[0], 1)).astype(np.float32)
    of_a, of_b = hierarchy.solve(a).copy(), hierarchy.solve(b).copy()
    along, across = float(np.vdot(of_a, b)), float(np.vdot(a, of_b))
    scale = np.sqrt(np.vdot(of_a, a) * np.vdot(of_b, b))
    assert abs(along - across) <= 1e-5 * scale and np.vdot(of_a, a) > 0
