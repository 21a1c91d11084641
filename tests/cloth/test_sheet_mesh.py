"""The mesh of a cloth in the world and in material space: derived quantities, and refused meshes."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sheets import grid
from sheets_eol import bent, flat, rotated, world_velocities
from sound_sheets import smallest_angle

from solver.errors import BadMesh
from solver.sheet.sheet_mesh import SheetMesh


def test_the_gradient_of_a_linear_map_is_that_map_in_faces_and_at_vertices():
    rest, faces = grid(5, 4, 1.0, 0.7)
    F = rotated(0.4, 1.1, -0.7)[:, :2] @ np.array([[1.3, 0.2], [0.2, 0.8]])
    mesh = SheetMesh.at_rest(rest[:, :2] @ F.T, rest[:, :2], faces)
    for gradients in (mesh.gradients, mesh.mean_gradients, mesh.polar_gradients):
        assert gradients == pytest.approx(np.broadcast_to(F, gradients.shape), abs=1e-12)


@pytest.mark.parametrize("fold", [0.5, np.pi / 2, 2.5])
def test_a_fold_shrinks_the_mean_gradient_and_not_the_polar_one(fold):
    """On the fold half of the faces around are turned: their mean loses cos(fold/2), the polar mean nothing."""
    mesh = bent(8, fold)
    crease = np.flatnonzero(np.isclose(mesh.material[:, 0], 0.5) & ~mesh.border)
    size = np.linalg.norm(mesh.mean_gradients[crease][:, :, 0], axis=1)
    assert size == pytest.approx(np.cos(0.5 * fold), abs=1e-9)
    between = np.array([np.cos(0.5 * fold), 0.0, -np.sin(0.5 * fold)])
    polar = mesh.polar_gradients[crease]
    assert polar[:, :, 0] == pytest.approx(np.broadcast_to(between, (len(crease), 3)), abs=1e-6)
    assert polar[:, :, 1] == pytest.approx(np.broadcast_to([0.0, 1.0, 0.0], (len(crease), 3)), abs=1e-9)


def test_the_polar_mean_of_unlike_faces_turns_by_their_areas():
    """Faces of one side are three times as large: R̄ turns by a quarter of the fold, where a mean of matrices does
    not, and S̄ is the mean stretch by area."""
    width = np.array([0.0, 0.3, 0.6, 0.7, 0.8])
    rest, faces = grid(4, 4, 1.0, 1.0)
    material = np.column_stack([width[np.round(4 * rest[:, 0]).astype(int)], rest[:, 1]])
    over, fold = np.maximum(material[:, 0] - 0.6, 0.0), 2.0
    x = np.column_stack([np.minimum(material[:, 0], 0.6) + 1.4 * np.cos(fold) * over, material[:, 1],
                         -1.4 * np.sin(fold) * over])
    mesh = SheetMesh.at_rest(x, material, faces)
    crease = np.flatnonzero((material[:, 0] == 0.6) & ~mesh.border)
    share = [mesh.areas[(faces == i).any(axis=1) & (material[faces].mean(axis=1)[:, 0] > 0.6)].sum()
             / mesh.areas[(faces == i).any(axis=1)].sum() for i in crease]
    for i, far in zip(crease, share):
        turned = np.array([np.cos(far * fold), 0.0, -np.sin(far * fold)])
        assert mesh.polar_gradients[i, :, 0] == pytest.approx((1.0 + 0.4 * far) * turned, abs=1e-12)


def test_the_polar_mean_is_where_all_turns_to_it_cancel():
    """On a cloth that is bent both ways, with scipy's logarithms: Σ A log(R̄ᵀ R) = 0."""
    rest, faces = grid(4, 4, 1.0, 1.0)
    x = rest + [0.0, 0.0, 1.0] * np.random.default_rng(1).normal(size=(len(rest), 1)) * 0.2
    mesh = SheetMesh.at_rest(x, rest[:, :2], faces)
    for vertex in np.flatnonzero(~mesh.border):
        around = np.flatnonzero((faces == vertex).any(axis=1))
        turns = [Rotation.from_matrix(whole(F)) for F in mesh.gradients[around]]
        mean = Rotation.from_matrix(whole(mesh.polar_gradients[vertex]))
        off = sum(area * (mean.inv() * turn).as_rotvec() for area, turn in zip(mesh.areas[around], turns))
        assert off == pytest.approx(np.zeros(3), abs=1e-13)


def whole(F):
    """The rotation of a gradient and the normal beside it, by its singular values."""
    left, _, right = np.linalg.svd(F, full_matrices=False)
    flat = left @ right
    return np.column_stack([flat, np.cross(flat[:, 0], flat[:, 1])])


def test_the_polar_mean_goes_with_a_turn_of_the_world():
    mesh, turn = bent(6, 1.2), rotated(0.3, -2.0, 0.9)
    turned = SheetMesh.at_rest(mesh.x @ turn.T, mesh.material, mesh.faces)
    assert turned.polar_gradients == pytest.approx(turn @ mesh.polar_gradients, abs=1e-9)


