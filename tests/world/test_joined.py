"""Soft bodies on joints, solved at once: against dense algebra, limits that are known, and what is conserved."""

from dataclasses import replace

import numpy as np
import pytest
from bodies import NONE, box, damping, make, nearest, rows, stiffness
from bones import Chain, Link, carried_step
from matrix import crossed, some

from solver.coordinates.attached import Attached
from solver.coordinates.patches import Patch, mean_and_rotation
from solver.coordinates.prescribed import Motion
from solver.coupling.coupled_stage import CoupledStage
from solver.parts.nodes.full import Full
from solver.parts.stage import NodeStage, Stage
from solver.world.ground_friction import FORCE

Y = np.array([0.0, 1.0, 0.0])
H = 1 / 100
BAR = np.array([0.16, 0.04, 0.04])
UPPER = Link(-1, np.array([-0.1, 0, 0.0]), np.array([0.15, 0, 0.0]), Y, 0.2, np.array([1e-4, 3e-4, 3e-4]))
LOWER = Link(0, np.array([0.1, 0, 0.0]), np.array([0.1, 0, 0.0]), Y, 0.1, np.array([1e-4, 2e-4, 2e-4]))
FLYING = Link(-1, np.zeros(3), np.array([0.08, 0, 0.05]), None, 0.2, np.array([1e-4, 3e-4, 3e-4]))
TAIL = Link(0, np.array([-0.1, 0, 0.0]), np.array([-0.1, 0, 0.0]), Y, 0.1, np.array([1e-4, 2e-4, 2e-4]))


def joined(links=(UPPER, LOWER), *, on=lambda x: x[:, 0] < 0.03, other=None, method="conjac", dynamic=None, pinned=None,
           gravity=(0, 0, -9.81), angles=None, cells=(4, 2, 2), **choices):
    """A soft bar along x that the first link carries at `on`, and the last at `other`; both states at the start."""
    nodes, tets = box(cells, tuple(BAR))
    nodes = nodes - [0.0, 0.02, 0.02]
    chain = Chain(list(links), gravity)
    joints = chain.start([0.0] * sum(link.axis is not None for link in links) if angles is None else angles)
    carried = np.flatnonzero(on(nodes))
    bodies = np.zeros(len(carried), np.int32)
    if other is not None:
        last = np.flatnonzero(other(nodes))
        carried, bodies = np.concatenate([carried, last]), np.append(bodies, np.full(len(last), len(links) - 1))
    attached = Attached.at(carried.astype(np.int32), bodies.astype(np.int32), nodes[carried], chain.bodies(joints).E)
    still = NONE if pinned is None else np.flatnonzero(pinned(nodes))
    if method == "conjac" and dynamic is None:
        dynamic = np.setdiff1d(np.arange(len(nodes)), np.concatenate([carried, still]))
    world = make(nodes, tets, attached=attached, rates=chain.m, method=method, gravity=gravity, pinned=still,
                 dynamic=NONE if dynamic is None else dynamic, **choices)
    return world, chain, world.initial_state(on_bones(world, chain, joints)), joints


def on_bones(world, chain, joints):
    return world.coordinates.attached.carrier_motion(chain.bodies(joints))


def steps(world, chain, state, joints, h, count):
    for _ in range(count):
        state, joints = carried_step(world, chain, state, joints, h)
    return state, joints


def motion_of(nodes, count=40):
    times = np.arange(count) / 48
    return Motion(nodes[None] + 0.01 * np.sin(9.0 * times)[:, None, None] * np.array([0.3, 0.5, 1.0]), 1 / 48)


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_nodes_give_way_with_the_bones_that_they_hang_on(method):
    some = [nearest(box((4, 2, 2), tuple(BAR))[0], [0.12, 0.02, 0.02])]
    world, chain, state, joints = joined(method=method, dynamic=some if method == "conjac" else None)
    state, joints = steps(world, chain, state, joints, H, 3)
    at = chain.bodies(joints)
    lin = world.linearise(state)
    stage = NodeStage(H, 1.0, 1.0, state.time + H, None, lin.v, None, beta=world.condensation.beta)
    of_joints = Stage(H, 1.0, 1.0, state.time + H, None, joints.u, beta=world.beta)
    together = CoupledStage(world, chain, at, lin, stage, joints, of_joints)
    together.solve()
    nodes = world.coordinates.free[[0, 7, 20]]
    impulses = np.random.default_rng(2).normal(size=(3, 3))
    everywhere = np.zeros_like(world.rest)
    everywhere[nodes] = impulses
    give = together.compliance(nodes)(impulses)
    (still, without), (carried, beneath) = (by_dense_algebra(world, chain, state, joints, impulses=i)
                                            for i in (0.0, everywhere))
    dense = (beneath - without).reshape(-1, 3)[[0, 7, 20]]
    assert np.abs(give - dense).max() <= 1e-9 * np.abs(dense).max()
    # all nodes and the joints answer, and joints are felt by nodes as nodes are by joints
    cut, everything = len(without), np.eye(len(without) + chain.m)
    answers = together.respond(everything)
    wanted = np.concatenate([beneath - without, carried - still])
    found = answers[:, :cut] @ everywhere[world.coordinates.free].ravel()
    assert np.abs(found - wanted).max() <= 1e-9 * np.abs(wanted).max()
    assert np.abs(answers - answers.T).max() <= 1e-9 * np.abs(answers).max()


