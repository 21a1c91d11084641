"""Pairs of surface pieces that are near each other, against the IPC Toolkit's."""

import ipctk
import numpy as np
import pytest
from touching import sheet

from benchmarks.scenes.touching import ball
from solver import threads
from solver.contact.find import near
from solver.contact.find.distance_kernels import squares
from solver.contact.find.mesh import Surfaces
from solver.meshing.volume import boundary_faces


def crumpled(seed, shaken=0.05):
    """Two balls and a sheet of large faces through each other, all nodes shaken [m], and which of them are free."""
    rng = np.random.default_rng(seed)
    one, tets = ball(0.5, 4)
    skin = boundary_faces(tets)[0]
    vertices, triangles = sheet(3.0, 2)
    x = np.concatenate([one, one + [0.4, 0.3, 0.2], vertices])
    faces = np.concatenate([skin, skin + len(one), triangles + 2 * len(one)]).astype(np.int32)
    x = x + shaken * rng.normal(size=x.shape)
    is_free = np.arange(len(x)) < 2 * len(one)
    is_free[rng.choice(2 * len(one), 40, replace=False)] = False
    return x, faces, is_free


@pytest.mark.parametrize("seed,distance", [(1, 0.02), (2, 0.1), (3, 0.4)])
def test_near_pairs_are_those_of_the_toolkit(seed, distance):
    x, faces, is_free = crumpled(seed)
    surfaces = Surfaces(x, faces, np.where(is_free, -1, 0))
    ours = surfaces.find_near_pairs(x, distance)

    candidates = ipctk.Candidates()
    candidates.build(surfaces._mesh, x[surfaces.nodes], 0.5 * distance, ipctk.LBVH())
    points = [(pair.vertex_id, *surfaces.triangles[pair.face_id]) for pair in candidates.fv_candidates]
    edges = [(*surfaces.edges[min(pair.edge0_id, pair.edge1_id)], *surfaces.edges[max(pair.edge0_id, pair.edge1_id)])
             for pair in candidates.ee_candidates]
    of_ipctk = surfaces.nodes[np.array(points + edges)].astype(np.int32)
    square = np.empty(len(of_ipctk))
    squares(0, len(square), x, of_ipctk, len(points), square)
    within = square <= distance**2
    for expected, found in ((of_ipctk[: len(points)][within[: len(points)]], ours.nodes[: ours.points]),
                            (of_ipctk[len(points) :][within[len(points) :]], ours.nodes[ours.points :])):
        assert {tuple(pair) for pair in expected} == {tuple(pair) for pair in found}
        assert len(expected) == len(found) > 10


def test_they_come_in_one_order_wherever_the_surfaces_are():
    x, faces, is_free = crumpled(4)
    surfaces = Surfaces(x, faces, np.where(is_free, -1, 0))
    before = surfaces.find_near_pairs(x, 0.1)
    turned = surfaces.find_near_pairs(x[:, [2, 0, 1]] + 7.0, 0.1)
    assert np.array_equal(before.nodes, turned.nodes)


@pytest.mark.parametrize("shaken,amplitude", [(0.002, 0.0), (0.01, 0.0), (0.002, 0.1), (0.2, 0.0)])
def test_what_is_listed_equals_a_new_search(shaken, amplitude, monkeypatch):
    """Nodes wander, a few of them far, or a ball goes aside and comes back: equal bits, one order."""
    x, faces, is_free = crumpled(5)
    group, owner = np.where(is_free, -1, 0), np.arange(len(x)) // 125
    meets = np.array([[True, True, True], [True, True, False], [True, False, False]])
    surfaces, rng, lists = Surfaces(x, faces, group, owner, meets), np.random.default_rng(6), []
    monkeypatch.setattr(surfaces, "_list", lambda *of: lists.append(Surfaces._list(surfaces, *of)) or lists[-1])
    for count in range(12):
        x = x + shaken * rng.normal(size=x.shape)
        x[rng.choice(250)] += 0.1 * rng.normal(size=3)
        x[:125, 0] += amplitude * np.cos(count)
        for distance in (0.1, 0.06):
            now, anew = (surfaces.find_near_pairs(x, distance, 0.04),
                         Surfaces(x, faces, group, owner, meets).find_near_pairs(x, distance))
            assert np.array_equal(now.nodes, anew.nodes) and np.array_equal(now.square, anew.square)
            assert now.points == anew.points > 10 and np.array_equal(now.bodies, anew.bodies)
    # one list serves all that wanders little, with pairs of strays in place of theirs, none what is shaken apart
    assert len(lists) == 1 if shaken + amplitude < 0.01 else 3 <= len(lists) <= 24


