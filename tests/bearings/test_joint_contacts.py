"""Contact points inside joints: they carry the joint's load, and their friction acts on its free motion."""

from dataclasses import replace

import numpy as np
import pytest
from matrix import some
from trees import KINDS, frame, random_inertia, random_state, random_tree

from solver.bearings import shapes as joint_contacts
from solver.bearings.bearings import REGULARISATION, Bearing, BearingContacts, Bearings
from solver.bearings.shapes import JOINTS, LOOPS

EYE = np.eye(6)
#: free directions about the joint's origin, as in the catalogue's sentences
FREE = {"revolute": EYE[[2]], "prismatic": EYE[[5]], "cylindrical": EYE[[2, 5]], "planar": EYE[[2, 3, 4]],
        "spherical": EYE[:3], "translational": EYE[3:]}
RADIUS, LENGTH = 0.07, 0.3


def contacts(kind, points=12):
    return [seat.shape(RADIUS, LENGTH, points).rotate(np.array(seat.axes)) for seat in JOINTS[kind]]


@pytest.mark.parametrize("kind", FREE)
@pytest.mark.parametrize("points", [12, 13, 20])
def test_points_carry_all_that_the_joint_holds_and_nothing_else(kind, points):
    one, = contacts(kind, points)
    assert np.abs(one.normal @ FREE[kind].T).max() < 1e-14
    assert np.linalg.matrix_rank(one.normal, tol=1e-9) == 6 - len(FREE[kind])
    assert len(one.normal) >= 12 or kind == "translational"


IN_LINES = [kind for kind in FREE if kind != "spherical"]  #: a ball's points slip with all three of its lines


@pytest.mark.parametrize("kind", IN_LINES)
def test_tangents_of_a_line_slip_alike(kind):
    one, = contacts(kind)
    slip, lead = one.tangent @ FREE[kind].T, one.lead @ FREE[kind].T
    assert np.allclose(slip, one.ratio[:, None] * lead[one.line], rtol=0, atol=1e-15)
    assert (one.ratio > 0).all() and (np.diff(one.line) >= 0).all() and one.line[-1] == len(lead) - 1


@pytest.mark.parametrize("axis", range(2))
def test_a_pin_of_a_universal_joint_turns_about_its_own_axis(axis):
    one = contacts("universal")[axis]
    turns = EYE[[axis]]  # about X on the parent's side, about Y on the child's
    assert np.abs(one.normal @ turns.T).max() < 1e-14
    assert np.allclose(one.lead @ turns.T, RADIUS)
    assert np.abs(one.lead @ EYE[[1 - axis]].T).max() == 0.0  # friction in one pin does not turn the other


def load_of(one, wrench):
    """Least impulses at the points that carry a wrench."""
    return np.linalg.lstsq(one.normal.T, wrench, rcond=None)[0]


def friction_of(one, mu, wrench):
    """Return the largest work of a bearing's tangents under a wrench, summed over lines, (l,)."""
    return bounds_of(one, mu, wrench)[1]


def bounds_of(one, mu, wrench):
    """Return the bounds of a contact's tangents, (t,), and of its lines, (l,)."""
    bearing = Bearing(JOINTS["revolute"][0], mu, RADIUS, LENGTH, 12, 0, 0, -1, np.eye(4))
    table = Bearings([bearing], np.eye(6)[None], np.eye(4)[None])
    group = replace(table.groups[0], out=one.out, surface=one.surface, point=one.point, ratio=one.ratio,
                    line=one.line, lead=one.lead[None], all_directions=one.all_directions)
    return [bound[0] for bound in group.bounds(load_of(one, wrench)[None])]


@pytest.mark.parametrize("points", [12, 14, 24])
def test_friction_of_a_pin_is_mu_f_whichever_way_the_force_points(points):
    """At radius R, so μ R |F_r| as a torque; the bare sum of loads swings by 2 % and is 4/π of it in the mean."""
    one, = contacts("revolute", points)
    sums = []
    for angle in np.linspace(0.0, np.pi, 61):
        force = np.array([0, 0, 0, 50.0 * np.cos(angle), 50.0 * np.sin(angle), 0])
        assert friction_of(one, 0.3, force) == pytest.approx([15.0], rel=1e-12)
        sums.append(np.abs(load_of(one, force)).sum() / 50.0)
    assert np.mean(sums) == pytest.approx(4.0 / np.pi, rel=0.01)
    assert 0.0 < np.ptp(sums) < 0.05 * np.mean(sums)
    # a collar carries thrust at two thirds of the radius, and a moment loads both rings
    assert friction_of(one, 0.3, np.array([0, 0, 0, 0, 0, 50.0])) == pytest.approx([10.0])
    assert friction_of(one, 0.3, np.array([6.0, 0, 0, 0, 0, 0])) == pytest.approx([0.3 * 2 * 6.0 / LENGTH])


def test_loads_of_a_ball_count_as_the_force():
    rng = np.random.default_rng(0)
    for points in (12, 30):
        one, = contacts("spherical", points)
        assert len(one.normal) == points
        for force in rng.normal(size=(20, 3)):
            wrench = np.concatenate([np.zeros(3), force])
            # two tangents a point
            assert bounds_of(one, 0.5, wrench)[0].sum() == pytest.approx(np.linalg.norm(force), rel=1e-9)


