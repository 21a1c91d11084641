"""Parts that are apart in a mesh are apart in its tetrahedra, at any gap."""

import numpy as np
import pytest
from matrix import some
from surfaces import box, globe, hand, joined, mouth

from solver.embedding.bind import bind
from solver.embedding.fused import find_fused_pairs
from solver.meshing.parting import part_sheets
from solver.meshing.surface import clean
from solver.meshing.tetrahedralize import tetrahedralize
from solver.meshing.volume import boundary_faces, face_parts, mean_edge, tet_quality, tet_volumes


@pytest.fixture(scope="module")
def wide():
    return tetrahedralize(*hand(0.02), "tetwild", {}, name="Hand")


@pytest.mark.parametrize("gap", some([1e-3, 1e-4], 1e-4))
def test_fingers_of_a_hand_are_five(wide, gap):
    vertices, triangles = hand(gap)
    volume = tetrahedralize(vertices, triangles, "tetwild", {}, name="Hand")
    below = np.flatnonzero(volume.nodes[volume.tets][:, :, 2].mean(axis=1) < -0.02)
    count, part = face_parts(volume.tets[below])
    assert count == 5
    # the mesh is where it was, each finger's vertices in its own finger
    embedding = bind(volume.nodes, volume.tets, vertices, triangles)
    assert np.abs(embedding.apply(volume.nodes) - vertices).max() < 1e-9
    of_tet = np.full(len(volume.tets), -1)
    of_tet[below] = part
    low = np.flatnonzero(vertices[:, 2] < -0.04)
    finger = np.floor((vertices[low, 0] - vertices[:, 0].min()) / (0.03 + gap) + 1e-9)
    assert [len(np.unique(of_tet[embedding.tet[low[finger == k]]])) for k in range(5)] == [1] * 5
    # no more tetrahedra than half as many again, as much matter, none of them a sliver
    assert len(volume.nodes) < 1.5 * len(wide.nodes)
    solid = 5 * 0.03 * 0.04 * 0.15 + (0.15 + 4 * gap) * 0.04 * 0.1
    assert tet_volumes(volume.nodes, volume.tets).sum() == pytest.approx(solid, rel=0.01)
    assert tet_quality(volume.nodes, volume.tets).min() > 0.05


@pytest.mark.parametrize("gap", some([2e-3, 1e-4], 1e-4))
def test_pieces_of_a_mesh_are_pieces(gap):
    surface = joined(box((0.3, 0.3, 0.3), cells=(5, 5, 5)), box((0.3, 0.3, 0.3), (0, 0, 0.3 + gap), (5, 5, 5)))
    volume = tetrahedralize(*surface, "tetwild", {}, name="Two")
    assert face_parts(volume.tets)[0] == 2


def test_a_ball_in_a_hole_that_fits_it_is_loose():
    vertices, triangles = globe(16)
    surface = joined((0.15 * vertices, triangles), (0.1 * vertices, triangles[:, ::-1]), (0.0995 * vertices, triangles))
    volume = tetrahedralize(*surface, "tetwild", {}, name="Bell")
    assert face_parts(volume.tets)[0] == 2


def test_what_stands_in_each_other_or_is_apart_or_thin_stays_as_it_is():
    for surface in (joined(box(), box((0.4, 0.4, 0.4), (0.3, 0.3, 0.65))), joined(box(), box(origin=(0, 0, 1.1))),
                    box((1.0, 1.0, 0.01), cells=(8, 8, 1)), box((1.0, 1.0, 1e-4), cells=(8, 8, 1))):
        made = clean(*surface)
        assert not part_sheets(made, 0.03).moved.any()


def test_sheets_go_apart_alike_and_no_further_than_there_is_of_them():
    made = clean(*joined(box(), box((1.0, 1.0, 0.02), (0, 0, 1.004))))
    moved = part_sheets(made, 0.02)
    height = 1.024
    lower = made.vertices[:, 2] * made.scale + made.centre[2] < 1.002
    upper = ~lower
    assert moved.moved[upper, 2].max() <= 0.26 * 0.02 / height
    assert moved.moved[lower, 2].min() == pytest.approx(-0.5 * (0.02 - 0.004 / height), rel=0.05)
    assert np.abs(moved.moved[:, :2]).max() < 1e-3


@pytest.mark.parametrize("gap", some([1e-3, 1e-4], 1e-4))
def test_closed_lips_of_a_head_open(gap):
    """No tetrahedron has nodes of both lips, but where the corners and the back of the mouth join them."""
    vertices, triangles = mouth(gap)
    volume = tetrahedralize(vertices, triangles, "tetwild", {}, name="Head")
    embedding = bind(volume.nodes, volume.tets, vertices, triangles)
    edge = mean_edge(volume.nodes, boundary_faces(volume.tets)[0])
    assert not len(find_fused_pairs(embedding, vertices, triangles, edge))
    inner = (np.abs(vertices[:, 0]) < 0.03) & (vertices[:, 1] < 0.03)
    upper, lower = (np.flatnonzero(inner & (np.abs(vertices[:, 2] - z) < 1e-9)) for z in (gap / 2, -gap / 2))
    assert len(upper) > 5 and len(lower) > 5
    assert not np.intersect1d(embedding.corners[upper], embedding.corners[lower]).size