@pytest.mark.parametrize("count", [1, 2])
def test_threads_and_room_make_no_pair(count, monkeypatch):
    """Pairs are those of a search of each with each, however the columns of the grid are shared out, and where there
    is too little room at first."""
    vertices, triangles = sheet(1.0, 24)
    x = np.concatenate([vertices, vertices + [0.01, 0.02, 0.03]])
    both = np.concatenate([triangles, triangles + len(vertices)]).astype(np.int32)
    with monkeypatch.context() as each_with_each:
        each_with_each.setattr(near, "BRUTE", np.inf)
        known = Surfaces(x, both, np.full(len(x), -1)).find_near_pairs(x, 0.05)
    before = threads.count()
    threads.configure(count)
    try:
        for room in (near.CAPACITY, 0):
            monkeypatch.setattr(near, "CAPACITY", room)
            found = Surfaces(x, both, np.full(len(x), -1)).find_near_pairs(x, 0.05)
            assert np.array_equal(found.nodes, known.nodes) and np.array_equal(found.square, known.square)
    finally:
        threads.configure(before)
    assert len(known.nodes) > 16 * 1024 and len(vertices) * len(triangles) > near.BRUTE


def test_sheets_that_bound_no_tets_are_surfaces_like_any_other():
    vertices, triangles = sheet(1.0, 4)
    x = np.concatenate([vertices, vertices + [0.01, 0.02, 0.05]])
    both = np.concatenate([triangles, triangles + len(vertices)]).astype(np.int32)
    surfaces = Surfaces(x, both, np.full(len(x), -1))
    near = surfaces.find_near_pairs(x, 0.06)
    side = near.nodes >= len(vertices)
    assert len(near.nodes) and (side.any(axis=1) & ~side.all(axis=1)).all()


def test_searches_pass_over_a_body_that_does_not_collide_with_itself(monkeypatch):
    """They find the pairs that a search of all with all leaves after its filter, and none for the filter to drop."""
    x, faces, is_free = crumpled(7)
    group, owner = np.where(is_free, -1, 0), np.arange(len(x)) // 125
    collide = np.ones((3, 3), dtype=bool)
    collide[0, 0] = False
    end = x + 0.05 * np.random.default_rng(8).normal(size=x.shape)
    every = Surfaces(x, faces, group, owner)
    own = Surfaces(x, faces, group, owner, collide)
    dropped, was = [], Surfaces._that_collide

    def counted(self, pairs):
        both_free = is_free[self.nodes[pairs]].all(axis=1)
        dropped.append(np.count_nonzero(both_free & (owner[self.nodes[pairs]] == 0).all(axis=1)))
        return was(self, pairs)

    monkeypatch.setattr(Surfaces, "_that_collide", counted)
    found, known = own.find_near_pairs(x, 0.1), every.find_near_pairs(x, 0.1)
    expected = ~(known.is_self & (known.bodies[:, 0] == 0))
    assert np.array_equal(found.nodes, known.nodes[expected]) and np.count_nonzero(~expected) > 100
    assert sum(dropped[:2]) == 0 < sum(dropped[2:])
    dropped.clear()
    own._sweep(x[own.nodes], end[own.nodes], None)
    assert sum(dropped) == 0 < len(dropped)
