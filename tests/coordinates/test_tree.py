"""The recursions along a tree: frames, twists, J, Jᵀ and J̇u, and its building from parts in any order."""

import numpy as np
import pytest
from calls import calls
from trees import KINDS, acceleration, frame, random_inertia, random_state, random_tree, vee

from solver.coordinates.joints.rotations import jacobian
from solver.coordinates.tree import CENTRES
from solver.coordinates.tree_build import Body, Joint, build
from solver.errors import BadScene
from solver.state import State

MIXED = [*KINDS, "spherical", "revolute", "free", "universal", "prismatic"]


def mixed(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, rng.permutation(MIXED))
    return rng, tree, *random_state(rng, tree)


def slope(of, q, u, h=1e-4):
    """Return the slope of a function of q along u, by finite differences of order 4."""
    return (8 * (of(q + h * u) - of(q - h * u)) - (of(q + 2 * h * u) - of(q - 2 * h * u))) / (12 * h)


@pytest.mark.parametrize("seed", range(4))
def test_twist_is_the_slope_of_the_frames(seed):
    _, tree, q, u, centres = mixed(seed)
    at = tree.posture(q, u, centres)
    E_dot = slope(lambda q: tree.posture(q, u, centres).E, q, u)
    for i in range(tree.count):
        assert at.twist[i] == pytest.approx(vee(np.linalg.inv(at.E[i]) @ E_dot[i]), abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_drift_is_the_slope_of_the_jacobian_times_the_rates(seed):
    _, tree, q, u, centres = mixed(seed)
    at = tree.posture(q, u, centres)
    J_dot = slope(lambda q: tree.jacobian(tree.posture(q, u, centres)), q, u)
    assert at.drift.ravel() == pytest.approx(J_dot @ u, abs=1e-8)


def test_a_joint_s_frames_coincide_up_to_its_own_motion():
    _, tree, q, u, centres = mixed(9)
    at = tree.posture(q, u, centres)
    for i, p in enumerate(tree.parent):
        above = np.eye(4) if p < 0 else at.E[p]
        assert at.E[i] @ tree.in_child[i] == pytest.approx(above @ tree.in_parent[i] @ at.joint_poses[i], abs=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_spread_gather_and_the_dense_jacobian_agree(seed):
    rng, tree, q, u, centres = mixed(seed)
    at = tree.posture(q, u, centres)
    n, m = tree.count, tree.rates
    J = tree.jacobian(at)
    assert tree.spread(at, u) == pytest.approx(at.twist, abs=1e-12)
    columns, wrench, wrenches = rng.normal(size=(m, 3)), rng.normal(size=(n, 6)), rng.normal(size=(n, 6, 3))
    assert tree.spread(at, columns).reshape(6 * n, 3) == pytest.approx(J @ columns, abs=1e-11)
    copies = wrench.copy(), wrenches.copy()
    assert tree.gather(at, wrench) == pytest.approx(J.T @ wrench.ravel(), abs=1e-11)
    assert tree.gather(at, wrenches) == pytest.approx(J.T @ wrenches.reshape(6 * n, 3), abs=1e-11)
    assert (wrench == copies[0]).all() and (wrenches == copies[1]).all()
    # arrays that are given are written to, whatever they held
    out, scratch = np.full(m, np.nan), np.full((n, 6), np.nan)
    assert tree.gather(at, wrench, out, scratch) is out
    assert out == pytest.approx(J.T @ wrench.ravel(), abs=1e-11)


def test_a_posture_written_anew_is_the_same_as_a_new_one():
    rng, tree, q, u, centres = mixed(3)
    used = tree.posture(*random_state(rng, tree))
    assert tree.posture(q, u, centres, used) is used
    new = tree.posture(q, u, {CENTRES: centres})
    for name, value in vars(new).items():
        values = zip(used.stacks, value) if name == "stacks" else [(getattr(used, name), value)]
        assert all((value == other).all() for value, other in values), name


def test_nothing_runs_over_joints_in_python():
    """Posture, J u and Jᵀ w take as many calls for a thousand joints as for thirty."""
    rng, counts = np.random.default_rng(0), []
    for count in (30, 1_000):
        kinds = np.resize(["revolute", "spherical", "universal"], count)
        tree = random_tree(rng, kinds, parents=range(-1, count - 1))
        q, u, centres = random_state(rng, tree)
        at, wrench, rates, scratch = tree.blank(), rng.normal(size=(count, 6)), np.empty(tree.rates), \
            np.empty((count, 6))

        def once(tree=tree, q=q, u=u, centres=centres, at=at, wrench=wrench, rates=rates, scratch=scratch):
            tree.posture(q, u, centres, at)
            tree.spread(at, u, at.twist)
            tree.gather(at, wrench, rates, scratch)

        once()
        counts.append(calls(once))
    assert counts[0] == counts[1] < 200


def momentum(tree, at):
    """[angular about the world's origin; linear], in world axes."""
    p = np.einsum("nab,nb->na", tree.inertia, at.twist)
    R, x = at.E[:, :3, :3], at.E[:, :3, 3]
    linear, angular = np.einsum("nab,nb->na", R, p[:, 3:]), np.einsum("nab,nb->na", R, p[:, :3])
    return np.concatenate([(angular + np.cross(x, linear)).sum(axis=0), linear.sum(axis=0)])


@pytest.mark.parametrize("seed", range(2))
def test_a_tree_in_the_air_keeps_its_momentum_and_energy(seed):
    from scipy.integrate import DOP853

    rng = np.random.default_rng(seed)
    inside = rng.permutation([kind for kind in KINDS if kind != "free"])
    tree = random_tree(rng, ["free", *inside], parents=[None, *(rng.integers(0, k) for k in range(1, len(KINDS)))])
    q, u, centres = random_state(rng, tree, 0.5)
    m, at = tree.rates, tree.blank()

    def flow(_, y):
        return np.concatenate([y[m:], acceleration(tree, y[:m], y[m:], centres, at=at)])

    path = DOP853(flow, 0.0, np.concatenate([q, u]), 0.5, rtol=1e-11, atol=1e-12)
    for _ in range(500):
        if path.status == "running":
            path.step()
    end = path.y
    assert path.status == "finished"
    first, last = tree.posture(q, u, centres), tree.posture(end[:m], end[m:], centres)
    assert np.abs(end[:m] - q).max() > 0.3
    assert momentum(tree, last) == pytest.approx(momentum(tree, first), abs=1e-8)
    energy = [np.einsum("na,nab,nb->", at.twist, tree.inertia, at.twist) for at in (first, last)]
    assert energy[1] == pytest.approx(energy[0], rel=1e-8)


@pytest.mark.parametrize("size", [1.2, 2.5])
def test_recentring_keeps_places_and_velocities(size):
    rng, tree, q, u, centres = mixed(6)
    q *= size / 0.9
    earlier, rates = q - 0.05 * u, u + 0.1 * rng.normal(size=tree.rates)
    memory = {CENTRES: centres, "bdf2.q": earlier, "bdf2.u": rates, "bdf2.h": np.array([0.05])}
    state = State(1.0, q, u, memory)
    after = tree.recentre(state, [("bdf2.q", "bdf2.u")])
    assert after is not state and (after.q != q).any()
    moved = np.flatnonzero((after.memory[CENTRES] != centres).reshape(-1, 4).any(axis=1))
    balls = [i for i in range(tree.count) if tree.joints[i] and tree.dof[i + 1] - tree.dof[i] in (3, 6)
             and tree.angular[tree.dof[i]:tree.dof[i] + 3].sum() == 3]
    far = [k for k, i in enumerate(balls) if np.linalg.norm(q[tree.dof[i]:tree.dof[i] + 3]) > 1.0]
    assert moved.tolist() == far and far
    for (q0, u0), (q1, u1) in (((q, u), (after.q, after.u)),
                               ((earlier, rates), (after.memory["bdf2.q"], after.memory["bdf2.u"]))):
        before, now = tree.posture(q0, u0, state.memory), tree.posture(q1, u1, after.memory)
        assert now.E == pytest.approx(before.E, abs=1e-12)
        assert now.twist == pytest.approx(before.twist, abs=1e-12)
    # the memory's own arrays are left alone, and nothing is left to do
    assert (memory[CENTRES] == centres).all() and tree.recentre(after) is after


def test_a_far_ball_stands_at_its_new_centre_and_a_tree_without_balls_is_left_alone():
    rng = np.random.default_rng(0)
    ball = random_tree(rng, ["spherical"])
    r, rate = np.array([0.9, -0.8, 0.4]), rng.normal(size=3)
    after = ball.recentre(State(0.0, r, rate))
    assert np.abs(after.q).max() <= 1e-15
    assert after.u == pytest.approx(jacobian(r[None])[0] @ rate, abs=1e-14)
    hinge = random_tree(rng, ["revolute"])
    state = State(0.0, np.array([50.0]), np.array([1.0]))
    assert hinge.recentre(state) is state


def test_a_ball_that_tumbles_for_long_stays_a_rotation():
    """Hundreds of charts one after the other; against the rotation of constant angular velocity."""
    tree = random_tree(np.random.default_rng(2), ["spherical"])
    omega, state = np.array([3.0, -2.0, 1.0]), State(0.0, np.zeros(3), np.array([3.0, -2.0, 1.0]))
    for _ in range(4_000):
        state = tree.recentre(State(state.time + 0.05, state.q + 0.05 * state.u, state.u, state.memory))
    at = tree.posture(state.q, state.u, state.memory)
    assert at.subspace.T @ state.u == pytest.approx([*omega, 0, 0, 0], abs=1e-10)
    angle = np.linalg.norm(omega) * state.time
    axis = omega / np.linalg.norm(omega)
    R = at.joint_poses[0, :3, :3]
    assert R @ R.T == pytest.approx(np.eye(3), abs=1e-13)
    assert np.trace(R) == pytest.approx(1 + 2 * np.cos(angle), abs=1e-9)
    assert R @ axis == pytest.approx(axis, abs=1e-10)


def test_absolute_coordinates_do_not_know_where_the_charts_stand():
    rng, tree, q, u, centres = mixed(5)
    absolute = tree.absolute(q, {CENTRES: centres})
    at, there = tree.posture(q, u, centres), tree.posture(absolute, u, tree.fresh)
    assert there.E == pytest.approx(at.E, abs=1e-13)
    # joints without a chart are as they are, and so are balls about their own frames
    assert (absolute != q).sum() == 3 * len(tree.fresh) / 4
    small = 0.3 * q
    assert tree.absolute(small, {}) == pytest.approx(small, abs=1e-14)
    # rates on those charts are what the coordinates do there
    B = slope(lambda q: tree.absolute(q, centres), q, u)
    assert tree.posture(absolute, B, tree.fresh).twist == pytest.approx(at.twist, abs=1e-8)


# ---- building

def parts(rng, pairs):
    bodies = [Body(name, random_inertia(rng)) for name in sorted({child for child, _ in pairs})]
    return bodies, [Joint(f"to {child}", "revolute", child, parent, frame(rng), frame(rng)) for child, parent in pairs]


def test_any_order_of_the_input_gives_the_same_motion():
    rng = np.random.default_rng(4)
    bodies, joints = parts(rng, [("a", None), ("b", "a"), ("c", "b"), ("d", "a"), ("e", None)])
    straight = build(bodies, joints)
    angles, rates = dict(zip("abcde", rng.normal(size=5))), dict(zip("abcde", rng.normal(size=5)))
    for _ in range(5):
        order = rng.permutation(5)
        tree = build([bodies[k] for k in order], [joints[k] for k in rng.permutation(5)])
        assert (tree.parent < np.arange(5)).all()
        assert [f"to {name}" for name in tree.bodies] == list(tree.joints)
        assert [bodies[order[k]].name for k in tree.order] == list(tree.bodies)
        for this in (tree, straight):
            at = this.posture(np.array([angles[b] for b in this.bodies]), np.array([rates[b] for b in this.bodies]), {})
            found = {name: (at.E[i], at.twist[i], at.drift[i]) for i, name in enumerate(this.bodies)}
            if this is tree:
                by_tree = found
        for name in "abcde":
            for in_order, other in zip(by_tree[name], found[name]):
                assert in_order == pytest.approx(other, abs=1e-14)


def test_branches_stay_whole_so_that_a_chain_is_in_order():
    rng = np.random.default_rng(4)
    bodies, joints = parts(rng, [("c", "b"), ("d", "c"), ("a", None), ("b", "a"), ("x", "a"), ("y", None)])
    assert list(build(bodies, joints).bodies) == ["a", "b", "c", "d", "x", "y"]


def test_a_body_without_a_joint_moves_freely():
    tree = build([Body("stone", random_inertia(np.random.default_rng(0)))], [])
    assert (tree.count, tree.rates, list(tree.parent)) == (1, 6, [-1])


@pytest.mark.parametrize("pairs, sentence", [
    ([("a", "a")], '"a": it is attached to itself: a on a. Make one of the joints a loop'),
    ([("r", None), ("a", "c"), ("b", "a"), ("c", "b"), ("d", "c")], 'it is attached to itself: a on c on b on a.'),
    ([("a", None), ("a", None)], '"to a": body "a" is already attached to joint "to a". Remove one'),
    ([("a", "z")], '"to a": its parent "z" is not a body. Correct the name'),
])
def test_what_is_no_tree_is_refused_in_a_sentence(pairs, sentence):
    with pytest.raises(BadScene) as refused:
        build(*parts(np.random.default_rng(0), pairs))
    assert sentence in str(refused.value)


def test_bad_bodies_and_frames_are_named():
    rng = np.random.default_rng(0)
    bodies, joints = parts(rng, [("a", None), ("b", "a")])
    with pytest.raises(BadScene, match='"a": there are two bodies'):
        build([*bodies, bodies[0]], joints)
    with pytest.raises(BadScene, match='"to c": its child "c" is not a body'):
        build(bodies, [*joints, Joint("to c", "fixed", "c", None, np.eye(4), np.eye(4))])
    with pytest.raises(BadScene, match='"a": its inertia is not'):
        build([Body("a", np.full((6, 6), np.nan)), bodies[1]], joints)
    for bad in (np.full((4, 4), np.nan), np.diag([1.0, 1.0, -1.0, 1.0]), np.diag([2.0, 2.0, 2.0, 1.0])):
        with pytest.raises(BadScene, match='"to b": its frames are not'):
            build(bodies, [joints[0], Joint("to b", "fixed", "b", "a", np.eye(4), bad)])
