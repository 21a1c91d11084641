"""How far surfaces may go until they meet, against the IPC Toolkit's continuous collision detection."""

import ipctk
import numpy as np
import pytest
from touching import box, contact_job, obstacle, sheet, soft
from worlds import nodes_of

from benchmarks.scenes.touching import ball
from solver.contact.find.impact_times_kernels import impact_times
from solver.contact.find.mesh import Surfaces
from solver.job.load import load
from solver.meshing.volume import boundary_faces


def apart():
    """Two balls beside each other over a sheet of large faces, nodes (n, 3), triangles, and which are prescribed."""
    one, tets = ball(0.5, 4)
    skin = boundary_faces(tets)[0]
    vertices, triangles = sheet(3.0, 2, z=-0.6)
    x = np.concatenate([one, one + [1.05, 0.1, 0.0], vertices])
    faces = np.concatenate([skin, skin + len(one), triangles + 2 * len(one)]).astype(np.int32)
    return x, faces, np.arange(len(x)) >= 2 * len(one)


@pytest.mark.parametrize("shaken,speed", [(0.002, 0.08), (0.02, 0.3), (0.1, 0.5), (0.3, 3.0)])
def test_the_largest_step_is_that_of_the_toolkit(shaken, speed):
    x, faces, is_still = apart()
    surfaces = Surfaces(x, faces, np.where(is_still, 0, -1))
    rng, cut = np.random.default_rng(3), 0
    for _ in range(6):
        end = x + shaken * rng.normal(size=x.shape)
        end[:125] += speed * rng.normal(size=3)
        end[is_still] = x[is_still]
        expected = ipctk.compute_collision_free_stepsize(surfaces._mesh, x[surfaces.nodes], end[surfaces.nodes], 0.0,
                                                         ipctk.LBVH(), ipctk.AdditiveCCD())
        ours = surfaces.largest_step(x, end)
        assert ours == pytest.approx(expected, rel=1e-9)
        assert surfaces.intersection(x + ours * (end - x)) is None
        cut += ours < 1.0
    assert cut >= 2


def test_only_what_meets_something_is_stopped():
    """One ball falls onto the sheet and stops before it; the other one flies on."""
    x, faces, is_still = apart()
    surfaces = Surfaces(x, faces, np.where(is_still, 0, -1))
    alike = np.where(is_still, len(x), np.arange(len(x)))
    end = x.copy()
    end[:125, 2] -= 0.3
    end[125:250, 2] += 0.3
    shares = surfaces.largest_steps(x, end, alike)
    reached = x + shares[:, None] * (end - x)
    assert surfaces.intersection(end) is not None and surfaces.intersection(reached) is None
    assert surfaces.largest_step(x, reached) == 1.0
    assert np.all(shares[125:250] == 1.0)
    # the lowest nodes stop, those of its upper half do not
    assert 0.2 < shares[:125].min() < 0.4
    assert np.all(shares[:125][x[:125, 2] > 0.0] == 1.0)


def test_two_that_go_side_by_side_stay_so_where_one_is_stopped():
    """A point a micrometre above a triangle goes with it, and an edge of the triangle stops half way before a wall."""
    triangle = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]])
    above = np.array([[0.03, 0.03, 1e-6], [0.13, 0.03, 0.1], [0.03, 0.13, 0.1]])
    wall = np.array([[0.0, -0.1, -0.02], [0.0, 0.02, -0.02], [0.1, 0.0, -0.02]])  # below two corners, not the third
    x = np.concatenate([triangle, above, wall])
    surfaces = Surfaces(x, np.arange(9, dtype=np.int32).reshape(3, 3), np.repeat([-1, -1, 0], 3))
    end = x.copy()
    end[:6, 2] -= 0.04
    shares = surfaces.largest_steps(x, end, np.arange(9))
    reached = x + shares[:, None] * (end - x)
    assert surfaces.largest_step(x, reached) == 1.0
    # the point over the triangle goes as far as that does, and not the thousandth that it might alone
    assert 0.3 < shares[:4].min() == shares[:4].max() < 0.6
    assert np.all(shares[4:6] > 0.6)


