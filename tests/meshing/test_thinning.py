"""A surface with fewer triangles stays closed and near the one that it comes from."""

import numpy as np
import pytest
from surfaces import box, globe, hand, joined

from solver.build.rigid_skins import sphere
from solver.meshing.closest import triangle_distances
from solver.meshing.surface import measure_enclosed_volumes
from solver.meshing.thinning import simplify_surface
from solver.parts.eol.offset_surface import is_closed


def edges_of(triangles):
    """Each edge once, (e, 2)."""
    return np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)


def distances(x, triangles):
    """How far all vertices are from the nearest of some triangles, (n,)."""
    return triangle_distances(np.repeat(x[:, None], 1, axis=1).reshape(-1, 1, 3), x[triangles][None]).min(axis=1)


@pytest.mark.parametrize("surface", [globe(24), sphere(1.0), hand(0.001), joined(box(cells=(6, 6, 6)), globe(12))],
                         ids=["globe", "sphere", "hand", "two"])
@pytest.mark.parametrize("share", [1e-3, 1e-2])
def test_every_vertex_is_near_what_is_left_and_this_is_as_closed_as_before(surface, share):
    x, triangles = surface
    size = np.ptp(x, axis=0).max()
    found = simplify_surface(x, triangles, share * size, 10.0 * size)
    assert len(found.triangles) <= len(triangles)
    assert distances(x, found.triangles).max() <= share * size * (1.0 + 1e-9)
    assert is_closed(found.triangles)
    before, after = (len(np.unique(mesh)) - len(edges_of(mesh)) + len(mesh) for mesh in (triangles, found.triangles))
    assert before == after, "what was apart is joined, or a hole is closed"
    assert found.outside.min() >= 0.0 and found.outside.max() <= share * size * (1.0 + 1e-9)


def test_a_round_body_has_a_share_of_its_triangles_and_all_but_the_tolerance_of_its_volume():
    x, triangles = globe(40)
    found = simplify_surface(x, triangles, 0.02, 10.0)
    assert len(found.triangles) < 0.5 * len(triangles)
    volumes = [abs(measure_enclosed_volumes(x, mesh).sum()) for mesh in (triangles, found.triangles)]
    assert 1.0 - 3 * 0.02 < volumes[1] / volumes[0] <= 1.0
    assert found.outside.max() > 0.005


def test_flat_faces_keep_their_corners_and_exactly_their_volume():
    x, triangles = box(cells=(8, 8, 8))
    found = simplify_surface(x, triangles, 1e-3, 10.0)
    assert len(found.triangles) < 0.1 * len(triangles)
    used = np.unique(found.triangles)
    corners = (np.abs(x[used] - 0.5) > 0.5 - 1e-9).all(axis=1)
    assert corners.sum() == 8
    assert measure_enclosed_volumes(x, found.triangles).sum() == pytest.approx(1.0, abs=1e-3)


def test_no_new_edge_is_longer_than_asked_for():
    x, triangles = box(cells=(8, 8, 8))
    found = simplify_surface(x, triangles, 1e-3, 0.3)
    ends = x[edges_of(found.triangles)]
    assert np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max() <= 0.3 + 1e-12


def test_borders_and_what_is_no_manifold_stay():
    x, triangles = box(cells=(6, 6, 6))
    is_open = triangles[(x[triangles][:, :, 2] < 1.0 - 1e-9).any(axis=1)]
    found = simplify_surface(x, is_open, 1e-3, 10.0)
    rim = np.flatnonzero((np.abs(x[:, 2] - 1.0) < 1e-9) & (np.abs(x[:, :2] - 0.5) > 0.5 - 1e-9).any(axis=1))
    assert np.isin(rim, found.triangles).all()
    assert len(found.triangles) < len(is_open)
    doubled = np.concatenate([triangles, triangles[:4]])
    found = simplify_surface(x, doubled, 1e-3, 10.0)
    assert np.isin(doubled[:4], found.triangles).all()
