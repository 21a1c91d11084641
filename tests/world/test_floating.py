"""Bodies that hang, swing and are dragged: a step against dense algebra on the null space of K_qq. [ConJac 6-13]"""

import numpy as np
import pytest
from bodies import box, make, nearest, positions, rows, run, stiffness

from solver.coordinates.floating import FloatingParts
from solver.state import State

H, BETA, GAMMA = 1 / 120, 0.6, 0.4
BAR = box((5, 2, 2), (0.1, 0.04, 0.04))


class Drag:
    """Prescribed nodes that leave their places, each at a velocity of its own."""

    def __init__(self, start, velocity):
        self.start, self.speed = start, velocity

    def at(self, time):
        return self.start + time * self.speed

    def velocity(self, time):
        return self.speed


def hung(shift):
    """Two cubes that share the nodes of an edge or one vertex, the first with a side to hold it by."""
    nodes, tets = box((2, 2, 2), (0.04, 0.04, 0.04))
    unique, where = np.unique(np.round(np.concatenate([nodes, nodes + shift]), 9), axis=0, return_inverse=True)
    return unique, where.reshape(-1)[np.concatenate([tets, tets + len(nodes)])].astype(np.int32)


def on_edge(nodes):
    return np.flatnonzero((nodes[:, 1] < 1e-9) & (nodes[:, 2] < 1e-9))


def left(nodes):
    return np.flatnonzero(nodes[:, 0] < 1e-9)


def corner(nodes):
    return np.array([nearest(nodes, (0, 0, 0))])


EDGE, VERTEX = hung([0.04, 0.04, 0.0]), hung([0.04, 0.04, 0.04])
TIP, SIDE = (0.1, 0.04, 0.04), (0.06, 0.04, 0.0)
#: body, prescribed nodes, places of dynamic nodes, rigid motions of what is quasistatic
CASES = {
    "held, two dynamic": (BAR, left, [TIP, SIDE], 0),
    "held, none dynamic": (BAR, left, [], 0),
    "a line held, none dynamic": (BAR, on_edge, [], 1),
    "a line held, one dynamic": (BAR, on_edge, [TIP], 0),
    "a node pinned, none dynamic": (BAR, corner, [], 3),
    "a node pinned, one dynamic": (BAR, corner, [TIP], 1),
    "nothing pinned, none dynamic": (BAR, None, [], 6),
    "nothing pinned, two dynamic": (BAR, None, [TIP, SIDE], 1),
    "hung by an edge": (EDGE, left, [], 1),
    "hung by an edge, dynamic behind it": (EDGE, left, [(0.08, 0.08, 0.0)], 0),
    "hung by a vertex": (VERTEX, left, [], 3),
    "hung by a vertex, dynamic behind it": (VERTEX, left, [(0.08, 0.08, 0.08)], 1),
    "hung by a vertex, nothing pinned": (VERTEX, None, [], 9),
}


def dragged(case, method, moving):
    (nodes, tets), choose_pinned, spots, modes = CASES[case]
    pinned = np.zeros(0, dtype=int) if choose_pinned is None else choose_pinned(nodes)
    rng = np.random.default_rng(4)
    motion = Drag(nodes[pinned], 0.3 * rng.normal(size=(len(pinned), 3))) if moving else None
    world = make(nodes, tets, pinned=pinned, motion=motion, dynamic=[nearest(nodes, spot) for spot in spots],
                 method=method, beta=BETA, gamma=GAMMA, gravity=(1.0, 2.0, -9.81))
    # at rest in shape, where rigid motions are exactly free of force
    start = world.initial_state()
    return world, State(0.0, start.q, 0.2 * rng.normal(size=start.q.shape)), modes


def null_space(K):
    values, vectors = np.linalg.eigh(-K)
    return vectors[:, values < 1e-9 * values.max()]