def far(x):
    return x[:, 0] > 0.15


def by_dense_algebra(world, chain, state, joints, damped=None, w=None, impulses=0.0):
    """Rates of the joints and velocities of the free nodes after a step. w: of all nodes; impulses on them (n, 3)."""
    # the velocity map of all nodes from dynamic nodes and joints, and what is prescribed
    coordinates, at = world.coordinates, chain.bodies(joints)
    state = replace(state, carrier_motion=coordinates.attached.carrier_motion(at))
    x = coordinates.positions(state.q, state.time, state.carrier_motion)
    attached, free = coordinates.attached, coordinates.free
    K, f = stiffness(world, x, state.time)
    M, D = np.diag(np.repeat(world.mass, 3)), np.zeros_like(K)
    if damped is not None:
        D = damped[1] * K - damped[2] * M if damped[0] == "rayleigh" else damping(world, x)
    own = free if isinstance(world.condensation, Full) else world.condensation.mesh.dynamic
    balanced = np.setdiff1d(free, own)
    patches = [] if isinstance(world.condensation, Full) else world.condensation.patches.rows(x).reshape(-1, x.size)
    first = 3 * len(own) + len(patches)
    J, w = np.zeros((3 * len(x), first + chain.m)), np.zeros(3 * len(x)) if w is None else w.ravel()
    J[rows(own), np.arange(3 * len(own))] = 1.0
    J[rows(attached.nodes), first:] = attached.columns(at.E, at.twists).reshape(-1, chain.m)
    q, others = rows(balanced), np.setdiff1d(np.arange(3 * len(x)), rows(balanced))
    if len(balanced):
        J[q] = -np.linalg.solve(K[np.ix_(q, q)], K[np.ix_(q, others)] @ J[others])
        if len(patches):
            J[q, 3 * len(own):first] = -np.linalg.solve(K[np.ix_(q, q)], patches[:, q].T)
        w[q] = -np.linalg.solve(K[np.ix_(q, q)], K[np.ix_(q, others)] @ w[others])

    S = M - H * D - world.condensation.beta * H**2 * K
    v = world.velocity(state)
    earlier = chain.earlier(joints, H)
    v[attached.nodes] = attached.velocities(earlier.E, earlier.twist)
    A, b = J.T @ S @ J, J.T @ (M @ v.ravel() + H * f - S @ w + np.ravel(impulses + np.zeros_like(x)))
    of_joints = chain.of_a_step(joints, H)
    A[first:, first:] += of_joints[0]
    b[first:] += of_joints[1]
    u = np.linalg.solve(A, b)
    return u[first:], (J @ u + w)[rows(free)]


def the_fourth_step_is_dense(joined_up, prescribed=None, damped=None):
    """prescribed: mask of prescribed nodes [bool], if there are any."""
    world, chain, *start = joined_up
    state, joints = steps(world, chain, *start, H, 3)
    w = np.zeros_like(world.rest)
    if prescribed is not None:
        w[prescribed] = world.coordinates.compute_prescribed_velocity(state.time, H)[: prescribed.sum()]
    u, v = by_dense_algebra(world, chain, state, joints, damped, w)
    after, then = carried_step(world, chain, state, joints, H)
    assert np.abs(then.u - u).max() <= 1e-9 * np.abs(u).max()
    assert np.abs(after.u - v).max() <= 1e-9 * np.abs(v).max()


def led_far_end(moving):
    """Return (nodes of the bar, prescribed ones of them or None, arguments of `joined`)."""
    nodes = box((4, 2, 2), tuple(BAR))[0] - [0.0, 0.02, 0.02]
    if not moving:
        return nodes, None, {}
    return nodes, far(nodes), {"pinned": far, "motion": motion_of(nodes[far(nodes)])}


