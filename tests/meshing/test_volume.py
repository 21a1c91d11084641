"""Quantities of a volume, and the box grid."""

import numpy as np
import pytest

from benchmarks.scenes.five_tets import box_five_tets
from solver.errors import BadMesh
from solver.meshing.grid import box_tets
from solver.meshing.tetrahedralize import tetrahedralize
from solver.meshing.volume import (
    boundary_faces,
    drop_unused_nodes,
    face_parts,
    nonmanifold_edges,
    split_pinches,
    tet_quality,
    tet_volumes,
)


def test_box_of_the_paper():
    nodes, tets = box_tets((20, 6, 6), (0.2, 0.06, 0.06), (1.0, 2.0, 3.0))
    assert nodes.shape == (1029, 3) and tets.shape == (4320, 4) and tets.dtype == np.int32
    assert np.allclose(tet_volumes(nodes, tets), 0.01**3 / 6)
    assert np.allclose([nodes.min(axis=0), nodes.max(axis=0)], [[1, 2, 3], [1.2, 2.06, 3.06]])
    faces, owner = boundary_faces(tets)
    assert len(faces) == 2 * 2 * (20 * 6 + 20 * 6 + 6 * 6) and nonmanifold_edges(faces) == 0
    assert face_parts(tets)[0] == 1


def test_five_tets_a_cell_fit_together():
    """Ascher's beam; neighbours share whole faces, so only the box's own are left on the boundary."""
    nodes, tets = box_five_tets((32, 4, 4), (0.32, 0.04, 0.04))
    assert nodes.shape == (825, 3) and tets.shape == (2560, 4) and tets.dtype == np.int32
    volumes = tet_volumes(nodes, tets).reshape(-1, 5)
    assert np.allclose(volumes, 0.01**3 * np.array([1, 1, 1, 1, 2]) / 6)
    faces, _ = boundary_faces(tets)
    assert len(faces) == 2 * 2 * (32 * 4 + 32 * 4 + 4 * 4) and nonmanifold_edges(faces) == 0
    assert face_parts(tets)[0] == 1


def test_boundary_faces_look_outwards():
    nodes, tets = box_tets((3, 2, 2), (1.0, 1.0, 1.0), (-0.5, -0.5, -0.5))
    a, b, c = (nodes[boundary_faces(tets)[0][:, i]] for i in range(3))
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c) > 0).all()
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(1.0)


def test_quality_is_one_for_a_regular_tetrahedron_and_signed():
    corners = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    tets = np.array([[0, 1, 2, 3], [0, 1, 3, 2]], dtype=np.int32)
    quality = tet_quality(corners, tets)
    assert np.abs(quality) == pytest.approx(1.0) and quality[0] == -quality[1]


def test_parts_that_share_a_node_or_an_edge_count_apart():
    nodes, tets = box_tets((2, 2, 1), (1.0, 1.0, 1.0))
    corner = nodes[tets].mean(axis=1) < 0.5
    diagonal = tets[corner[:, 0] == corner[:, 1]]  # two of four columns, which share an edge
    count, part = face_parts(diagonal)
    assert count == 2 and np.bincount(part).tolist() == [6, 6]
    assert nonmanifold_edges(boundary_faces(diagonal)[0]) == 1
    split_nodes, split_tets = split_pinches(nodes, diagonal)
    assert len(split_nodes) == len(nodes) and np.array_equal(split_tets, diagonal)  # different parts stay joined


def test_pinch_inside_one_part_comes_apart():
    # a ring of columns around an empty one in the middle of 3 × 3, closed at a corner by nothing but an edge
    nodes, tets = box_tets((3, 3, 1), (3.0, 3.0, 1.0))
    centre = nodes[tets].mean(axis=1)[:, :2].astype(int)
    removed = {(1, 1), (0, 0)}  # columns (0, 1) and (1, 0) then touch along an edge only
    ring = tets[[tuple(c) not in removed for c in centre]]
    assert face_parts(ring)[0] == 1 and nonmanifold_edges(boundary_faces(ring)[0]) == 1
    split_nodes, split = split_pinches(nodes, ring)
    assert len(split_nodes) == len(nodes) + 2 and nonmanifold_edges(boundary_faces(split)[0]) == 0
    assert np.array_equal(split_nodes[split], nodes[ring])


def test_used_nodes_drops_the_rest():
    nodes, tets = box_tets((2, 1, 1), (1.0, 1.0, 1.0))
    used, renumbered = drop_unused_nodes(nodes, tets[:1])
    assert used.shape == (4, 3) and np.array_equal(used[renumbered], nodes[tets[:1]])


def box_surface(size, origin=(0.0, 0.0, 0.0)):
    nodes, tets = box_tets((1, 1, 1), size, origin)
    return nodes, boundary_faces(tets)[0]


def test_grid_mesher_gives_the_twist_bar():
    bar = box_surface((0.2, 0.06, 0.06), (5.0, 0.0, -1.0))
    volume = tetrahedralize(*bar, "grid", {"edge_length": 0.01}, name="Bar")
    assert volume.nodes.shape == (1029, 3) and volume.tets.shape == (4320, 4)
    assert np.allclose(np.ptp(volume.nodes, axis=0), [0.2, 0.06, 0.06]) and volume.nodes[0, 0] == pytest.approx(5.0)


def test_grid_refuses_what_is_no_box():
    vertices, triangles = box_surface((1.0, 1.0, 1.0))
    angle = np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])
    for shape in (vertices @ angle.T, vertices * [1, 1, 1] + 0.3 * (vertices.sum(axis=1) == 3)[:, None]):
        with pytest.raises(BadMesh, match='"Bar".*not a box along the axes'):
            tetrahedralize(shape, triangles, "grid", {}, name="Bar")


def test_absurd_edge_length_is_refused_before_anything_is_built():
    for mesher in ("grid", "tetwild"):
        with pytest.raises(BadMesh, match="edge length"):
            tetrahedralize(*box_surface((1.0, 1.0, 1.0)), mesher, {"edge_length": 1e-4}, name="Bar")