@pytest.mark.parametrize("case", [case for case in CASES if CASES[case][1] is not None])
def test_vanilla_step_with_moving_nodes_is_the_dense_step(case):
    world, state, _ = dragged(case, "vanilla", True)
    after = world.step(state, H)
    K, f = stiffness(world, positions(world, state))
    free, prescribed = rows(world.coordinates.free), rows(world.coordinates.prescribed)
    M = np.repeat(world.mass, 3)
    w = world.coordinates.compute_prescribed_velocity(0.0, H).ravel()
    pull = BETA * H**2 * K[np.ix_(free, prescribed)] @ w
    right = (M * world.coordinates.spread(state.u, None).ravel() + H * f)[free] + pull
    want = np.linalg.solve(np.diag(M[free]) - BETA * H**2 * K[np.ix_(free, free)], right)
    assert np.abs(pull).max() > 1e-3 * np.abs(right).max()
    assert np.abs(after.u - want).max() <= 1e-9 * np.abs(want).max()


@pytest.mark.parametrize("case,moving", [(case, False) for case in CASES]
                         + [(case, True) for case in CASES if CASES[case][1] is not None])
def test_conjac_step_is_the_dense_step_on_what_is_free(case, moving):
    """v = J v_d + (null space of K_qq) a + w, found by minimising over v_d and a; b from f − M a."""
    world, state, modes = dragged(case, "conjac", moving)
    after = world.step(state, H)

    K, f = stiffness(world, positions(world, state))
    M = np.repeat(world.mass, 3)
    free, prescribed = rows(world.coordinates.free), rows(world.coordinates.prescribed)
    d = rows(world.condensation.mesh.dynamic)
    q = np.setdiff1d(free, d)
    inverse, null = np.linalg.pinv(K[np.ix_(q, q)], rcond=1e-9, hermitian=True), null_space(K[np.ix_(q, q)])
    assert null.shape[1] == modes
    V = np.zeros((len(K), len(d) + modes))
    V[d, np.arange(len(d))] = 1.0
    V[q, : len(d)] = -inverse @ K[np.ix_(q, d)]
    V[q, len(d):] = null
    w = np.zeros(len(K))
    if moving:
        w[prescribed] = world.coordinates.compute_prescribed_velocity(0.0, H).ravel()
        w[q] = -inverse @ K[np.ix_(q, prescribed)] @ w[prescribed]
    S = np.diag(M) - BETA * H**2 * K
    v0 = world.coordinates.spread(state.u, None).ravel()
    v = w + (V @ np.linalg.solve(V.T @ S @ V, V.T @ (M * v0 + H * f - S @ w)) if V.shape[1] else 0.0)
    assert np.abs(after.u - v[free]).max() <= 1e-8 * np.abs(v).max()

    # what positions gain on top leaves no static force behind, and does not move dynamic nodes
    rigid = np.zeros(len(K))
    fall = null_space(K[np.ix_(free, free)])
    if fall.shape[1]:
        gained = M[free] * (v - v0)[free] / H
        rigid[free] = fall @ np.linalg.solve(fall.T @ (M[free, None] * fall), fall.T @ gained)
    owed = np.zeros(len(K))
    owed[free] = (after.q - state.q) / H - after.u
    left_over = K[np.ix_(q, q)] @ owed[q] + GAMMA * (f - M * rigid)[q] / H
    # far below gravity's share, of which nothing is left where the whole body falls
    assert np.abs(left_over).max() <= 1e-7 * GAMMA * np.abs(f).max() / H
    assert np.abs(owed[d]).max(initial=0.0) <= 1e-9 * np.abs(after.u).max()


def test_a_quasistatic_body_follows_its_pins_into_balance():
    """No dynamic node: the pins are carried off and stop; the body trails in balance, without swinging."""
    nodes, tets = BAR
    pinned = left(nodes)
    away = np.array([0.0, 0.02, 0.03])

    class Carry:
        def at(self, time):
            return nodes[pinned] + min(time, 0.25) * 4 * away

        def velocity(self, time):
            return np.broadcast_to(4 * away if time < 0.25 else 0 * away, nodes[pinned].shape)

    world = make(nodes, tets, pinned=pinned, motion=Carry(), quasistatic_start=True, gamma=1.0)
    start = world.initial_state()
    middle = run(world, 15, state=start)
    assert np.abs(middle.u.reshape(-1, 3) - 4 * away).max() <= 1e-6
    end = run(world, 60, state=middle)
    assert np.abs(positions(world, end) - positions(world, start) - away).max() <= 1e-7
    assert np.abs(end.u).max() <= 1e-9


