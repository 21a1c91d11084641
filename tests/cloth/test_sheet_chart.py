"""Vertices of a cloth in material space, and cloth without a single place there."""

import numpy as np
import pytest
from sheets import grid
from sheets_eol import rotated

from solver.errors import BadMesh
from solver.sheet.chart import from_corners, of_flat
from solver.sheet.sheet_mesh import SheetMesh


def test_a_uv_map_gives_each_vertex_its_place_also_where_it_is_mirrored():
    rest, faces = grid(4, 3, 1.0, 0.7)
    for sign in (1.0, -1.0):
        uv = (rest[:, :2] * [sign, 1.0] + [0.3, 0.1]).astype(np.float32)[faces].astype(float)
        material = from_corners(rest, faces, uv)
        mesh = SheetMesh.at_rest(rest, material, faces)
        assert mesh.areas.sum() == pytest.approx(0.7, rel=1e-6)
        assert (np.abs(material[faces]) == np.abs(uv)).all()


def test_a_seam_is_refused_with_a_vertex_on_it():
    rest, faces = grid(4, 4, 1.0, 1.0)
    uv = rest[:, :2][faces]
    uv[rest[faces].mean(axis=1)[:, 0] > 0.5] += [0.2, 0.0]
    with pytest.raises(BadMesh, match=r"has a seam: vertex 10 at \(0.5, 0, 0\) m .* 4 more"):
        from_corners(rest, faces, uv)


def test_a_flat_mesh_is_its_own_material_with_the_warp_along_u():
    rest, faces = grid(4, 3, 1.0, 0.7)
    turn = rotated(0.3, 1.0, -0.4)
    x = rest @ turn.T + [1.0, 2.0, 3.0]
    material = of_flat(x, faces, turn @ [1.0, 0.0, 0.2])
    F = SheetMesh.at_rest(x, material, faces).gradients
    assert F == pytest.approx(np.broadcast_to(turn[:, :2], F.shape), abs=1e-12)
    # a warp along the normal is no warp
    assert SheetMesh.at_rest(x, of_flat(x, faces, turn[:, 2]), faces).areas.sum() == pytest.approx(0.7)


def test_what_is_not_flat_has_to_be_unwrapped():
    rest, faces = grid(4, 4, 1.0, 1.0)
    with pytest.raises(BadMesh, match="is not flat .* Unwrap it"):
        of_flat(rest + [0.0, 0.0, 0.3] * (rest[:, :1] > 0.6), faces, np.array([1.0, 0.0, 0.0]))
