"""Faces cut into triangles whose corners lie on a line, as a cap is whose rim was subdivided."""

import numpy as np
import pytest

from solver.meshing.slivers import without_slivers
from solver.meshing.surface import clean
from solver.meshing.tetrahedralize import tetrahedralize


def prism(sides, parts, length=4.0):
    """A prism along x whose edges around its ends are cut in parts, and whose ends are fans of triangles that begin
    with those along the rim."""
    corners = np.array([[np.cos(angle), np.sin(angle)] for angle in 2.0 * np.pi * np.arange(sides) / sides])
    rim = np.concatenate([corners[i] + np.linspace(0.0, 1.0, parts + 1)[:-1, None] * (corners[(i + 1) % sides]
                          - corners[i]) for i in range(sides)])
    count = len(rim)
    turned = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]).T
    vertices = np.concatenate([np.column_stack([np.full(count, x), rim]) for x in (0.0, length)]) @ turned
    here, after = np.arange(count), (np.arange(count) + 1) % count
    wall = np.concatenate([np.column_stack([here, after, count + here]),
                           np.column_stack([after, count + after, count + here])])
    fan = []
    for first in range(0, count, parts):
        fan += [[first, first + k, (first + k + 1) % count] for k in range(1, parts)]
    inner = np.arange(0, count, parts)
    fan += [[inner[0], inner[k], inner[k + 1]] for k in range(1, sides - 1)]
    fan = np.array(fan)
    return vertices, np.concatenate([wall, fan[:, ::-1], fan + count]).astype(np.int32)


def sines(vertices, triangles):
    """Sine of the angle at each triangle's corner opposite its longest edge, (m,)."""
    at = vertices[triangles]
    length = np.linalg.norm(np.roll(at, -1, axis=1) - at, axis=2)
    area = np.linalg.norm(np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]), axis=1)
    return area * length.max(axis=1) / length.prod(axis=1)


@pytest.mark.parametrize("sides,parts", [(3, 2), (4, 7), (12, 5)])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_no_corner_is_on_the_opposite_edge_and_what_is_enclosed_is_the_same(sides, parts, kind):
    vertices, triangles = prism(sides, parts)
    vertices = vertices.astype(kind).astype(np.float64)
    assert (sines(vertices, triangles) < 1e-4).sum() == 2 * sides * (parts - 1)
    before = clean(vertices, triangles)
    assert before.open_edges == before.tangled_edges == 0 and len(before.triangles) == len(triangles)
    assert sines(before.vertices, before.triangles).min() > 1e-3
    area = sides * np.sin(2.0 * np.pi / sides) / 2.0
    assert before.volume * before.scale ** 3 == pytest.approx(4.0 * area, rel=1e-6)


def test_what_has_no_sliver_is_left_as_it_is():
    vertices, triangles = prism(5, 1)
    assert np.array_equal(without_slivers(vertices, triangles), triangles)


def test_a_needle_is_no_sliver_of_that_kind():
    """Two of its corners are nearly one: to swap an edge would not mend it."""
    vertices = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0e-6, 0.0], [0.5, -1.0, 0.0]])
    triangles = np.array([[0, 1, 2], [1, 0, 3]], np.int32)
    assert np.array_equal(without_slivers(vertices, triangles), triangles)


def test_a_sliver_on_a_border_is_left():
    vertices = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]])
    triangles = np.array([[0, 1, 2]], np.int32)
    assert np.array_equal(without_slivers(vertices, triangles), triangles)


@pytest.mark.long
def test_a_rope_whose_ends_are_cut_in_parts_is_filled():
    """It was tried for 74 s of processor time, and refused."""
    volume = tetrahedralize(*prism(32, 11, 40.0), "tetwild", {}, name="Rope", seconds=40.0)
    assert not volume.notes and 1000 < len(volume.tets) < 10_000
