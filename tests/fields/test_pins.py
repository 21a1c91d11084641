"""Pinned nodes follow the animated vertices around them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solver.fields.pins import follow


def rigid(points, seed=0, samples=40):
    """Samples of a rigid motion, and the function that moves any point along."""
    random = np.random.default_rng(seed)
    turns, shifts = Rotation.random(samples, random_state=seed).as_matrix(), random.normal(size=(samples, 3))

    def move(x):
        return np.einsum("tij,nj->tni", turns, x) + shifts[:, None]

    return move(points), move


CLOUDS = {
    "solid": lambda random: random.normal(size=(60, 3)),
    "sheet": lambda random: random.normal(size=(60, 3)) * [1.0, 1.0, 0.0],
    "nearly flat": lambda random: random.normal(size=(60, 3)) * [1.0, 1.0, 1e-7],
    "three vertices": lambda random: random.normal(size=(3, 3)),
}


@pytest.mark.parametrize("cloud", CLOUDS)
@pytest.mark.parametrize("size, origin", [(1.0, 0.0), (1e-6, 0.0), (1e3, 0.0)])
def test_rigid_motion_is_followed_exactly(cloud, size, origin):
    random = np.random.default_rng(4)
    rest = size * CLOUDS[cloud](random)
    nodes = size * 0.5 * random.normal(size=(25, 3))
    motion, move = rigid(rest)
    assert np.abs(follow(nodes, rest, motion) - move(nodes)).max() < 1e-12 * max(size, 1.0)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_point_translates_and_a_line_takes_the_smallest_turn(count):
    line = np.outer(np.linspace(0.0, 1.0, count) if count > 1 else [0.3], [1.0, 0.0, 0.0])
    nodes = np.array([[0.5, 0.2, 0.0], [0.1, 0.0, 0.3]])
    shifted = follow(nodes, line, line[None] + np.array([[[1.0, 2.0, 3.0]]]))
    assert shifted[0] == pytest.approx(nodes + [1, 2, 3], abs=1e-12)
    if count > 1:
        turn = Rotation.from_euler("z", np.linspace(0.0, np.pi, 9)).as_matrix()
        turned = follow(nodes, line, np.einsum("tij,sj->tsi", turn, line))
        assert turned[:-1] == pytest.approx(np.einsum("tij,nj->tni", turn, nodes)[:-1], abs=1e-12)
        assert np.isfinite(turned).all()
        lengths = np.linalg.norm(turned[:, 0] - turned[:, 1], axis=1)
        assert lengths == pytest.approx(np.linalg.norm(nodes[0] - nodes[1]))


def test_stretch_is_followed_and_a_sheet_keeps_its_thickness():
    random = np.random.default_rng(8)
    solid, stretch = random.normal(size=(80, 3)), np.diag([1.5, 0.8, 1.2])
    nodes = 0.3 * random.normal(size=(10, 3))
    assert follow(nodes, solid, (solid @ stretch)[None])[0] == pytest.approx(nodes @ stretch, abs=0.02)

    sheet = solid * [1.0, 1.0, 0.0]
    moved = follow(nodes, sheet, (sheet @ stretch)[None])[0]
    assert moved[:, 2] == pytest.approx(nodes[:, 2], abs=1e-9)  # a flat patch says nothing of its normal
    assert moved[:, :2] == pytest.approx((nodes @ stretch)[:, :2], abs=0.02)


def test_mirrored_patch_does_not_turn_nodes_inside_out():
    random = np.random.default_rng(9)
    sheet = random.normal(size=(40, 3)) * [1.0, 1.0, 0.0]
    nodes = np.array([[0.0, 0.0, 0.1], [0.2, 0.1, 0.1]])
    moved = follow(nodes, sheet, (sheet * [-1.0, 1.0, 1.0])[None])[0]
    assert np.isfinite(moved).all() and moved[:, 2] == pytest.approx(-nodes[:, 2], abs=1e-9)


def test_nodes_follow_what_is_near_them():
    left = np.random.default_rng(1).normal(size=(40, 3)) * 0.1
    rest = np.concatenate([left, left + [10.0, 0.0, 0.0]])
    motion = np.stack([rest, rest + np.repeat([[0.0, 0, 0], [0, 0, 5.0]], 40, axis=0)])
    nodes = np.array([[0.02, 0.0, 0.0], [10.0, 0.03, 0.0]])
    assert follow(nodes, rest, motion)[1] == pytest.approx(nodes + [[0, 0, 0], [0, 0, 5]], abs=1e-12)


def test_chunks_do_not_show():
    random = np.random.default_rng(2)
    rest, nodes = random.normal(size=(50, 3)), random.normal(size=(700, 3))
    motion = rest + 0.1 * random.normal(size=(40, 50, 3))
    together = follow(nodes, rest, motion)
    assert np.allclose(together[:, 640:], follow(nodes[640:], rest, motion), atol=1e-12)
