"""Dynamic patches: compared with dense algebra and single nodes, with conserved quantities and visible errors."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from bodies import NONE, box, make, nearest, positions, rows, run, stiffness
from matrix import crossed, some

from solver.coordinates.patches import Patch, Patches, affine, mean, mean_and_rotation
from solver.parts.stage import NodeStage
from solver.state import State

H = 1 / 96
BAR = box((6, 2, 2), (0.12, 0.04, 0.04))
WAYS = [mean, mean_and_rotation, affine]


def at_root(nodes):
    return np.flatnonzero(nodes[:, 0] < 1e-9)


def around(nodes, *places, radius=0.021):
    return [np.flatnonzero(np.linalg.norm(nodes - place, axis=1) <= radius).astype(np.int32) for place in places]


def bar(ways=mean, places=((0.12, 0.02, 0.04), (0.06, 0.02, 0.0)), pinned=at_root, **more):
    """ways: of all spots, or of each."""
    nodes, tets = BAR
    each = ways if isinstance(ways, tuple) else (ways,) * len(places)
    patches = [Patch(spot, way) for spot, way in zip(around(nodes, *places), each)]
    still = NONE if pinned is None else pinned(nodes)
    return make(nodes, tets, **{"pinned": still, "young": 5e3, "patches": patches, **more})


def posed(world, state, h=H):
    lin = world.linearise(state)
    return lin, world.condensation.pose(lin, NodeStage(h, 1.0, 1.0, h, None, lin.v, None, beta=1.0))


def shaken(world, seed=0, size=5e-4):
    state = world.initial_state()
    rng = np.random.default_rng(seed)
    q = state.q + size * rng.normal(size=state.q.shape)
    return State(0.0, q, 0.1 * rng.normal(size=state.q.shape))


@pytest.mark.parametrize("ways,unknowns", [(mean, 3), (mean_and_rotation, 6), (affine, 12)])
def test_the_amplitudes_are_those_of_the_motion(ways, unknowns):
    """A patch that moves in one of its ways has that amplitude and no other."""
    nodes, _ = BAR
    mass = np.linspace(1.0, 2.0, len(nodes))
    spot = around(nodes, (0.06, 0.02, 0.02))[0]
    patches = Patches(nodes, mass, [Patch(spot, ways)])
    C = patches.rows(nodes)
    assert len(C) == patches.unknowns == unknowns
    arms = nodes[spot] - np.average(nodes[spot], axis=0, weights=mass[spot])
    moved = np.zeros((*nodes.shape, unknowns))
    moved[spot] = ways(arms, arms)
    found = np.einsum("cna,nad->cd", C, moved)
    assert np.linalg.matrix_rank(found, tol=1e-9 * np.abs(found).max()) == unknowns
    # what has no mean and no gradient is none of its amplitudes
    fine = np.random.default_rng(0).normal(size=(len(spot), 3))
    basis = ways(arms, arms).reshape(-1, unknowns)
    weight = np.repeat(mass[spot], 3)
    seen = np.linalg.solve(basis.T @ (weight[:, None] * basis), basis.T @ (weight * fine.ravel()))
    fine = fine.ravel() - basis @ seen
    left = np.zeros_like(nodes)
    left[spot] = fine.reshape(-1, 3)
    assert np.abs(np.einsum("cna,na->c", C, left)).max() <= 1e-12


@pytest.mark.parametrize("spot,ways,unknowns", [(1, affine, 3), (2, mean_and_rotation, 5), (3, affine, 9)])
def test_a_spot_of_few_nodes_has_only_the_ways_that_it_can_tell_apart(spot, ways, unknowns):
    nodes = np.array([[0.0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    patch = Patch(np.arange(spot, dtype=np.int32), ways)
    assert Patches(nodes, np.ones(4), [patch]).unknowns == unknowns


@pytest.mark.parametrize("ways", [*WAYS, (affine, mean_and_rotation)], ids=["mean", "turn", "affine", "each its own"])
@pytest.mark.parametrize("also", [False, True], ids=["patches alone", "beside a dynamic node"])
def test_a_step_is_the_dense_step(ways, also):
    nodes, _ = BAR
    dynamic = [nearest(nodes, (0.1, 0.04, 0.0))] if also else NONE
    world = bar(ways, dynamic=dynamic, beta=0.6, gamma=0.4)
    state = shaken(world)
    after = world.step(state, H)

    x = positions(world, state)
    K, f = stiffness(world, x)
    free = rows(world.coordinates.free)
    K, f, M = K[np.ix_(free, free)], f[free], np.repeat(world.mass, 3)[free]
    C = np.concatenate([world.condensation.patches.rows(x).reshape(-1, K.shape[0] + 3 * len(at_root(nodes)))[:, free],
                        np.eye(3 * len(nodes))[rows(dynamic)][:, free] if also else np.zeros((0, len(free)))])
    V = np.linalg.solve(K, C.T)
    v = V @ np.linalg.solve(V.T @ (np.diag(M) - 0.6 * H**2 * K) @ V, V.T @ (M * state.u + H * f))
    assert np.abs(after.u - v).max() <= 1e-9 * np.abs(v).max()
    # b balances f with the amplitudes held
    b = -np.linalg.solve(K, f)
    b -= V @ np.linalg.solve(C @ V, C @ b)
    assert np.abs(after.q - state.q - H * v - 0.4 * b).max() <= 1e-9


@pytest.mark.parametrize("integrator", ["semi_implicit", "ssdirk2", "sdirk2"])
def test_patches_of_one_node_are_dynamic_nodes(integrator):
    nodes, _ = BAR
    single = [nearest(nodes, place) for place in [(0.12, 0.04, 0.04), (0.06, 0.0, 0.04), (0.02, 0.04, 0.0)]]
    ones = bar(patches=(), dynamic=single, integrator=integrator, tolerance=1e-9)
    whole = bar(patches=[Patch(np.array([node], np.int32), mean) for node in single], integrator=integrator,
                tolerance=1e-9)
    state = ones.initial_state()
    state = replace(state, u=np.cross([3.0, 5.0, -2.0], positions(ones, state))[ones.coordinates.free].ravel())
    one, other = run(ones, 3, H, state), run(whole, 3, H, state)
    assert np.abs(one.q - other.q).max() <= 1e-6 * np.abs(one.q - state.q).max()


@pytest.mark.parametrize("integrator, ways", crossed(["semi_implicit", "sdirk2"], [affine, mean]))
def test_a_free_body_falls_and_its_patches_swing(integrator, ways):
    """Weight is no load on patches, and what they do pushes nothing but the body itself."""
    world = bar(ways, pinned=None, integrator=integrator, tolerance=1e-9)
    state = world.initial_state()
    fallen = run(world, 12, H, state)
    mass = world.mass[:, None]
    dropped = (positions(world, fallen) - positions(world, state))
    assert np.abs(dropped - dropped.mean(axis=0)).max() <= 1e-7
    spot = around(BAR[0], (0.12, 0.02, 0.04))[0]
    u = np.zeros_like(BAR[0])
    u[spot] = [0.0, 0.0, 0.5]
    pushed = replace(state, u=u.ravel())
    after = run(world, 12, H, pushed)
    p0, p1 = (mass * u).sum(axis=0), (mass * after.u.reshape(-1, 3)).sum(axis=0)
    assert np.abs(p1 - p0 - 12 * H * mass.sum() * np.array([0, 0, -9.81])).max() <= 1e-6 * np.abs(p0).max()
    strained = positions(world, after) - positions(world, after).mean(axis=0)
    assert np.abs(strained - (BAR[0] - BAR[0].mean(axis=0))).max() >= 1e-4


def test_at_rest_nothing_moves():
    world = bar(mean_and_rotation, integrator="sdirk2", tolerance=1e-9, quasistatic_start=True)
    start = world.initial_state()
    assert np.abs(positions(world, start) - BAR[0]).max() > 1e-3
    assert np.abs(run(world, 5, H, start).q - start.q).max() <= 1e-8


def test_passes_on_a_reused_factor_come_to_the_root_that_newton_finds():
    """With the patches held, forces are in balance but for those that all of a patch's nodes share."""
    world = bar(affine, integrator="sdirk2", tolerance=1e-10)
    state = run(world, 4, 1 / 48)
    x = positions(world, state)
    force, _ = world.evaluate(x, state.time)
    free = world.coordinates.free
    C = world.condensation.patches.rows(x)[:, free].reshape(-1, 3 * len(free))
    f = force[free].ravel()
    left = f - C.T @ np.linalg.lstsq(C.T, f, rcond=None)[0]
    weight = 9.81 * world.mass.max()
    assert np.abs(left).max() <= 1e-4 * weight and np.abs(f).max() > 1e-2 * weight