def rope(length=1.0, thickness=5e-4):
    return box((100, 1, 1), (length, thickness, thickness))


def test_a_thin_rope_is_pinned_at_its_end_and_takes_anchors_where_it_is_not():
    """Its thickness is what nodes on a line are measured by, not its length."""
    nodes, tets = rope()
    hanging = make(nodes, tets, young=1e9, pinned=left(nodes), dynamic=[nearest(nodes, (1, 0, 0))])
    assert hanging.condensation.floating.groups == [] and len(hanging.condensation.anchors.nodes) == 0
    run(hanging, 3)
    free = make(nodes, tets, young=1e9)
    anchors = free.condensation.anchors
    assert [group.modes for group in anchors.floating.groups] == [6] and len(set(anchors.nodes.tolist())) == 3
    fallen = run(free, 10)
    moved = positions(free, fallen) - nodes
    assert np.ptp(moved, axis=0).max() <= 1e-6 and moved[:, 2].max() < -0.03


@pytest.mark.parametrize("count,modes", [(1, 3), (2, 1), (3, 0)])
def test_neighbours_far_smaller_than_the_body_count_as_what_they_are(count, modes):
    nodes, tets = rope()
    pinned = left(nodes)[:count]
    found = [group.modes for group in FloatingParts(nodes, [np.arange(len(nodes))], pinned).groups]
    assert found == ([modes] if modes else [])


def test_parts_that_stiffen_each_other_are_anchored_and_have_no_rigid_motion():
    """Two cubes on three shared nodes, not on a line and no face: none is firm by itself, together they are."""
    nodes, tets = box((2, 2, 2), (0.04, 0.04, 0.04))
    touching = np.array([[0.04, 0.0, 0.0], [0.04, 0.04, 0.0], [0.04, 0.0, 0.04]])
    other = nodes + [0.04, 0.0, 0.0]
    apart = (other[:, 0] < 0.04 + 1e-9) & ~(np.abs(other[:, None] - touching).max(axis=2) < 1e-9).any(axis=1)
    other[apart, 0] += 0.003
    unique, where = np.unique(np.round(np.concatenate([nodes, other]), 9), axis=0, return_inverse=True)
    joined = where.reshape(-1)[np.concatenate([tets, tets + len(nodes)])].astype(np.int32)
    world = make(unique, joined, pinned=left(unique))
    assert [group.modes for group in world.condensation.anchors.floating.groups] == [0]
    K, _ = stiffness(world, unique)
    free = rows(world.coordinates.free)
    assert null_space(K[np.ix_(free, free)]).shape[1] == 0
    run(world, 5)


def test_the_middle_of_what_flies_goes_where_its_momentum_does():
    """However it is deformed: the rest balances about dynamic nodes, which took the middle 1 mm along in a step."""
    nodes, tets = box((4, 3, 3), (0.4, 0.3, 0.3))
    corners = [nearest(nodes, at) for at in [(0, 0, 0.3), (0.4, 0, 0.3), (0.4, 0.3, 0), (0, 0.3, 0)]]
    world = make(nodes, tets, young=3e4, dynamic=corners, integrator="sdirk2")
    x = nodes * [0.8, 1.1, 1.1] + 0.001 * np.random.default_rng(1).normal(size=nodes.shape)
    state = State(0.0, x.ravel(), ([0.3, -0.2, 1.0] + 2.0 * (nodes - nodes.mean(axis=0))[:, [1, 2, 0]]).ravel())
    share = world.mass / world.mass.sum()
    first, speed = share @ x, share @ world.velocity(state)
    for k in range(1, 4):
        state = world.step(state, H)
        fallen = speed * k * H + 0.5 * world.gravity * (k * H) ** 2
        assert share @ positions(world, state) - first == pytest.approx(fallen, abs=1e-12)