def test_world_velocity_of_cloth_that_slides_along_itself():
    """A vertex that stands still while X moves: the cloth goes the other way, and has that momentum."""
    mesh = flat(4)
    slid = SheetMesh(mesh.x, mesh.material, mesh.faces, mesh.v, np.full_like(mesh.slide, 0.5), mesh.on, mesh.required)
    assert world_velocities(slid) == pytest.approx(np.broadcast_to([-0.5, -0.5, 0.0], mesh.x.shape), abs=1e-12)
    assert slid.momentum == pytest.approx([-0.5, -0.5, 0.0], abs=1e-12)


def test_edges_borders_and_neighbours_of_a_grid():
    mesh = flat(5)
    n, e, m = len(mesh.x), len(mesh.edges), len(mesh.faces)
    assert n - e + m == 1 and len(mesh.border_edges) == 20
    assert mesh.border.sum() == 20 and mesh.required.sum() == 4
    face, corner = np.nonzero(mesh.across >= 0)
    assert (mesh.across[mesh.across[face, corner]] == face[:, None]).sum(axis=1).tolist() == [1] * len(face)
    rounds = [(int(a), int(b)) for face in mesh.faces for a, b in zip(face, np.roll(face, -1))]
    edges = [(int(a), int(b)) for a, b in mesh.edges]
    assert set(edges) <= set(rounds) and len({frozenset(edge) for edge in edges}) == e
    assert {frozenset(edge) for edge in edges} == {frozenset(edge) for edge in rounds}
    bottom = np.flatnonzero((mesh.material[:, 1] == 0.0) & ~mesh.required)
    assert mesh.border_tangents[bottom] == pytest.approx(np.broadcast_to([1.0, 0.0], (4, 2)), abs=1e-15)
    assert not mesh.border_tangents[~mesh.border].any()
    assert mesh.border_angles[mesh.required] == pytest.approx(np.pi / 2)
    assert mesh.areas.sum() == pytest.approx(1.0, abs=1e-14) and mesh.vertex_areas.sum() == pytest.approx(1.0)
    assert smallest_angle(mesh.material, mesh.faces) == pytest.approx(45.0)


def fan(count):
    """Faces around a vertex in material space, all of them of one turn."""
    turn = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    return np.vstack([[0.0, 0.0], np.column_stack([np.cos(turn), np.sin(turn)])])


@pytest.mark.parametrize(("material", "faces", "says"), [
    (fan(8), [[0, 1, 2], [0, 1, 3]], "opposite ways, or more than two"),
    (fan(4), [[0, 1, 2], [0, 3, 4]], "pieces in material space that no edge joins"),
    (fan(4), [[0, 1, 2], [0, 3, 2]], "is turned over in material space"),
    (np.array([[0.0, 0], [1, 0], [2, 0], [1, 1]]), [[0, 1, 2], [0, 2, 3]], "has no area in material space"),
    (fan(4), [[0, 1, 2]], "belongs to no face"),
    (fan(4) * np.nan, [[0, 1, 2]], "nowhere"),
    (fan(4), [[0, 1, 7]], "a face that refers to a missing vertex"),
    (fan(4), np.zeros((0, 3)), "no faces"),
    # a strip that goes on past a whole turn
    (np.vstack([fan(8)[1:], fan(8)[1:5], 0.5 * fan(8)[1:], 0.5 * fan(8)[1:5]]),
     [f for i in range(11) for f in ([i + 12, i, i + 1], [i + 12, i + 1, i + 13])], "lie over each other"),
])
def test_what_is_no_cloth_is_refused_with_its_place(material, faces, says):
    x = np.column_stack([material, np.zeros(len(material))])
    with pytest.raises(BadMesh, match=says):
        SheetMesh.at_rest(x, material, np.array(faces))


@pytest.mark.parametrize(("shift", "apart", "remedy"), [
    (0.0, 0.0, "join these by Merge > By Distance in Edit Mode$"),  # split along an edge, as imported clothes are
    (3.0, 0.0, "in Edit Mode, and unwrap it as one island without seams$"),
    (3.0, 0.5, "Make each piece an object of its own"),
])
def test_pieces_with_vertices_on_each_other_are_refused_with_how_to_merge_them(shift, apart, remedy):
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    both, faces = np.vstack([square, square + [1.0, 0.0]]), [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]
    x = np.column_stack([both, np.repeat([0.0, apart], 4)])
    with pytest.raises(BadMesh, match="2 pieces") as refused:
        SheetMesh.at_rest(x, both + np.repeat([[0.0, 0.0], [shift, 0.0]], 4, axis=0), np.array(faces))
    assert re.search(remedy, refused.value.remedy)


def test_faces_that_meet_at_a_vertex_alone_are_refused():
    """Two fans around one vertex, joined elsewhere."""
    around = fan(8)
    outer = np.vstack([around, 2.0 * around[1:]])
    ring = [f for i in range(8) for f in ([1 + i, 9 + i, 1 + (i + 1) % 8], [1 + (i + 1) % 8, 9 + i, 9 + (i + 1) % 8])]
    faces = [[0, 1, 2], [0, 5, 6], *ring]
    with pytest.raises(BadMesh, match="share no edge there"):
        SheetMesh.at_rest(np.column_stack([outer, np.zeros(17)]), outer, np.array(faces))
