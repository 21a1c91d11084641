"""Cleaning: what an artist hands over becomes a surface that a mesher can take, or is refused by name."""

import numpy as np
import pytest
from surfaces import box, joined

from solver.errors import BadMesh
from solver.meshing.surface import clean
from solver.meshing.winding import winding_numbers


def volume(surface):
    return surface.volume * surface.scale**3


def test_clean_box_is_itself_in_a_unit_box():
    vertices, triangles = box((2.0, 1.0, 0.5), (7.0, -3.0, 1.0))
    surface = clean(vertices, triangles)
    assert surface.scale == pytest.approx(2.0) and surface.centre == pytest.approx([8.0, -2.5, 1.25])
    assert surface.vertices * surface.scale + surface.centre == pytest.approx(vertices)
    assert volume(surface) == pytest.approx(1.0) and (surface.open_edges, surface.tangled_edges) == (0, 0)


def test_unwelded_duplicate_degenerate_and_loose_things_go():
    vertices, triangles = box()
    soup = vertices[triangles].reshape(-1, 3)  # every triangle with its own vertices
    faces = np.arange(len(soup)).reshape(-1, 3)
    faces = np.concatenate([faces, faces[:5], faces[3:9, ::-1], [[0, 0, 1], [2, 2, 2]]])
    surface = clean(np.concatenate([soup, [[50.0, 0, 0]]]), faces)
    assert len(surface.vertices) == len(vertices) and len(surface.triangles) == len(triangles)
    assert volume(surface) == pytest.approx(1.0) and surface.open_edges == 0


def test_random_flips_are_undone_and_inside_out_is_turned():
    vertices, triangles = box()
    flipped = triangles.copy()
    chosen = np.random.default_rng(1).random(len(triangles)) < 0.4
    flipped[chosen] = flipped[chosen, ::-1]
    for faces in (triangles, flipped, triangles[:, ::-1]):
        assert volume(clean(vertices, faces)) == pytest.approx(1.0)


@pytest.mark.parametrize("outside_in", [False, True])
def test_cavity_stays_a_cavity_and_a_nested_part_stays_a_part(outside_in):
    outer, (inner, faces) = box((4.0, 4.0, 4.0)), box((2.0, 2.0, 2.0), (1.0, 1.0, 1.0))
    turn = slice(None, None, -1 if outside_in else 1)
    cavity = joined((outer[0], outer[1][:, turn]), (inner, faces[:, ::-1][:, turn]))
    nested = joined((outer[0], outer[1][:, turn]), (inner, faces[:, turn]))
    assert volume(clean(*cavity)) == pytest.approx(64 - 8)
    assert volume(clean(*nested)) == pytest.approx(64 + 8)
    assert clean(*nested).parts == 2


def test_open_and_tangled_edges_are_counted():
    vertices, triangles = box()
    assert clean(vertices, triangles[1:]).open_edges == 3
    wall = np.concatenate([triangles, [[0, 1, len(vertices)]]])
    surface = clean(np.concatenate([vertices, [[0.5, 0.5, 0.5]]]), wall)
    assert surface.tangled_edges == 1 and surface.open_edges == 2


@pytest.mark.parametrize("size, origin", [(1e-6, 0.0), (1e3, 0.0), (1.0, 1e6), (1e-6, 1.0)])
def test_size_and_place_do_not_matter(size, origin):
    vertices, triangles = box((size, size, size), (origin, -origin, origin))
    surface = clean(vertices, triangles)
    assert volume(surface) == pytest.approx(size**3, rel=1e-6) and surface.open_edges == 0


GRID = np.stack(np.meshgrid([0.0, 1.0, 2.0], [0.0, 1.0], indexing="ij"), axis=-1).reshape(-1, 2) @ [
    [1, 0, 0.5], [0, 1, 0.2]]
FLAT = np.array([[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5]])
NAN = box()[0].copy()
NAN[4, 1] = np.nan


@pytest.mark.parametrize("vertices, triangles, why", [
    (np.zeros((0, 3)), np.zeros((0, 3), dtype=int), "is empty"),
    (GRID, np.zeros((0, 3), dtype=int), "no faces"),
    (NAN, box()[1], "1 vertices have coordinates that are not numbers, the first is 4"),
    (GRID, FLAT, "flat"),
    (np.outer(np.arange(6.0), [1, 2, 3]), FLAT, "no area|flat"),
    (np.ones((6, 3)), FLAT, "same place"),
    (GRID, FLAT + 3, "vertex that does not exist"),
    (box()[0], np.array([[0, 1, 1], [2, 2, 2]]), "no area"),
])
def test_what_encloses_nothing_is_refused_by_name(vertices, triangles, why):
    with pytest.raises(BadMesh, match=f'^"Ear é": .*({why})') as refusal:
        clean(vertices, triangles, "Ear é")
    assert refusal.value.remedy


def test_winding_number_counts_how_often_a_surface_goes_around():
    vertices, triangles = joined(box(), box((2.0, 2.0, 2.0), (0.5, 0.5, 0.5)))
    points = np.array([[0.2, 0.3, 0.4], [0.7, 0.8, 0.9], [2.1, 2.2, 2.3], [-1.0, 0.5, 0.5]])
    assert winding_numbers(points, vertices, triangles) == pytest.approx([1, 2, 1, 0], abs=1e-12)
    half = triangles[vertices[triangles].max(axis=1)[:, 2] < 0.51]  # an open box: about half around its mouth
    assert 0.2 < winding_numbers(np.array([[0.3, 0.4, 0.5]]), vertices, half)[0] < 0.8