@pytest.mark.parametrize("damped", [None, ("rayleigh", 1e-3, 0.5), ("green", 1e-3, 0.5)])
@pytest.mark.parametrize("method", ["vanilla", "conjac"])
@pytest.mark.parametrize("moving", [False, True])
def test_a_step_is_that_of_dense_algebra(method, damped, moving):
    nodes, prescribed, carrier_motion = led_far_end(moving)
    two = nearest(nodes, [0.08, 0, 0]), nearest(nodes, [0.12, 0.02, 0.02])
    a_bar = joined(method=method, damping=damped, dynamic=two if method == "conjac" else None, **carrier_motion)
    the_fourth_step_is_dense(a_bar, prescribed, damped)


@pytest.mark.parametrize("moving", [False, True])
def test_a_step_with_patches_is_that_of_dense_algebra(moving):
    nodes, prescribed, carrier_motion = led_far_end(moving)
    spot = np.flatnonzero(np.linalg.norm(nodes - [0.08, 0, 0], axis=1) < 0.045).astype(np.int32)
    a_bar = joined(dynamic=[nearest(nodes, [0.12, 0.02, 0.02])], patches=[Patch(spot, mean_and_rotation)],
                   **carrier_motion)
    assert a_bar[0].condensation.patches.unknowns == 6
    the_fourth_step_is_dense(a_bar, prescribed)


@pytest.mark.parametrize("method, law", crossed(["vanilla", "conjac"], ["filter", "coulomb"]))
def test_bones_feel_what_rubs_on_the_flesh(method, law):
    """A bar with a bone along its back is thrown along the ground: the bone slows down with it."""
    bone = replace(FLYING, after=np.array([0.08, 0, 0.03]))
    some = [nearest(box((4, 2, 2), tuple(BAR))[0], [x, 0.02, 0.0]) for x in (0.0, 0.08, 0.16)]
    world, chain, state, joints = joined((bone,), method=method, dynamic=some if method == "conjac" else None,
                                         on=lambda x: x[:, 2] > 0.01, ground=(-0.0205, 500.0), friction=(law, 0.5))
    speed = np.array([0.3, 0.0, 0.0])
    joints = replace(joints, u=np.concatenate([np.zeros(3), speed]))
    state = replace(state, u=np.tile(speed, len(world.coordinates.free)))
    state, joints = steps(world, chain, state, joints, H, 4)
    assert joints.u[3] < 0.29
    after, then = carried_step(world, chain, state, joints, H)
    impulses = H * after.memory[FORCE]
    assert np.abs(impulses).max() > 1e-4
    u, v = by_dense_algebra(world, chain, state, joints, impulses=impulses)
    assert np.abs(then.u - u).max() <= 1e-9 and np.abs(after.u - v).max() <= 1e-9

    # in the end it stands still, held by the law with the bone's mass in its share
    state, joints = steps(world, chain, after, then, H, 60)
    slid = world.coordinates.positions(state.q, state.time, state.carrier_motion)[:, 0] - world.rest[:, 0]
    state, joints = steps(world, chain, state, joints, H, 10)
    later = world.coordinates.positions(state.q, state.time, state.carrier_motion)[:, 0] - world.rest[:, 0]
    assert 0.002 < slid.mean() < 0.03 and np.abs(later - slid).max() < 2e-4


@pytest.mark.parametrize("damped", [None, ("rayleigh", 1e-3, 0.5)])
def test_all_dynamic_conjac_is_vanilla(damped):
    ends = [steps(*joined(method=method, damping=damped), H, 20) for method in ("vanilla", "conjac")]
    (soft, joints), (other, those) = ends
    assert np.abs(soft.q - other.q).max() <= 1e-10 and np.abs(soft.u - other.u).max() <= 1e-10
    assert np.abs(joints.u - those.u).max() <= 1e-10
    assert np.abs(joints.q).min() > 0.1


