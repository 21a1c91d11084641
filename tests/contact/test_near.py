"""Pairs of surface pieces that are near each other, against the IPC Toolkit's."""

import ipctk
import numpy as np
import pytest
from touching import sheet

from benchmarks.scenes.touching import ball
from solver.contact.find.distance_kernels import squares
from solver.contact.find.mesh import Surfaces
from solver.meshing.volume import boundary_faces


def crumpled(seed):
    """Two balls and a sheet of large faces through each other, all nodes shaken, and which of them are free."""
    rng = np.random.default_rng(seed)
    one, tets = ball(0.5, 4)
    skin = boundary_faces(tets)[0]
    vertices, triangles = sheet(3.0, 2)
    x = np.concatenate([one, one + [0.4, 0.3, 0.2], vertices])
    faces = np.concatenate([skin, skin + len(one), triangles + 2 * len(one)]).astype(np.int32)
    x = x + 0.05 * rng.normal(size=x.shape)
    is_free = np.arange(len(x)) < 2 * len(one)
    is_free[rng.choice(2 * len(one), 40, replace=False)] = False
    return x, faces, is_free


@pytest.mark.parametrize("seed,distance", [(1, 0.02), (2, 0.1), (3, 0.4)])
def test_near_pairs_are_those_of_the_toolkit(seed, distance):
    x, faces, is_free = crumpled(seed)
    surfaces = Surfaces(x, faces, np.where(is_free, -1, 0))
    ours = surfaces.near(x, distance)

    candidates = ipctk.Candidates()
    candidates.build(surfaces._mesh, x[surfaces.nodes], 0.5 * distance, ipctk.LBVH())
    points = [(one.vertex_id, *surfaces.triangles[one.face_id]) for one in candidates.fv_candidates]
    edges = [(*surfaces.edges[min(one.edge0_id, one.edge1_id)], *surfaces.edges[max(one.edge0_id, one.edge1_id)])
             for one in candidates.ee_candidates]
    theirs = surfaces.nodes[np.array(points + edges)].astype(np.int32)
    square = np.empty(len(theirs))
    squares(0, len(square), x, theirs, len(points), square)
    within = square <= distance**2
    for kept, found in ((theirs[: len(points)][within[: len(points)]], ours.nodes[: ours.points]),
                        (theirs[len(points) :][within[len(points) :]], ours.nodes[ours.points :])):
        assert {tuple(pair) for pair in kept} == {tuple(pair) for pair in found}
        assert len(kept) == len(found) > 10


def test_they_come_in_one_order_wherever_the_surfaces_are():
    x, faces, is_free = crumpled(4)
    surfaces = Surfaces(x, faces, np.where(is_free, -1, 0))
    before = surfaces.near(x, 0.1)
    turned = surfaces.near(x[:, [2, 0, 1]] + 7.0, 0.1)
    assert np.array_equal(before.nodes, turned.nodes)


def test_where_some_nodes_moved_pairs_are_those_of_a_search_for_all():
    x, faces, is_free = crumpled(5)
    surfaces = Surfaces(x, faces, np.where(is_free, -1, 0))
    before = surfaces.near(x, 0.1)
    # one of the balls goes aside, and then comes near to the other one again
    for way, distance in ((0.3, 0.1), (-0.2, 0.05)):
        x = x + np.where(np.arange(len(x)) < 125, way, 0.0)[:, None] * np.array([1.0, 0.4, -0.2])
        now, whole = surfaces.near(x, distance), Surfaces(x, faces, np.where(is_free, -1, 0)).near(x, distance)
        square = np.empty(len(now.nodes))
        squares(0, len(square), x, now.nodes, now.points, square)
        within = square <= distance**2
        assert np.array_equal(now.nodes[within], whole.nodes)
        assert np.count_nonzero(within[: now.points]) == whole.points
    assert len(whole.nodes) > 100 and len(before.nodes) > 100


def test_sheets_that_bound_no_tets_are_surfaces_like_any_other():
    vertices, triangles = sheet(1.0, 4)
    x = np.concatenate([vertices, vertices + [0.01, 0.02, 0.05]])
    both = np.concatenate([triangles, triangles + len(vertices)]).astype(np.int32)
    surfaces = Surfaces(x, both, np.full(len(x), -1))
    near = surfaces.near(x, 0.06)
    side = near.nodes >= len(vertices)
    assert len(near.nodes) and (side.any(axis=1) & ~side.all(axis=1)).all()