def test_what_is_prescribed_goes_as_one():
    """A sheet that is lifted into two balls stops as a whole."""
    x, faces, is_still = apart()
    surfaces = Surfaces(x, faces, np.where(is_still, 0, -1))
    alike = np.where(is_still, len(x), np.arange(len(x)))
    end = x.copy()
    end[is_still, 2] += 0.5
    shares = surfaces.largest_steps(x, end, alike)
    assert len({*shares[is_still]}) == 1 and 0.1 < shares[-1] < 0.3
    assert surfaces.intersection(x + shares[:, None] * (end - x)) is None


def test_a_box_that_is_thrown_at_the_floor_does_not_hold_up_the_one_that_rises(tmp_path):
    arrays = {}
    bodies = [soft("Down", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.4, -0.1, 0.1)), arrays),
              soft("Up", *box((2, 2, 2), (0.2, 0.2, 0.2), (0.2, -0.1, 0.1)), arrays)]
    part = nodes_of(load(contact_job(tmp_path / "job", bodies, [obstacle("Floor", *sheet(2.0, 3), arrays)], arrays)))
    x, surfaces = part.rest, part.contacts[0].surfaces
    end = x.copy()
    end[:27, 2] -= 20.0 / 96
    end[27:54, 2] += 20.0 / 96
    shares = part.largest_steps(x, end)
    assert shares[:27].min() < 1.0 == shares[27:54].min()
    reached = x + shares[:, None] * (end - x)
    # what is inside is no surface: the line search sees to it
    skin = surfaces.nodes[surfaces.nodes < 27]
    assert surfaces.intersection(reached) is None and reached[skin, 2].min() > 0.0


@pytest.mark.parametrize("shaken,speed", [(0.001, 0.0), (0.003, 0.004), (0.004, 0.006), (0.02, 0.3)])
def test_what_is_known_of_near_pairs_says_the_same_as_a_sweep(shaken, speed):
    """After pairs were found nearby, in steps of which some are too long for that and some are cut."""
    x, faces, is_still = apart()
    x[:125, 2] -= 0.095
    group = np.where(is_still, 0, -1)
    reused, rng, known, cut = Surfaces(x, faces, group), np.random.default_rng(5), 0, 0
    for round_ in range(12):
        if round_ % 4 == 0:
            reused.find_near_pairs(x, 0.06)
        end = x + shaken * rng.normal(size=x.shape)
        end[:125] += speed * rng.normal(size=3)
        end[is_still] = x[is_still]
        listed, here, there = reused._lists[0], x[reused.nodes], end[reused.nodes]
        strays = listed.may_touch(listed.measure(here)[0], np.linalg.norm(there - here, axis=1))[1]
        known += not strays.any()
        ours, expected = (sorted(zip(*(part.tolist() for part in searched.impacts(x, end))))
                          for searched in (reused, Surfaces(x, faces, group)))
        assert ours == expected
        share = min([1.0, *(when for _, when in ours)])
        cut += share < 1.0
        x = x + 0.3 * share * (end - x)
    assert (known > 0) == (speed < 0.1)
    assert cut > 0 or shaken < 0.004


def test_what_all_go_alike_leaves_a_list_of_near_pairs_as_good_as_it_was(monkeypatch):
    """One body goes half as far again as the list has room for, and the others stay: about the middle of both it is
    less for each."""
    x, faces, is_still = apart()
    x[:125, 2] -= 0.095
    reused, anew = (Surfaces(x, faces, np.where(is_still, 0, -1)) for _ in range(2))
    reused.find_near_pairs(x, 0.06, 0.01)
    monkeypatch.setattr(reused, "_within", lambda *_: pytest.fail("pairs were looked for"))
    there = x.copy()
    there[:125, 0] += 0.015
    one, other = reused.find_near_pairs(there, 0.06), anew.find_near_pairs(there, 0.06)
    assert np.array_equal(one.nodes, other.nodes) and len(one.nodes) and np.array_equal(one.square, other.square)


