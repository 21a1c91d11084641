"""Cells that cover a body: at once, for any surface, with nothing of it left outside."""

import numpy as np
import pytest

from solver.errors import BadMesh
from solver.meshing.tetrahedralize import tetrahedralize
from solver.meshing.volume import face_parts, tet_volumes


def ball(rings=24):
    """A unit ball of triangles, (n, 3) and (m, 3)."""
    u, v = np.meshgrid(np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, 2 * rings, endpoint=False),
                       indexing="ij")
    vertices = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], axis=-1).reshape(-1, 3)
    at = np.arange(len(vertices)).reshape(rings + 1, 2 * rings)
    a, b, c, d = at[:-1], at[1:], np.roll(at, -1, 1)[1:], np.roll(at, -1, 1)[:-1]
    quads = np.stack([a, b, c, d], axis=-1).reshape(-1, 4)
    return vertices, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)


@pytest.mark.parametrize("edge", [0.5, 0.2, 0.11])
def test_a_ball_is_filled_and_covered(edge):
    vertices, triangles = ball()
    volume = tetrahedralize(vertices + 3.0, triangles, "cells", {"edge_length": edge}, name="Ball")
    sizes = tet_volumes(volume.nodes, volume.tets)
    assert (sizes > 0.0).all() and face_parts(volume.tets)[0] == 1
    whole = 4.0 / 3.0 * np.pi
    assert whole < sizes.sum() < 4.0 / 3.0 * np.pi * (1.0 + 1.8 * edge) ** 3
    # every vertex is in a cell
    lows = volume.nodes[volume.tets].min(axis=1)
    cells = np.unique(np.round((lows - lows.min(axis=0)) / edge).astype(int), axis=0)
    place = np.floor((vertices + 3.0 - lows.min(axis=0)) / edge + 1e-9).astype(int)
    known = {tuple(cell) for cell in cells}
    near = [tuple(cell) in known or any(tuple(cell - step) in known for step in np.eye(3, dtype=int))
            for cell in place]
    assert all(near)


def test_a_hole_smaller_than_a_cell_does_not_empty_it():
    vertices, triangles = ball()
    volume = tetrahedralize(vertices, triangles[50:-3], "cells", {"edge_length": 0.25}, name="Ball")
    assert tet_volumes(volume.nodes, volume.tets).sum() > 4.0 / 3.0 * np.pi


def test_large_triangles_leave_no_gap_between_cells():
    vertices, triangles = ball(3)
    volume = tetrahedralize(vertices, triangles, "cells", {"edge_length": 0.1}, name="Ball")
    assert face_parts(volume.tets)[0] == 1


def test_too_many_cells_are_refused():
    vertices, triangles = ball()
    with pytest.raises(BadMesh, match="edge length"):
        tetrahedralize(vertices, triangles, "cells", {"edge_length": 1e-3}, name="Ball")