def test_attached_nodes_stand_on_their_bone():
    sideways = replace(LOWER, axis=np.array([0.6, 0.0, 0.8]))
    world, chain, state, joints = joined((UPPER, sideways), other=far)
    state, joints = steps(world, chain, state, replace(joints, u=np.array([1.0, 9.0])), H, 10)
    attached, at = world.coordinates.attached, chain.bodies(joints)
    assert np.abs(joints.u).min() > 0.5
    x, E = world.coordinates.positions(state.q, state.time, state.carrier_motion), at.E[attached.bodies]
    local = np.einsum("aji,aj->ai", E[:, :3, :3], x[attached.nodes] - E[:, :3, 3])
    assert np.abs(local - attached.local_positions).max() <= 1e-14
    # what the map says of velocities is what differences of positions say
    ahead = chain.bodies(chain.advance(joints, joints.u, 1e-7)).E
    behind = chain.bodies(chain.advance(joints, joints.u, -1e-7)).E
    v = (attached.positions(ahead) - attached.positions(behind)) / 2e-7
    assert np.abs(attached.velocities(at.E, at.twist) - v).max() <= 1e-7
    nearby = [chain.bodies(chain.advance(joints, joints.u, h)) for h in (1e-5, -1e-5)]
    change = (attached.velocities(nearby[0].E, nearby[0].twist)
              - attached.velocities(nearby[1].E, nearby[1].twist)) / 2e-5
    assert np.abs(attached.accelerations(at.E, at.twist, at.drift) - change).max() <= 1e-6


@pytest.mark.parametrize("method, dynamic", [("vanilla", None), pytest.param("conjac", NONE, marks=pytest.mark.long)])
def test_a_stiff_soft_bar_swings_as_a_compound_pendulum(method, dynamic):
    # two thirds of the mass is soft; it swings a little about the way it hangs, along x
    link = Link(-1, np.zeros(3), np.array([0.02, 0, 0]), Y, 0.2, np.array([1e-4, 2e-4, 1e-4]))
    world, chain, state, joints = joined((link,), on=lambda x: x[:, 0] < 0.09, young=3e6, method=method,
                                         dynamic=dynamic, beta=1.0, gravity=(9.81, 0, 0))
    joints = replace(joints, u=np.array([0.05]))
    state = replace(state, u=np.cross(0.05 * Y, world.rest)[world.coordinates.free].ravel())
    soft = world.mass
    moment = 2e-4 + 0.2 * 0.02**2 + float(soft @ (world.rest[:, 0] ** 2 + world.rest[:, 2] ** 2))
    period = 2.0 * np.pi * np.sqrt(moment / (9.81 * (0.2 * 0.02 + float(soft @ world.rest[:, 0]))))
    h, angles = period / 400, []
    for _ in range(215):
        state, joints = carried_step(world, chain, state, joints, h)
        angles.append(joints.q[0])
    i = int(np.flatnonzero(np.diff(np.sign(angles)))[0])
    half = h * (i + 1 + angles[i] / (angles[i] - angles[i + 1]))
    assert abs(half / (0.5 * period) - 1.0) <= 3e-3


def momentum(world, chain, state, joints):
    state = replace(state, carrier_motion=on_bones(world, chain, joints))
    x, v = world.coordinates.positions(state.q, state.time, state.carrier_motion), world.velocity(state)
    p = world.mass[:, None] * v
    return chain.momentum(joints) + np.concatenate([p.sum(axis=0), np.cross(x, p).sum(axis=0)])


@pytest.mark.long
@pytest.mark.parametrize("method", some(["vanilla", "conjac"], "conjac"))
def test_momentum_of_a_free_flight_is_conserved_to_first_order(method):
    drifts = []
    for count in (20, 40, 80):
        world, chain, state, joints = joined((FLYING, TAIL), method=method, gravity=(0, 0, 0))
        joints = replace(joints, u=np.array([1.0, 2.0, -1.5, 0.3, -0.2, 0.4, 3.0]))
        rigid = np.cross(joints.u[:3], world.rest - FLYING.after) + joints.u[3:6]
        state = replace(state, u=rigid[world.coordinates.free].ravel())
        before = momentum(world, chain, state, joints)
        after = momentum(world, chain, *steps(world, chain, state, joints, 0.1 / count, count))
        drifts.append(np.abs(after - before).max() / np.abs(before).max())
    assert drifts[-1] <= 0.03
    assert drifts[1] / drifts[2] >= 1.7 and drifts[0] / drifts[1] >= 1.6


