"""Bodies in isolated flight: near pairs and contacts equal those of a search, with hardly any search."""

import numpy as np
import pytest
from test_new_pairs import apart
from touching import box

from benchmarks.scenes.touching import ball, bowl
from solver.contact.find.isolated_bodies import IsolatedBodies
from solver.contact.find.mesh import Surfaces
from solver.meshing.volume import boundary_faces

OWNER = np.repeat([0, 1, 2], [125, 125, 9])


def surfaces(x, faces, is_still, owner=OWNER):
    return Surfaces(x, faces, np.where(is_still, 0, -1), owner)


def same(one, other):
    return np.array_equal(one.nodes, other.nodes) and np.array_equal(one.square, other.square)


@pytest.mark.parametrize("shaken", [0.0005, 0.004])
def test_whoever_flies_is_found_as_a_search_finds_it(shaken):
    """One ball goes around the other one and over the sheet, near to both and far from both, and turns."""
    x, faces, is_still = apart()
    middle, rng = x[125:250].mean(axis=0), np.random.default_rng(0)
    listed, own, meets = surfaces(x, faces, is_still), x[:125] - x[:125].mean(axis=0), 0
    for k in range(80):
        angle = 0.1 * k
        to = middle + (1.3 + 0.35 * np.cos(3.0 * angle)) * np.array([-np.cos(angle), -np.sin(angle), 0.4 * angle - 0.2])
        turn = np.array([[np.cos(0.02 * k), -np.sin(0.02 * k), 0.0], [np.sin(0.02 * k), np.cos(0.02 * k), 0.0],
                         [0.0, 0.0, 1.0]])
        end = x.copy()
        end[:125] = to + own @ turn.T + shaken * rng.normal(size=own.shape)
        anew = surfaces(x, faces, is_still)
        ours, expected = (sorted(zip(*(part.tolist() for part in searched.impacts(x, end))))
                          for searched in (listed, anew))
        assert ours == expected
        meets += len(ours) > 0
        x = x + min([1.0, *(0.9 * when for _, when in ours)]) * (end - x)
        assert same(listed.find_near_pairs(x, 0.06, 0.02), surfaces(x, faces, is_still).find_near_pairs(x, 0.06))
        # who owns what makes no pair
        assert same(listed.find_near_pairs(x, 0.06),
                    Surfaces(x, faces, np.where(is_still, 0, -1)).find_near_pairs(x, 0.06))
    assert 0 < meets < 60


def test_flight_asks_for_no_search(monkeypatch):
    x, faces, is_still = apart()
    x[:125] += [-3.0, 0.0, 2.0]
    listed = surfaces(x, faces, is_still)
    listed.find_near_pairs(x, 0.06, 0.02)
    monkeypatch.setattr(listed, "_within", lambda *_: pytest.fail("pairs were looked for"))
    monkeypatch.setattr(listed, "_sweep", lambda *_: pytest.fail("it was swept"))
    for _ in range(20):
        there = x.copy()
        there[:125] += [0.1, 0.2, -0.05]
        assert listed.largest_step(x, there) == 1.0
        x = there
        listed.find_near_pairs(x, 0.06)


def test_a_body_that_hangs_in_a_bowl_is_isolated_until_it_comes_near():
    """The bowl's box has all of the ball in it, its faces do not."""
    inner, tets = ball(0.2, 4)
    outer, shell = bowl(1.0)
    x = np.concatenate([inner, outer])
    faces = np.concatenate([boundary_faces(tets)[0], shell + len(inner)]).astype(np.int32)
    bodies = IsolatedBodies(np.repeat([3, 8], [len(inner), len(outer)]), None, faces)
    assert bodies.find_isolated_nodes(x, x, 0.1, 0.0).all()
    for down, is_isolated in ((0.5, True), (0.75, False)):
        there = x.copy()
        there[: len(inner), 2] -= down
        assert bodies.find_isolated_nodes(there, there, 0.1, 0.0).all() == is_isolated
        assert bodies.find_isolated_nodes(x, there, 0.1, 0.0).all() == is_isolated
        assert bodies.find_isolated_nodes(x, there, 0.1, 0.0).any() == is_isolated
    assert not bodies.find_isolated_nodes(x, there - [0.0, 0.0, 2.0], 0.0, 0.0).any()


def test_two_that_do_not_touch_are_alone_beside_each_other():
    one, tets = box((1, 1, 1), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0))
    x = np.concatenate([one, one + 0.5])
    skin = boundary_faces(tets)[0]
    faces = np.concatenate([skin, skin + len(one)]).astype(np.int32)
    owner = np.repeat([0, 1], len(one))
    assert not IsolatedBodies(owner, None, faces).find_isolated_nodes(x, x, 0.0, 0.0).any()
    assert IsolatedBodies(owner, np.eye(2, dtype=bool), faces).find_isolated_nodes(x, x, 0.0, 0.0).all()


def test_own_ways_are_those_beside_the_body_s_middle():
    """Two bodies move; ways of a third one, which stays but for one of ten nodes, are less as they are."""
    rng, owner = np.random.default_rng(1), np.repeat([4, 2, 4, 7], [3, 5, 2, 10])
    here, way = rng.normal(size=(20, 3)), 5.0 + rng.normal(size=(20, 3))
    way[10:] = 0.0
    way[12] = [1.0, 2.0, 2.0]
    bodies = IsolatedBodies(owner, None, np.zeros((0, 3), np.int32))
    found, together = bodies.measure_own_displacements(here, here + way)
    for which in (2, 4):
        own = way[owner == which]
        middle = 0.5 * (own.min(axis=0) + own.max(axis=0))
        np.testing.assert_allclose(found[owner == which], np.linalg.norm(own - middle, axis=1), rtol=1e-12)
        np.testing.assert_allclose(together()[owner == which] - middle, 0.0, atol=1e-12)
    assert not together()[10:].any()
    np.testing.assert_allclose(found[10:], np.where(np.arange(10) == 2, 3.0, 0.0), atol=1e-12)
