"""Distances and directions of pairs of convex shapes, against linear and quadratic programs."""

import itertools

import numpy as np
import pytest
from falling import about, frame
from matrix import some
from scipy.optimize import linprog, minimize

from solver.contact.find.bodies import Colliders
from solver.contact.find.convex import Convex, Shapes
from solver.contact.find.ground import Ground

BOX = Convex.box(np.array([0.5, 0.3, 0.2]))
ROUND = {"sphere": Convex.sphere(0.15), "capsule": Convex.capsule(0.1, 0.4)}


def hull(rng, count=14):
    points = rng.normal(size=(count, 3))
    return Convex.hull(0.25 * points / np.linalg.norm(points, axis=1)[:, None])


def contacts(a, b, pose_a, pose_b, slack):
    """Return the contacts of two bodies at these poses, each as fast as gives this slack in all."""
    colliders = Colliders(Shapes.of([a, b]), np.array([0, 1], np.int32), np.tile(np.eye(4), (2, 1, 1)), np.ones(2),
                          np.array([-1, -1], np.int32), np.zeros(2, np.int32), np.array([True]),
                          np.zeros((0, 2), np.int32))
    twist = np.zeros((2, 6))
    twist[:, 3] = 0.5 * slack
    return colliders.find(np.array([pose_a, pose_b]), twist, 0.0, 1.0)


def world(shape, pose):
    return shape.points @ pose[:3, :3].T + pose[:3, 3]


def overlap(p, q):
    """Whether two hulls share a point: a linear program in the weights of their corners."""
    a = np.zeros((5, len(p) + len(q)))
    a[:3, :len(p)], a[:3, len(p):] = p.T, -q.T
    a[3, :len(p)] = a[4, len(p):] = 1.0
    return linprog(np.zeros(a.shape[1]), A_eq=a, b_eq=[0, 0, 0, 1, 1], bounds=(0, None)).status == 0


def distance(p, q):
    """Return the distance of two hulls that are apart: a quadratic program in the weights."""
    n = len(p)
    start = np.concatenate([np.full(n, 1 / n), np.full(len(q), 1 / len(q))])
    found = minimize(lambda w: np.sum((p.T @ w[:n] - q.T @ w[n:]) ** 2), start, method="SLSQP",
                     bounds=[(0, 1)] * len(start),
                     jac=lambda w: 2 * np.concatenate([p, -q]) @ (p.T @ w[:n] - q.T @ w[n:]),
                     constraints=[{"type": "eq", "fun": lambda w: w[:n].sum() - 1},
                                  {"type": "eq", "fun": lambda w: w[n:].sum() - 1}],
                     options={"ftol": 1e-16, "maxiter": 500})
    return np.sqrt(found.fun)


def some_pose(rng, far):
    return frame(rng.normal(size=3) * far, about(rng.normal(size=3), rng.uniform(0, 3)))


@pytest.mark.parametrize("seed", range(30))
def test_moving_polyhedra_apart_by_the_gap_makes_them_touch(seed):
    rng = np.random.default_rng(seed)
    a, b = (BOX if rng.random() < 0.5 else hull(rng) for _ in range(2))
    pose_a, pose_b = some_pose(rng, 0.2), some_pose(rng, 0.05)
    found = contacts(a, b, pose_a, pose_b, 0.05)
    p, q = world(a, pose_a), world(b, pose_b)
    if not len(found):
        assert not overlap(p, q)
        return
    k = int(np.argmin(found.gap))
    apart = found.gap[k] * found.normal[k]
    assert overlap(p, q) == (found.gap[k] < 0.0)
    if found.gap[k] < 0.0:
        assert overlap(p - 0.99 * apart, q) and not overlap(p - apart + 1e-6 * found.normal[k], q)
        # no way out is clearly shorter
        ways = rng.normal(size=(200, 3))
        ways /= np.linalg.norm(ways, axis=1)[:, None]
        shortest = min((p @ w).max() - (q @ w).min() for w in ways)
        assert -found.gap[k] <= shortest + 2e-3


@pytest.mark.parametrize("seed, kind", some(
    list(itertools.product(range(12), ROUND)), *itertools.product(range(6), ROUND)))
def test_round_shapes_are_as_far_as_their_cores_less_the_radii(seed, kind):
    rng = np.random.default_rng(seed)
    a, b = ROUND[kind], [BOX, hull(rng), *ROUND.values()][seed % 4]
    pose_a, pose_b = some_pose(rng, 0.25), some_pose(rng, 0.05)
    p, q = world(a, pose_a), world(b, pose_b)
    if overlap(p, q):
        pytest.skip("their cores cross")
    exact = distance(p, q) - a.radius - b.radius
    for first, second, pose_1, pose_2 in ((a, b, pose_a, pose_b), (b, a, pose_b, pose_a)):
        found = contacts(first, second, pose_1, pose_2, exact + 0.2)
        k = int(np.argmin(found.gap))
        assert found.gap[k] == pytest.approx(exact, abs=2e-6)
        # pushed along the normal by the gap they touch
        moved = world(first, pose_1) - exact * found.normal[k]
        assert distance(moved, world(second, pose_2)) == pytest.approx(a.radius + b.radius, abs=1e-5)
        assert np.linalg.norm(found.normal, axis=1) == pytest.approx(1.0)