def test_pairs_of_strays_are_looked_for_once(monkeypatch):
    """A few nodes have moved far: their pairs replace the old ones, and both lists are valid from then on."""
    x, faces, is_still = apart()
    reused, asked, search = Surfaces(x, faces, np.where(is_still, 0, -1)), [], Surfaces._within
    monkeypatch.setattr(Surfaces, "_within", lambda self, here, distance, moved: asked.append(moved) or search(
        self, here, distance, moved))
    reused.find_near_pairs(x, 0.06, 0.01)
    there = x.copy()
    there[reused.nodes[:3]] += 0.05
    for _ in range(3):
        found, before = reused.find_near_pairs(there, 0.06), reused.find_near_pairs(x, 0.06)
    assert asked[0] is None and asked[1].tolist() == [True] * 3 + [False] * (len(reused.nodes) - 3) and len(asked) == 2
    assert np.array_equal(found.nodes, Surfaces(x, faces, np.where(is_still, 0, -1)).find_near_pairs(there, 0.06).nodes)
    assert np.array_equal(before.nodes, Surfaces(x, faces, np.where(is_still, 0, -1)).find_near_pairs(x, 0.06).nodes)


def test_a_short_move_of_what_was_looked_at_nearby_is_not_swept(monkeypatch):
    x, faces, is_still = apart()
    surfaces = Surfaces(x, faces, np.where(is_still, 0, -1))
    surfaces.find_near_pairs(x, 0.06)
    monkeypatch.setattr(surfaces, "_sweep", lambda *_: pytest.fail("it was swept"))
    assert surfaces.largest_step(x, x + 0.01 * (~is_still[:, None])) == 1.0


@pytest.mark.parametrize("gap", [1e-8, 5e-12])
def test_what_glides_a_hair_above_a_triangle_does_not_meet_it(gap):
    """By the largest speed of corners alone the pair takes more advances than there are, and is said to meet: a sheet
    that two plates had closed on took half a minute of them."""
    x = np.array([[-0.03, 0.05, 0.1 + gap], [0.09, 0.0, 0.1], [-0.11, 0.2, 0.1], [-0.12, -0.13, 0.1],
                  [-0.1, 0.0, 1.0 + gap], [0.1, 0.02, 1.0 + gap], [0.0, -0.1, 1.0], [0.03, 0.1, 1.0]])
    x = x @ np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    across = (x[2] - x[1]) + (x[3] - x[1])
    away, when, pairs = x.copy(), np.empty(2), np.arange(8, dtype=np.int32).reshape(2, 4)
    away[[0, 4, 5]] += 0.1 * across
    impact_times(0, 2, x, away, pairs, 1, 100_000, when)
    assert np.isinf(when).all()
    toward = away.copy()
    down = np.cross(x[2] - x[1], x[3] - x[1])
    down *= -np.sign(down @ (x[0] - x[1])) / np.linalg.norm(down)
    toward[[0, 4, 5]] += 4.0 * gap * down
    impact_times(0, 2, x, toward, pairs, 1, 100_000, when)
    assert when == pytest.approx(np.full(2, 0.9 / 4.0), rel=1e-4 if gap > 1e-9 else 2e-3)


def test_only_what_moves_otherwise_than_in_the_last_search_is_searched_again(monkeypatch):
    """One ball shaken and thrown at the sheet, then in turn with fewer nodes that are shaken as much."""
    x, faces, is_still = apart()
    group = np.where(is_still, 0, -1)
    surfaces, searched, was = Surfaces(x, faces, group), [], Surfaces._sweep
    surfaces.find_near_pairs(x, 0.05, 0.01)
    monkeypatch.setattr(Surfaces, "_sweep",
                        lambda self, before, after, moved: (searched.append(np.count_nonzero(moved)),
                                                            was(self, before, after, moved))[1])
    rng, alike = np.random.default_rng(4), np.arange(len(x))
    end = x + 0.02 * rng.normal(size=x.shape)
    end[:125, 2] -= 0.3
    end[is_still] = x[is_still]
    cut = 0
    for _ in range(5):
        fresh = Surfaces(x, faces, group)
        fresh.find_near_pairs(x, 0.05, 0.01)
        known = fresh.largest_steps(x, end, alike)
        searched.pop()
        assert np.array_equal(surfaces.largest_steps(x, end, alike), known)
        assert surfaces.largest_step(x, end) == pytest.approx(known.min(), rel=1e-9)  # and nothing is searched
        cut += known.min() < 1.0
        few = rng.choice(np.flatnonzero(~is_still), 10, replace=False)
        end[few] = x[few] + 0.3 * (end[few] - x[few])
    assert cut == 5 and len(searched) == 5 and searched[0] > 100 and max(searched[1:]) <= 10
    end = end + [0.0, 0.0, 0.001] * ~is_still[:, None]  # all move otherwise
    surfaces.largest_step(x, end)
    assert searched[-1] > 100
