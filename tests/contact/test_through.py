"""Whether surfaces cross is asked of the IPC Toolkit only where our own look leaves a doubt."""

import ipctk
import numpy as np
import pytest
from test_near import crumpled
from touching import sheet

from solver.contact.find.mesh import Surfaces
from solver.contact.find.through_kernels import may_intersect

CORNERS = np.array([[0, 1, 1], [2, 3, 4]], np.int32)
PAIR = np.array([[0, 1]], np.int32)


def pairs(flatness, shared, seed=0, count=3000):
    """An edge and a triangle each, (5, 3), the edge this far from the triangle's plane, or with an end in it."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        x = rng.normal(size=(5, 3))
        normal = np.cross(x[3] - x[2], x[4] - x[2])
        normal /= np.linalg.norm(normal)
        x[:2] -= (1.0 - flatness) * ((x[:2] - x[2]) @ normal)[:, None] * normal
        if shared:
            x[0] = rng.dirichlet([1.0, 1.0, 1.0]) @ x[2:]
        yield x * 10.0 ** rng.uniform(-3, 1) + rng.normal(size=3)


@pytest.mark.parametrize("flatness", [1.0, 1e-3])
def test_an_edge_at_any_place_goes_through_a_triangle_where_the_toolkit_says_so(flatness):
    found = [(bool(may_intersect(x, CORNERS, PAIR)), ipctk.is_edge_intersecting_triangle(*x))
             for x in pairs(flatness, False)]
    assert all(ours == expected for ours, expected in found)
    assert 100 < sum(ours for ours, _ in found) < 1500


@pytest.mark.parametrize("flatness,shared", [(0.0, False), (1e-12, False), (1.0, True)])
def test_what_rounding_leaves_in_doubt_is_never_separated(flatness, shared):
    found = [(bool(may_intersect(x, CORNERS, PAIR)), ipctk.is_edge_intersecting_triangle(*x))
             for x in pairs(flatness, shared)]
    assert all(ours for ours, expected in found if expected)
    assert any(not ours for ours, _ in found) != shared  # most that lie beside it in its plane are told


@pytest.mark.parametrize("meets", [None, [[False, True, True], [True, True, False], [True, False, True]]])
def test_surfaces_cross_where_the_toolkit_says_so(meets):
    found = []
    for seed in range(24):
        x, faces, is_free = crumpled(seed, 0.01)
        owner = np.arange(len(x)) // 125
        x = x + np.array([[0.0, 0.0, 0.0], [0.06 * seed, 0.0, 0.0], [0.0, 0.0, -0.03 * seed]])[owner]
        surfaces = Surfaces(x, faces, np.where(is_free, -1, 0), owner, None if meets is None else np.array(meets))
        found.append(surfaces.intersection(x) is not None)
        assert found[-1] == ipctk.has_intersections(surfaces._mesh, x[surfaces.nodes])
    assert any(found) and not all(found)


def test_a_sheet_that_lies_or_hangs_in_folds_needs_no_second_look():
    vertices, triangles = sheet(1.0, 24)
    rng = np.random.default_rng(1)
    for depth, rough in ((0.0, 0.0), (0.0, 0.002), (0.1, 0.0), (0.1, 0.002)):
        x = vertices.copy()
        x[:, 2] += depth * np.sin(9.0 * x[:, 0]) + rough * rng.normal(size=len(x))
        surfaces = Surfaces(x, triangles, np.full(len(x), -1))
        assert surfaces.intersection(x) is None
        assert "_mesh" not in vars(surfaces)
    assert not ipctk.has_intersections(surfaces._mesh, x)
