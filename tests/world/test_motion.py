"""Bodies that fall, fly, rest and are shaken."""

import numpy as np
import pytest
from bodies import box, make, nearest, positions, rows, run, settled, stiffness
from matrix import some

from solver.coordinates.floating import FloatingParts
from solver.coordinates.prescribed import Concatenated, Constant, Motion, Transformed
from solver.meshing.volume import tet_volumes
from solver.nonlinear.equilibrium import equilibrium
from solver.simulate import Timeline, advance_frame
from solver.state import State

H = 1 / 120
SPOTS = [(0.0, 0.0, 0.0), (0.16, 0.04, 0.0), (0.08, 0.04, 0.04), (0.16, 0.0, 0.04)]


def ends(nodes):
    return np.flatnonzero(nodes[:, 0] < 1e-9)


def total(world, state):
    return world.mass[world.coordinates.free] @ state.u.reshape(-1, 3)


@pytest.mark.parametrize("linear", ["cholmod", "mixed"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_a_falling_body_keeps_its_shape(count, linear):
    nodes, tets = box()
    world = make(nodes, tets, young=1e4, linear=linear, dynamic=[nearest(nodes, p) for p in SPOTS[:count]])
    state = run(world, 30)
    x = positions(world, state)
    t = 30 * H
    # linearly implicit Euler falls h g more than t² g / 2 in the first step, and exactly so
    fall = -9.81 * (0.5 * t * t + 0.5 * H * t)
    room = 10.0 if linear == "mixed" else 1.0  # its J has fewer digits
    assert np.abs(x - nodes - [0, 0, fall]).max() <= room * 1e-6 * 0.16
    assert np.abs(state.u.reshape(-1, 3) - [0, 0, -9.81 * t]).max() <= (5e-5 if linear == "mixed" else 1e-9)


@pytest.mark.parametrize("linear", ["cholmod", "mixed"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_momentum_of_a_flying_body_is_exact(count, linear):
    """Turning, wobbling, far from rest: each step adds h m g and nothing else."""
    nodes, tets = box()
    world = make(nodes, tets, dynamic=[nearest(nodes, p) for p in SPOTS[:count]], gravity=(0.5, 0, -9.81),
                 linear=linear)
    state = world.initial_state()
    rng = np.random.default_rng(1)
    spin = np.cross([2.0, -1.0, 3.0], nodes - nodes.mean(0)) + [1.0, 0.2, 0.0]
    q = state.q + 5e-4 * rng.normal(size=state.q.shape)
    state = run(world, 1, state=type(state)(0.0, q, spin.ravel()))
    before = total(world, state)
    for _ in range(40):
        state = world.step(state, H)
    want = before + 40 * H * world.mass.sum() * np.array([0.5, 0, -9.81])
    assert np.abs(total(world, state) - want).max() <= (1e-7 if linear == "mixed" else 1e-9) * np.abs(want).max()


@pytest.mark.parametrize("count,modes", [(0, 6), (1, 3), (2, 1), (3, 0)])
def test_rigid_motions_that_dynamic_nodes_leave(count, modes):
    nodes, tets = box()
    world = make(nodes, tets, dynamic=[nearest(nodes, p) for p in SPOTS[:count]])
    K, _ = stiffness(world, nodes)
    q = np.setdiff1d(np.arange(3 * len(nodes)), rows([nearest(nodes, p) for p in SPOTS[:count]]))
    values = np.linalg.eigvalsh(-K[np.ix_(q, q)])
    assert (values < 1e-9 * values.max()).sum() == modes
    assert sum(group.modes for group in world.condensation.anchors.floating.groups) == modes
    state = world.initial_state()
    lin = world.linearise(state)
    from solver.parts.stage import NodeStage
    stage = NodeStage(H, 1.0, 1.0, H, None, lin.v, None, beta=world.condensation.beta)
    assert world.condensation.pose(lin, stage).velocities.shape[1] == 3 * count + modes


def test_nodes_on_a_line_leave_one_turn_however_many():
    nodes, tets = box()
    line = np.flatnonzero((nodes[:, 1] < 1e-9) & (nodes[:, 2] < 1e-9))
    world = make(nodes, tets, pinned=line, dynamic=[])
    assert [group.modes for group in world.condensation.anchors.floating.groups] == [1]
    state = run(world, 60)
    x = positions(world, state)
    assert np.abs(x[line] - nodes[line]).max() == 0.0
    # it swings down about the line as one piece
    assert x[:, 2].mean() < nodes[:, 2].mean() - 0.02
    assert np.abs(np.linalg.norm(x[-1] - x[line[0]]) - np.linalg.norm(nodes[-1] - nodes[line[0]])) < 0.02 * 0.16


def test_parts_that_hang_by_an_edge_or_a_vertex_turn_about_it():
    nodes, tets = box((2, 2, 2), (0.04, 0.04, 0.04))
    pairs = {"edge": ([0.04, 0.04, 0.0], 1), "vertex": ([0.04, 0.04, 0.04], 3)}
    for shift, modes in pairs.values():
        both = np.concatenate([nodes, nodes + shift])
        unique, where = np.unique(np.round(both, 9), axis=0, return_inverse=True)
        joined = where.reshape(-1)[np.concatenate([tets, tets + len(nodes)])].astype(np.int32)
        pinned = np.flatnonzero(unique[:, 0] < 1e-9)
        world = make(unique, joined, pinned=pinned)
        assert [group.modes for group in world.condensation.anchors.floating.groups] == [modes]
        run(world, 5)


def test_loose_parts_are_counted_each_for_itself():
    nodes, tets = box((3, 2, 2), (0.06, 0.04, 0.04))
    both = np.concatenate([nodes, nodes + [0.2, 0, 0]])
    floating = FloatingParts(both, [np.arange(len(nodes)), np.arange(len(nodes), 2 * len(nodes))], ends(nodes))
    assert [group.modes for group in floating.groups] == [6]


def test_two_bodies_do_not_feel_each_other():
    nodes, tets = box((4, 2, 2), (0.08, 0.04, 0.04))
    both = np.concatenate([nodes, nodes + [0.5, 0, 0]])
    tip = nearest(nodes, (0.08, 0, 0))
    alone = make(nodes, tets, pinned=ends(nodes), dynamic=[tip])
    pair = make(both, np.concatenate([tets, tets + np.int32(len(nodes))]), pinned=ends(nodes), dynamic=[tip])
    a, b = run(alone, 20), run(pair, 20)
    assert np.abs(positions(alone, a) - positions(pair, b)[: len(nodes)]).max() <= 1e-10


def heterogeneous():
    nodes, tets = box((10, 2, 2), (0.2, 0.04, 0.04))
    middle = nodes[tets].mean(axis=1)[:, 0]
    return nodes, tets, np.where((middle / 0.04).astype(int) % 2 == 0, 2e5, 3e4)


@pytest.mark.parametrize("count", some([1, 4], 4))
def test_conjac_rests_where_vanilla_rests(count):
    nodes, tets, young = heterogeneous()
    pinned = ends(nodes)
    spots = [(0.2, 0.02, 0.02), (0.1, 0.04, 0.04), (0.14, 0, 0), (0.06, 0.02, 0)]
    vanilla = make(nodes, tets, young=young, pinned=pinned, method="vanilla", beta=1.0, quasistatic_start=True)
    rest = positions(vanilla, vanilla.initial_state())
    _, f = stiffness(vanilla, rest)
    assert np.abs(f[rows(vanilla.coordinates.free)]).max() <= 1e-8 * np.abs(f).max()

    conjac = make(nodes, tets, young=young, pinned=pinned, dynamic=[nearest(nodes, p) for p in spots[:count]], beta=4.0)
    bent = nodes.copy()
    bent[:, 2] += 2.0 * nodes[:, 0] ** 2
    state = type(conjac.initial_state())(0.0, bent[conjac.coordinates.free].ravel(),
                                         np.zeros(3 * len(conjac.coordinates.free)))
    state = settled(conjac, 1500, 1 / 60, state)
    assert np.abs(positions(conjac, state) - rest).max() <= 1e-6 * np.linalg.norm(np.ptp(nodes, axis=0))


def test_a_start_in_vanilla_s_balance_stays_there():
    nodes, tets, young = heterogeneous()
    pinned = ends(nodes)
    vanilla = make(nodes, tets, young=young, pinned=pinned, method="vanilla")
    rest = equilibrium(vanilla, nodes, 0.0, vanilla.coordinates.free, vanilla.tets, type(vanilla.linear)(),
                       tolerance=1e-11)
    for count in (1, 3):
        spots = [(0.2, 0.02, 0.02), (0.1, 0.04, 0.04), (0.14, 0, 0)]
        conjac = make(nodes, tets, young=young, pinned=pinned, dynamic=[nearest(nodes, p) for p in spots[:count]])
        state = type(conjac.initial_state())(0.0, rest[conjac.coordinates.free].ravel(),
                                             np.zeros(3 * len(conjac.coordinates.free)))
        state = run(conjac, 50, state=state)
        assert np.abs(positions(conjac, state) - rest).max() <= 1e-10


def test_a_body_on_the_ground_rests_on_it_at_the_depth_of_its_weight():
    nodes, tets = box((4, 4, 2), (0.08, 0.08, 0.04))
    stiffness_of_ground = 200.0
    world = make(nodes, tets, young=1e5, dynamic=[nearest(nodes, (0, 0, 0.04)), nearest(nodes, (0.08, 0.08, 0.04)),
                                                nearest(nodes, (0.08, 0.0, 0.04))], ground=(0.0, stiffness_of_ground),
                 beta=1.0)
    state = settled(world, 400)
    x = positions(world, state)
    assert np.abs(state.u).max() < 1e-5
    carried = -stiffness_of_ground * np.minimum(x[:, 2], 0.0).sum()
    assert carried == pytest.approx(world.mass.sum() * 9.81, rel=1e-4)


@pytest.mark.parametrize("method", ["conjac", "vanilla"])
def test_a_shaken_pin_gathered_at_two_sub_frames(method):
    """Kinetic energy at each step within 1 % of the run with the pin evaluated exactly."""
    nodes, tets = box()
    pinned = ends(nodes)
    fps, swing, omega = 24.0, 0.01, 2 * np.pi * 1.5

    class Exact:
        def at(self, time):
            return nodes[pinned] + [0.0, 0.0, swing * np.sin(omega * time)]

        def velocity(self, time):
            return np.broadcast_to([0.0, 0.0, swing * omega * np.cos(omega * time)], nodes[pinned].shape)

    times = np.arange(2 * 48 + 1) / (2 * fps)
    gathered = Motion(np.stack([Exact().at(t) for t in times]), 1 / (2 * fps))
    dynamic = [nearest(nodes, (0.16, 0.02, 0.02)), nearest(nodes, (0.08, 0.04, 0.04))]
    worlds = [make(nodes, tets, pinned=pinned, motion=motion, dynamic=dynamic, method=method, gravity=(0, 0, 0),
                   young=1e5) for motion in (Exact(), gathered)]
    states = [world.initial_state() for world in worlds]
    for _ in range(120):
        states = [world.step(state, H) for world, state in zip(worlds, states)]
        energies = [0.5 * world.mass[world.coordinates.free] @ (state.u.reshape(-1, 3) ** 2).sum(1)
                    for world, state in zip(worlds, states)]
        assert energies[1] == pytest.approx(energies[0], rel=0.01)


def test_gathered_motion_meets_its_samples_and_has_no_kinks():
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(9, 4, 3))
    motion = Motion(samples, 0.5)
    for i in range(9):
        assert np.array_equal(motion.at(0.5 * i), samples[i])
    for i in range(1, 8):
        d = 1e-6
        before = (motion.at(0.5 * i) - motion.at(0.5 * i - d)) / d
        after = (motion.at(0.5 * i + d) - motion.at(0.5 * i)) / d
        assert np.abs(before - after).max() < 1e-4
    line = np.arange(9.0)[:, None, None] * np.ones((1, 2, 3))
    assert np.allclose(Motion(line, 0.5).at(1.3), 2.6, atol=1e-14)
    assert np.array_equal(motion.at(99.0), samples[-1]) and np.array_equal(motion.at(-1.0), samples[0])


def test_what_stands_still_beside_what_moves_stays_to_the_last_digit():
    """Samples of what moves are read where they are looked up, and not copied for each point that stands still."""
    rng = np.random.default_rng(1)
    still, samples = rng.normal(size=(3, 3)), rng.normal(size=(9, 2, 3))
    turn = np.eye(4)
    turn[:3] = [[0.0, -1.0, 0.0, 0.3], [1.0, 0.0, 0.0, -0.1], [0.0, 0.0, 1.0, 0.2]]
    frames = np.stack([np.linalg.matrix_power(turn, k) for k in range(9)])
    at_start = np.array([[0.6, 0.8, 0.0, 1.0], [-0.8, 0.6, 0.0, 2.0], [0.0, 0.0, 1.0, 3.0], [0.0, 0.0, 0.0, 1.0]])
    moved = Motion(samples, 0.5)
    table = Concatenated([Constant(still), moved, Transformed(Motion(frames @ at_start, 0.5), still)])
    for time in (0.0, 1.3, 2.0, 99.0):
        assert np.array_equal(table.at(time)[:3], still) and not table.velocity(time)[:3].any()
        assert np.array_equal(table.at(time)[3:5], moved.at(time))
        assert np.array_equal(table.velocity(time)[3:5], moved.velocity(time))
    assert np.abs(table.at(1.5)[5:] - (still @ frames[3, :3, :3].T + frames[3, :3, 3])).max() <= 1e-12
    slope = (table.at(1.7 + 1e-6) - table.at(1.7 - 1e-6)) / 2e-6
    assert np.abs(table.velocity(1.7) - slope).max() <= 1e-6
    assert table.moves and not Concatenated([Constant(still), Constant(still)]).moves


def soft_column():
    """A column so soft that its own weight folds it over: the first Newton step is longer than the column."""
    nodes, tets = box((2, 2, 14), (0.02, 0.02, 0.14))
    nodes = nodes + [0.004, 0.001, 0] * nodes[:, 2:] / 0.14
    return nodes, tets, np.flatnonzero(nodes[:, 2] < 1e-9)


def test_a_column_that_folds_under_its_weight_does_not_blow_up():
    nodes, tets, foot = soft_column()
    spots = [nearest(nodes, p) for p in [(0.01, 0.01, 0.14), (0.01, 0.01, 0.07)]]
    world = make(nodes, tets, young=2e3, poisson=0.45, pinned=foot, dynamic=spots, beta=1.0)
    state, energies = world.initial_state(), []
    for _ in range(400):
        state = world.step(state, 1 / 96)
        energies.append(world.evaluate(positions(world, state), 0.0)[1])
    x = positions(world, state)
    assert np.linalg.norm(np.ptp(x, axis=0)) < 2.5 * 0.14
    assert x[:, 2].min() < -0.05  # it hangs over the side
    assert max(energies) <= 0.0  # and never gained energy from nothing
    # where it hangs is a balance, the same that Newton finds from there
    free = world.coordinates.free
    rest = equilibrium(world, x, 0.0, free, world.tets, type(world.linear)())
    assert np.abs(rest - x).max() < 0.01


def test_start_at_rest_finds_the_fold():
    nodes, tets, foot = soft_column()
    world = make(nodes, tets, young=2e3, poisson=0.45, pinned=foot, quasistatic_start=True)
    x = positions(world, world.initial_state())
    assert x[:, 2].min() < -0.05
    assert np.abs(world.linearise_at(x, None, 0.0).force[world.coordinates.free]).max() < 1e-6


@pytest.mark.long
def test_a_dropped_body_bounces_and_is_not_crushed_by_the_ground():
    """A stiff ground pushes with hundreds of weights for one step. That is no acceleration to balance against."""
    nodes, tets = box((4, 4, 4), (0.1, 0.1, 0.1))
    spots = [nearest(nodes, p) for p in [(0, 0, 0.1), (0.1, 0.1, 0.1), (0.1, 0, 0), (0, 0.1, 0), (0.05, 0.05, 0.05)]]
    lifted = nodes + [0, 0, 0.05]
    world = make(lifted, tets, young=4e4, poisson=0.45, dynamic=spots, ground=(0.0, 1e3), beta=0.5)
    state, heights, middles = world.initial_state(), [], []
    for _ in range(240):
        state = world.step(state, H)
        x = positions(world, state)
        heights.append(np.ptp(x[:, 2]))
        middles.append(world.mass @ x[:, 2] / world.mass.sum())
    assert min(heights) > 0.075
    landed = int(np.argmin(middles))
    assert max(middles[landed:]) > middles[landed] + 0.005  # it comes back up
    calm = make(lifted, tets, young=4e4, poisson=0.45, method="vanilla", ground=(0.0, 1e3), beta=1.0)
    rest = positions(calm, run(calm, 480))
    assert middles[-1] == pytest.approx(calm.mass @ rest[:, 2] / calm.mass.sum(), abs=5e-4)


def test_shorter_steps_where_it_turns_fast_save_a_spinning_bar():
    """Two turns a second, a step a frame: 30 degrees a step, which linear steps answer with swelling."""
    nodes, tets = box((8, 2, 2), (0.16, 0.04, 0.04))
    swelling = []
    for largest in (0.0, 0.2):
        ends = [nearest(nodes, p) for p in ((0, 0, 0), (0.16, 0.04, 0.04))]
        world = make(nodes, tets, young=1e4, gravity=(0, 0, 0), dynamic=ends)
        spin = np.cross([0.0, 0.0, 4.0 * np.pi], nodes - nodes.mean(axis=0))
        state = State(0.0, nodes.ravel().copy(), spin.ravel())
        worst = 0.0
        for frame in range(1, 13):
            state = advance_frame(world, state, Timeline(0, 12, 24.0, 1 / 24, 10, 0.0, largest), frame)
            x = positions(world, state)
            worst = max(worst, float(tet_volumes(x, tets).sum() / tet_volumes(nodes, tets).sum()))
        swelling.append(worst)
    print("largest volume, as a share of that at rest", swelling)
    assert swelling[1] - 1.0 < 0.3 * (swelling[0] - 1.0)