def test_a_box_on_a_box_touches_at_the_corners_of_what_they_share():
    upper = frame((0.1, 0.05, 0.2 - 1e-9))
    found = contacts(BOX, BOX, upper, np.eye(4), 1e-3)
    assert len(found) == 4 and found.normal == pytest.approx(np.tile([0, 0, 1.0], (4, 1)))
    assert {tuple(p) for p in np.round(found.point, 6)} == {(x, y, 0.1) for x in (-0.15, 0.25) for y in (-0.1, 0.15)}
    assert found.gap == pytest.approx(-1e-9, abs=1e-12)


def test_two_bars_that_cross_touch_at_their_edges():
    bar = Convex.box(np.array([1.0, 0.1, 0.1]))
    on_edge = about((1, 0, 0), np.pi / 4)
    high = frame((0, 0, 0.14), about((0, 0, 1), 1.1) @ on_edge)
    found = contacts(bar, bar, high, frame((0, 0, 0), on_edge), 0.01)
    assert len(found) == 1 and found.normal[0] == pytest.approx([0, 0, 1.0], abs=1e-12)
    assert found.point[0] == pytest.approx([0, 0, 0.07]) and found.gap[0] == pytest.approx(0.14 - 0.1 * np.sqrt(2))


def test_a_capsule_that_has_sunk_into_a_narrow_box_is_pushed_out_of_its_face_alone():
    narrow = Convex.box(np.array([1.0, 0.16, 0.2]))
    sunk = frame((0, 0, 0.12), about((0, 1, 0), np.pi / 2))
    found = contacts(ROUND["capsule"], narrow, sunk, np.eye(4), 0.01)
    assert len(found) == 2 and found.normal == pytest.approx(np.tile([0, 0, 1.0], (2, 1)))
    assert found.gap == pytest.approx(-0.08)


def test_a_fine_hull_is_thinned_and_coplanar_triangles_are_one_face():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(500, 3))
    assert len(Convex.hull(points / np.linalg.norm(points, axis=1)[:, None]).points) == Convex.most_points
    assert sorted(len(face) for face in BOX.faces) == [4] * 6 and len(BOX.edges) == 12


@pytest.mark.parametrize("count", [162, 5000])
def test_the_ground_sees_all_corners_of_a_hull_that_was_thinned(count):
    """A ball stands on the ground where it is drawn, whichever way it is turned; its thinned hull lies within it."""
    rng = np.random.default_rng(1)
    points = rng.normal(size=(count, 3))
    points *= 0.1 / np.linalg.norm(points, axis=1)[:, None]
    ground = Ground(np.zeros(3), np.array([0.0, 0.0, 1.0]))
    colliders = Colliders(Shapes.of([BOX, Convex.hull(points)]), np.arange(2, dtype=np.int32),
                          np.tile(np.eye(4), (2, 1, 1)), np.ones(2), np.array([-1, -1], np.int32),
                          np.zeros(2, np.int32), np.array([False]), np.zeros((0, 2), np.int32), ground)
    for angle in rng.uniform(0.0, np.pi, 4):
        pose = frame((0, 0, 0.095), about(rng.normal(size=3), angle))
        found = colliders.find(np.array([frame((0, 0, 9.0)), pose]), np.zeros((2, 6)), 0.0, 0.01)
        assert len(found) and (found.body == [1, -1]).all()
        assert found.gap.min() == pytest.approx((points @ pose[2, :3]).min() + 0.095, abs=1e-12)


@pytest.mark.parametrize("itself, count", [(True, 1), (False, 0)])
def test_bodies_of_one_mechanism_touch_only_when_asked_and_neighbours_never(itself, count):
    shapes = Shapes.of([BOX] * 3)
    poses = np.tile(np.eye(4), (3, 1, 1))
    poses[1, 0, 3], poses[2, 0, 3] = 0.4, 0.3

    def find(parent, apart):
        colliders = Colliders(shapes, np.arange(3, dtype=np.int32), np.tile(np.eye(4), (3, 1, 1)), np.ones(3),
                              np.array(parent, np.int32), np.zeros(3, np.int32), np.array([itself]),
                              np.array(apart, np.int32).reshape(-1, 2))
        return {tuple(pair) for pair in colliders.find(poses, np.zeros((3, 6)), 0.0, 0.01).body}

    # 1 and 2 hang on 0, or a loop holds two
    assert find([-1, 0, 0], []) == ({(1, 2)} if itself else set())
    assert len(find([-1, 0, 1], [])) == count and find([-1, 0, 1], [[2, 0]]) == set()
