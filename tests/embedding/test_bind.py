"""The render mesh rides in the tetrahedra: exactly for affine motions, on its own side of every gap."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solver.embedding.bind import bind
from solver.embedding.locate import containing_tets
from solver.meshing.closest import closest_weights, triangle_distances
from solver.meshing.grid import box_tets
from solver.meshing.volume import boundary_faces, face_parts

DATA = Path(__file__).resolve().parents[1] / "data"


@pytest.fixture(params=["suzanne", "ellipsoid"])
def saved(request):
    return np.load(DATA / f"{request.param}.npz")


def test_affine_motions_are_reproduced(saved):
    embedding = bind(saved["nodes"], saved["tets"], saved["vertices"], saved["triangles"])
    assert embedding.tet.dtype == np.int32 and embedding.weights.shape == (len(saved["vertices"]), 4)
    assert np.abs(embedding.weights.sum(axis=1) - 1.0).max() < 1e-14
    assert np.array_equal(embedding.corners, saved["tets"][embedding.tet])
    random = np.random.default_rng(3)
    for _ in range(3):
        gradient, shift = random.normal(size=(3, 3)), 10.0 * random.normal(size=3)
        moved = embedding.apply(saved["nodes"] @ gradient.T + shift)
        assert moved == pytest.approx(saved["vertices"] @ gradient.T + shift, abs=1e-13)


def test_vertices_stay_near_the_tet_that_carries_them(saved):
    embedding = bind(saved["nodes"], saved["tets"], saved["vertices"], saved["triangles"])
    size = np.ptp(saved["vertices"], axis=0).max()
    nearest = np.linalg.norm(saved["nodes"][embedding.corners] - saved["vertices"][:, None], axis=2).min(axis=1)
    assert nearest.max() < 0.1 * size
    assert embedding.weights.min() > -1.5


@pytest.mark.parametrize("size, origin", [(1e-6, 1.0), (1e3, 0.0), (1.0, 1e5)])
def test_size_and_place_do_not_matter(size, origin):
    saved = np.load(DATA / "ellipsoid.npz")
    scale = size / np.ptp(saved["vertices"])
    at_home = bind(saved["nodes"], saved["tets"], saved["vertices"], saved["triangles"])
    away = bind(saved["nodes"] * scale + origin, saved["tets"], saved["vertices"] * scale + origin, saved["triangles"])
    assert (at_home.tet == away.tet).mean() > 0.97  # the rest lies between two faces that are equally near
    same = at_home.tet == away.tet
    assert np.allclose(away.weights[same], at_home.weights[same], atol=1e-15 * origin / size + 1e-9)


def test_rounding_does_not_choose_what_carries_a_vertex_beside_an_edge():
    """As near to both faces of an edge, it went to another tetrahedron once its object was turned: forces of what it
    touched differed by hundredths."""
    nodes, tets = box_tets((3, 3, 3), (1.0, 1.0, 1.0))
    along = (np.arange(3) + 0.4) / 3.0
    outside = np.array([np.roll([a, b, c], turn) for turn in range(3) for a in along for b in (-0.01, 1.01)
                        for c in (-0.01, 1.01)])
    chosen = bind(nodes, tets, outside, np.zeros((0, 3), np.int32)).tet
    for seed in range(4):
        rng = np.random.default_rng(seed)
        turn = Rotation.random(random_state=seed).as_matrix()
        turned = (outside @ turn.T).astype(np.float32) + 1e-9 * rng.normal(size=outside.shape)
        assert np.array_equal(bind(nodes @ turn.T, tets, turned, np.zeros((0, 3), np.int32)).tet, chosen)


def test_containing_tet_is_found_for_every_inner_point():
    nodes, tets = box_tets((5, 4, 3), (1.0, 2.0, 3.0), (-1.0, 0.0, 2.0))
    random = np.random.default_rng(0)
    nodes = nodes + 0.05 * random.normal(size=nodes.shape)  # cells of unequal size, still positive
    chosen = random.integers(len(tets), size=500)
    points = np.einsum("nk,nkd->nd", random.dirichlet(np.ones(4), 500), nodes[tets[chosen]])
    points = np.concatenate([points, [[9.0, 9.0, 9.0], [-1.5, 1.0, 3.0]]])
    part = np.zeros(len(points), dtype=np.int32)
    found = containing_tets(nodes, tets, face_parts(tets)[1], points, part, np.ones((1, 1), dtype=bool))
    assert np.array_equal(found[:500], chosen) and (found[500:] == -1).all()


def test_a_graded_mesh_does_not_blow_up_the_grid():
    big_nodes, big = box_tets((2, 2, 2), (100.0, 100.0, 100.0))
    small_nodes, small = box_tets((20, 20, 20), (0.1, 0.1, 0.1), (200.0, 0.0, 0.0))
    nodes, tets = np.concatenate([big_nodes, small_nodes]), np.concatenate([big, small + len(big_nodes)])
    points = np.array([[50.1, 20.3, 70.7], [200.051, 0.052, 0.033]])
    found = containing_tets(nodes, tets, face_parts(tets)[1], points, np.zeros(2, dtype=np.int32),
                            np.ones((1, 2), dtype=bool))
    assert found[0] < len(big) <= found[1]


def lips(gap):
    """Two slabs with a gap in between, closed behind: a mouth. Nodes, tets, and a render mesh that overlaps it."""
    nodes, tets = box_tets((10, 10, 5), (1.0, 1.0, 0.5))
    centre = nodes[tets].mean(axis=1)
    open_mouth = (centre[:, 2] > 0.2) & (centre[:, 2] < 0.3) & (centre[:, 0] > 0.2)
    tets = tets[~open_mouth]
    nodes = nodes.copy()
    nodes[:, 2] += np.where(nodes[:, 2] > 0.25, -0.1 + gap, 0.0)
    return nodes, tets


def test_lips_do_not_bind_across_the_gap():
    nodes, tets = lips(gap=0.004)
    faces, _ = boundary_faces(tets)
    used, corners = np.unique(faces, return_inverse=True)
    vertices, triangles = nodes[used].copy(), corners.reshape(-1, 3)
    lower = (np.abs(nodes[used, 2] - 0.2) < 1e-9) & (nodes[used, 0] > 0.35)
    upper = (np.abs(nodes[used, 2] - 0.204) < 1e-9) & (nodes[used, 0] > 0.35)
    # the artist's lips reach past the middle of the gap and into the other lip, rims and corners too; the first row
    # beside the corner of the mouth is one cell away from the other lip through the volume and may take either
    vertices[lower, 2] += 0.006
    vertices[upper, 2] -= 0.006
    embedding = bind(nodes, tets, vertices, triangles)
    height = nodes[tets].mean(axis=1)[:, 2][embedding.tet]
    assert (height[lower] < 0.2).all() and (height[upper] > 0.2).all()


def test_touching_parts_keep_to_themselves():
    nodes, tets = box_tets((4, 4, 4), (1.0, 1.0, 1.0))
    both_nodes = np.concatenate([nodes, nodes + [1.001, 0.0, 0.0]])
    both_tets = np.concatenate([tets, tets + len(nodes)])
    faces, _ = boundary_faces(tets)
    used, corners = np.unique(faces, return_inverse=True)
    shell, triangles = nodes[used], corners.reshape(-1, 3)
    grown = 0.5 + 1.02 * (shell - 0.5)  # each render box reaches into the other
    vertices = np.concatenate([grown, grown + [1.001, 0.0, 0.0]])
    embedding = bind(both_nodes, both_tets, vertices, np.concatenate([triangles, triangles + len(shell)]))
    assert (embedding.tet[:len(shell)] < len(tets)).all() and (embedding.tet[len(shell):] >= len(tets)).all()


def test_two_loose_parts_may_share_a_volume():
    nodes, tets = box_tets((6, 6, 6), (1.0, 1.0, 1.0))
    eye = box_tets((1, 1, 1), (0.2, 0.2, 0.2), (0.9, 0.4, 0.4))[0]
    faces, _ = boundary_faces(tets)
    eye_faces, _ = boundary_faces(box_tets((1, 1, 1), (1.0, 1.0, 1.0))[1])
    vertices = np.concatenate([nodes, eye])
    embedding = bind(nodes, tets, vertices, np.concatenate([faces, eye_faces + len(nodes)]))
    assert embedding.apply(nodes) == pytest.approx(vertices, abs=1e-14)


@pytest.mark.parametrize("how", ["inside out", "random flips", "no triangles", "one triangle"])
def test_poor_render_meshes_bind_too(how):
    saved = np.load(DATA / "ellipsoid.npz")
    vertices, triangles = saved["vertices"], saved["triangles"]
    good = bind(saved["nodes"], saved["tets"], vertices, triangles)
    if how == "inside out":
        triangles = triangles[:, ::-1]
    if how == "random flips":
        chosen = np.random.default_rng(2).random(len(triangles)) < 0.5
        triangles = np.where(chosen[:, None], triangles[:, ::-1], triangles)
    if how == "no triangles":
        triangles = triangles[:0]
    if how == "one triangle":
        triangles = triangles[:1]
    embedding = bind(saved["nodes"], saved["tets"], vertices, triangles)
    assert (embedding.tet == good.tet).mean() > 0.97
    assert embedding.apply(saved["nodes"]) == pytest.approx(vertices, abs=1e-14)


def test_the_same_input_gives_the_same_bytes():
    saved = np.load(DATA / "suzanne.npz")
    first, second = (bind(saved["nodes"], saved["tets"], saved["vertices"], saved["triangles"]) for _ in range(2))
    assert np.array_equal(first.tet, second.tet) and np.array_equal(first.weights, second.weights)


def test_closest_point_on_a_triangle_against_a_fine_search():
    random = np.random.default_rng(7)
    corners, points = random.normal(size=(40, 3, 3)), 2.0 * random.normal(size=(40, 3))
    u, v = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201)))
    inside = u + v <= 1.0 + 1e-12
    spread = np.stack([1.0 - u - v, u, v], axis=1)[inside]
    fine = np.linalg.norm(np.einsum("sk,nkd->nsd", spread, corners) - points[:, None], axis=2).min(axis=1)
    assert triangle_distances(points, corners) == pytest.approx(fine, abs=2e-3)
    assert (triangle_distances(points, corners) <= fine + 1e-12).all()
    weights = closest_weights(points, corners)
    assert weights.min() >= 0.0 and weights.sum(axis=1) == pytest.approx(1.0)
    line = np.array([[[0.0, 0, 0], [1, 0, 0], [2, 0, 0]]])
    assert triangle_distances(np.array([[3.0, 4.0, 0.0], [1.5, 0.0, 2.0]]), line) == pytest.approx([np.sqrt(17), 2.0])
