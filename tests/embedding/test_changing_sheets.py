"""The artist's vertices in a changing mesh, and the description of that mesh in frames."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cloth"))
from ragged_sheets import PLACE, ragged
from sheets import grid

from solver.embedding.locate_faces import barycentric_weights, containing_faces
from solver.embedding.sheets import ShownSheet
from solver.sheet.sheet_mesh import SheetMesh


def sheets():
    rest, triangles = grid(6, 6, 1.0, 1.0)
    material, faces = ragged()
    mesh = SheetMesh.at_rest(material @ PLACE, material, faces)
    return rest, triangles, mesh


def test_points_lie_in_the_faces_that_are_found():
    material, faces = ragged()
    points = np.random.default_rng(0).uniform(0.0, 1.0, (500, 2))
    found = containing_faces(points, material, faces)
    weights = barycentric_weights(points, material, faces[found])
    assert weights.min() >= -1e-9 and np.abs(weights.sum(axis=1) - 1.0).max() <= 1e-12
    assert np.abs(np.einsum("pk,pki->pi", weights, material[faces[found]]) - points).max() <= 1e-12


def test_points_outside_are_in_the_face_that_they_are_least_outside_of():
    material, faces = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float), np.array([[0, 1, 2], [1, 3, 2]], np.int32)
    points = np.array([[-0.1, 0.2], [1.2, 0.9], [-50.0, -50.0], [60.0, 60.0]])
    assert containing_faces(points, material, faces).tolist() == [0, 1, 0, 1]


def test_the_artists_vertices_are_where_their_place_in_the_cloth_is():
    rest, triangles, mesh = sheets()
    loose = np.concatenate([rest, [[7.0, 8.0, 9.0]]])  # of no face
    material = np.concatenate([rest[:, :2], [[np.nan, np.nan]]])
    shown = ShownSheet(loose, material, triangles).vertices(mesh, 0)
    assert np.abs(shown[:-1] - rest[:, :2] @ PLACE).max() <= 1e-12
    assert shown[-1].tolist() == [7.0, 8.0, 9.0]


def test_what_frames_say_stands_in_object_space():
    rest, triangles, mesh = sheets()
    matrices = np.tile(np.eye(4), (3, 1, 1))
    matrices[1, :3, :3] = [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]
    matrices[1, :3, 3] = [1.0, 2.0, 3.0]
    shown = ShownSheet(rest, rest[:, :2].copy(), triangles, matrices)
    on, slide = mesh.on.copy(), mesh.slide.copy()
    on[30], slide[30] = 2, [0.5, -1.0]
    sliding = SheetMesh(mesh.x, mesh.material, mesh.faces, mesh.v, slide, on, mesh.required)
    still, turned = (shown.record(sliding, frame) for frame in (0, 1))
    assert np.abs(turned.x - (still.x @ matrices[1, :3, :3].T + [1.0, 2.0, 3.0])).max() <= 1e-15
    assert still.sliding.tolist() == [30] and np.abs(still.speed[0] + slide[30] @ PLACE).max() <= 1e-12
    assert np.abs(turned.speed - still.speed @ matrices[1, :3, :3].T).max() <= 1e-15
    assert np.abs(shown.vertices(mesh, 1) - (shown.vertices(mesh, 0) @ matrices[1, :3, :3].T + [1, 2, 3])).max() < 1e-14


def test_corners_know_the_triangle_that_they_are_seen_from():
    """A corner on an edge between two of the artist's triangles belongs to that on its face's side: UV seams stay."""
    rest, triangles, _ = sheets()
    same = SheetMesh.at_rest(rest, rest[:, :2], triangles)
    recorded = ShownSheet(rest, rest[:, :2].copy(), triangles).record(same, 0)
    assert (recorded.source == np.arange(len(triangles))[:, None]).all()


@pytest.mark.parametrize("seed", range(3))
def test_same_bytes(seed):
    rest, triangles, _ = sheets()
    material, faces = ragged(seed=seed)
    mesh = SheetMesh.at_rest(material @ PLACE, material, faces)
    one, two = (ShownSheet(rest, rest[:, :2].copy(), triangles).record(mesh, 0) for _ in range(2))
    assert one.source.tobytes() == two.source.tobytes()