@pytest.mark.parametrize("points", some([12, 30], 12))
def test_friction_of_a_ball_is_near_coulombs_whichever_way_it_turns(points):
    """Its three lines are the parts of one torque over the radius. What they may take of any turning against what
    points take that rub straight against their sliding; it is most where it spins about a load between axes."""
    rng = np.random.default_rng(2)
    one, = contacts("spherical", points)
    assert np.allclose(one.lead, RADIUS * EYE[:3])
    shares = []
    for force, turning in zip(rng.normal(size=(400, 3)), rng.normal(size=(400, 3))):
        tangents, lines = bounds_of(one, 0.5, np.concatenate([np.zeros(3), force]))
        turning /= np.linalg.norm(turning)
        sliding = np.linalg.norm(np.cross(turning, one.out), axis=1)
        shares.append(lines @ np.abs(turning) / (tangents[::2] @ sliding))
    assert 0.72 <= min(shares) and max(shares) <= 1.49
    assert np.mean(shares) == pytest.approx(1.1, abs=0.03)


def test_local_loads_are_those_of_the_regularised_dual():
    """(N M⁻¹ Nᵀ + ε)⁻¹ N M⁻¹ f, which the code never forms. [Thesis 3.7]"""
    rng = np.random.default_rng(1)
    M, at = random_inertia(rng), frame(rng)
    one = Bearing(JOINTS["revolute"][0], 0.3, RADIUS, LENGTH, 12, 0, 0, -1, at)
    group, = Bearings([one], M[None], at[None]).groups
    N, f = group.normal[0], rng.normal(size=6)
    dual = N @ np.linalg.inv(M) @ N.T
    epsilon = REGULARISATION * np.trace(dual) / len(N)
    assert group.epsilon[0] == pytest.approx(epsilon)
    expected = -np.linalg.solve(dual + epsilon * np.eye(len(N)), N @ np.linalg.solve(M, f))
    assert np.allclose(group.loads(f[None])[0], expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())
    # what is carried and can be held comes back
    f = N.T @ rng.normal(size=len(N))
    assert np.allclose(-N.T @ group.loads(f[None])[0], f, atol=1e-5 * np.abs(f).max())


def slips_by_hand(bearing, tree, at, u):
    """T φ of the pin against its hole, at the points' frame, (t,)."""
    twist = (tree.jacobian(at) @ u).reshape(-1, 6)
    padded = np.vstack([twist, np.zeros(6)])
    E = np.concatenate([at.E, np.eye(4)[None]])

    def spatial(body):
        """[ω; velocity of the point at the world's origin]."""
        w, v = E[body, :3, :3] @ padded[body, :3], E[body, :3, :3] @ padded[body, 3:]
        return np.concatenate([w, v - np.cross(w, E[body, :3, 3])])

    inside = bearing.other if bearing.seat.on_parent else bearing.body
    F = E[inside] @ bearing.frame
    relative = spatial(bearing.body) - spatial(bearing.other)
    w = F[:3, :3].T @ relative[:3]
    v = F[:3, :3].T @ (relative[3:] + np.cross(relative[:3], F[:3, 3]))
    return bearing.contacts().lead @ np.concatenate([w, v])


@pytest.mark.parametrize("seed", range(3))
def test_slip_of_every_bearing_is_the_relative_velocity_of_its_bodies(seed):
    rng = np.random.default_rng(seed)
    kinds = list(rng.permutation(list(KINDS)))
    tree = random_tree(rng, kinds)
    q, u, centres = random_state(rng, tree)
    at = tree.posture(q, u, centres)
    made = []
    for name in tree.joints:
        i = tree.joints.index(name)
        kind = kinds[int(name[1:])]
        for seat in JOINTS.get(kind, ()):
            inside = tree.in_parent[i] if seat.on_parent else tree.in_child[i]
            made.append(Bearing(seat, 0.3, RADIUS, LENGTH, 12, i, i, int(tree.parent[i]), inside))
    for number, (kind, seats) in enumerate(LOOPS.items()):
        a, b = rng.choice(tree.count, 2, replace=False)
        made.append(Bearing(seats[0], 0.3, RADIUS, LENGTH, 12, number, int(a), int(b) if kind != "ball" else -1,
                            frame(rng), is_loop=True))
    for bearing in made:
        table = Bearings([bearing], tree.inertia, tree.in_child)
        rows = BearingContacts(table, tree.parent, tree.dof, at.E, at.X, at.S).rows.G
        assert np.allclose(rows @ u, slips_by_hand(bearing, tree, at, u), atol=1e-12)
        rubbing = BearingContacts(table, tree.parent, tree.dof, at.E, at.X, at.S)
        along = rng.normal(size=table.lines)
        joints, loops = rubbing.wrenches(along)
        wrench = rubbing.add_opposites(joints) + (0.0 if loops is None else loops)
        assert np.allclose(tree.gather(at, wrench), rows.T @ along, atol=1e-12)


@pytest.mark.parametrize("kind", IN_LINES)
def test_friction_of_points_that_a_joint_loads_is_that_of_the_lines(kind):
    """Bounds of opposite points are alike, so their wrenches across the line cancel."""
    rng = np.random.default_rng(3)
    one, = contacts(kind)
    bound = np.abs(load_of(one, one.normal.T @ rng.normal(size=len(one.normal))))[one.point]
    for line in range(len(one.lead)):
        of = one.line == line
        assert np.allclose(bound[of] @ one.tangent[of], (one.ratio * bound)[of].sum() * one.lead[line], atol=1e-12)


def test_points_of_a_ball_favour_no_direction():
    for points, off in ((12, 1e-12), (40, 0.02)):
        out = joint_contacts.ball(1.0, 0.0, points).normal[:, 3:]
        assert np.allclose(out.T @ out, points / 3.0 * np.eye(3), atol=off * points)