def test_a_patch_swings_as_the_body_does_where_its_middle_node_dents():
    """The slowest wobble that two corners can tell, by single nodes and by patches around them, and the body's own."""
    nodes, _ = BAR
    places = [(0.12, 0.0, 0.04), (0.12, 0.04, 0.0)]

    def slowest(**more):
        world = bar(mean, places, gravity=(0, 0, 0), **more)
        _, stage = posed(world, world.initial_state())
        inert = stage.velocities * np.repeat(world.mass[world.condensation.pattern.order], 3)[:, None]
        return scipy.linalg.eigh(-stage.motion.product, stage.velocities.T @ inert, eigvals_only=True)[0] ** 0.5

    world = bar(gravity=(0, 0, 0))
    free = rows(world.coordinates.free)
    K = stiffness(world, nodes)[0][np.ix_(free, free)]
    body = scipy.linalg.eigh(-K, np.diag(np.repeat(world.mass, 3)[free]), eigvals_only=True)[0] ** 0.5
    node, patch = slowest(patches=(), dynamic=[nearest(nodes, place) for place in places]), slowest()
    print(node / body, patch / body)
    assert 1.0 <= patch / body <= 1.06 and node / body - 1.0 >= 2.0 * (patch / body - 1.0)


@pytest.mark.parametrize("integrator, steps", some([("semi_implicit", 96), ("sdirk2", 24), ("sdirk2", 96)],
                                                    ("semi_implicit", 96)))
def test_it_lands_and_comes_to_rest(integrator, steps):
    world = bar(mean, pinned=None, integrator=integrator, ground=(-0.01, 200.0), young=3e4, tolerance=1e-5)
    state = run(world, steps)
    z = positions(world, state)[:, 2]
    assert -0.02 <= z.min() and z.max() <= 0.06
    assert np.isfinite(state.q).all()