@pytest.mark.parametrize("links, method", crossed([(FLYING,), (FLYING, TAIL)], ["vanilla", "conjac"]))
def test_linear_momentum_of_a_free_flight_is_conserved(method, links):
    """A bone with flesh that turns and bends: nothing outside pushes, so it goes nowhere that it did not go before."""
    some = [nearest(box((4, 2, 2), tuple(BAR))[0], spot) for spot in [(0.12, 0.02, 0.02), (0.16, 0.0, 0.04)]]
    world, chain, state, joints = joined(links, method=method, gravity=(0, 0, 0), young=3e3,
                                         dynamic=some if method == "conjac" else None)
    joints = replace(joints, u=np.array([1.0, 2.0, -1.5, 0.3, -0.2, 0.4, 3.0])[: chain.m])
    rigid = np.cross(joints.u[:3], world.rest - links[0].after) + joints.u[3:6]
    state = replace(state, u=rigid[world.coordinates.free].ravel())
    # what has inertia keeps what it has from the first solved step on
    state, joints = steps(world, chain, state, joints, H, 1)
    total = []
    for _ in range(40):
        total.append(momentum_carried(world, chain, state, joints))
        state, joints = steps(world, chain, state, joints, H, 1)
    drift = np.abs(np.array(total) - total[0]).max() / np.abs(total[0]).max()
    assert drift <= 1e-10


def momentum_carried(world, chain, state, joints):
    """Linear momentum with bones, and the nodes on them, where the last step was solved, (3,) [kg m/s]."""
    earlier = chain.earlier(joints, H)
    v = world.velocity(state)
    attached = world.coordinates.attached
    v[attached.nodes] = attached.velocities(earlier.E, earlier.twist)
    before = replace(chain.advance(joints, joints.u, -H), u=joints.u)
    return chain.momentum(before)[:3] + (world.mass[:, None] * v).sum(axis=0)


@pytest.mark.long
@pytest.mark.parametrize("method", some(["vanilla", "conjac"], "vanilla"))
def test_semi_implicit_euler_is_of_order_one(method):
    ends = [steps(*joined(method=method, young=1e4, damping=("rayleigh", 5e-3, 0.0)), 0.08 / n, n)
            for n in (32, 64, 128)]
    for values in ([np.append(joints.q, joints.u) for _, joints in ends], [soft.q for soft, _ in ends]):
        changes = [np.abs(a - b).max() for a, b in zip(values, values[1:])]
        assert changes[0] / changes[1] == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("nodes, modes", [(0, 6), (1, 3), (2, 1), (3, 0)])
def test_a_body_that_hangs_only_on_bones_keeps_its_rigid_motions(nodes, modes):
    corners = np.array([[0, -0.02, -0.02], [0, 0.02, -0.02], [0, 0.02, 0.02]])[:nodes]

    def few(x):
        return np.array([np.any(np.all(np.abs(p - corners) < 1e-9, axis=1)) for p in x]) if nodes else x[:, 0] > 9.0

    world, chain, state, joints = joined(on=few, dynamic=NONE)
    assert world.condensation._all_awake.unknowns == modes
    state, joints = steps(world, chain, state, joints, H, 25)
    assert np.isfinite(state.q).all() and np.isfinite(joints.q).all()
    x = world.coordinates.positions(state.q, state.time, state.carrier_motion)
    edges = world.tets[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2)
    length = np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1)
    rest = np.linalg.norm(world.rest[edges[:, 0]] - world.rest[edges[:, 1]], axis=1)
    # it is swung and turned as a whole, and deformed but little
    assert np.abs(x - world.rest).max() > 0.05 and np.abs(length / rest - 1.0).max() < 0.6


SOON, FAR_ON = (0.2, (0.05, 6.0), 1 / 24, 100, 1e-3), (0.05, (0.02, 2.0), 1 / 30, 400, 1e-5)


@pytest.mark.parametrize("friction, damping, h, count, left", some([SOON, FAR_ON], SOON))
def test_conjac_comes_to_rest_where_vanilla_does(friction, damping, h, count, left):
    ends, middle = [], nearest(box((4, 2, 2), tuple(BAR))[0], [0.08, 0.02, 0.02])
    for method, dynamic in (("vanilla", None), ("conjac", [middle])):
        # the soft bar holds the second link, as a muscle does: it is glued to both
        world, bones, state, joints = joined(other=lambda x: x[:, 0] > 0.13, method=method, dynamic=dynamic,
                                             beta=1.0, damping=("rayleigh", *damping))
        bones.friction = friction
        state, joints = steps(world, bones, state, joints, h, count)
        ends.append((state, joints))
    assert max(np.abs(joints.u).max() for _, joints in ends) < left
    assert np.abs(ends[0][1].q - ends[1][1].q).max() <= 1e-5
    assert np.abs(ends[0][0].q - ends[1][0].q).max() <= 1e-6
