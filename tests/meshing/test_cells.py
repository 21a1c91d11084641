"""Cells that cover a body: at once, for any surface, with nothing of it left outside."""

import numpy as np
import pytest
from solids import ball

from solver.errors import BadMesh
from solver.meshing.tetrahedralize import tetrahedralize
from solver.meshing.volume import face_parts, tet_volumes


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
    vertices, triangles = ball(8)
    volume = tetrahedralize(vertices, triangles, "cells", {"edge_length": 0.1}, name="Ball")
    assert face_parts(volume.tets)[0] == 1


def test_too_many_cells_are_refused():
    vertices, triangles = ball()
    with pytest.raises(BadMesh, match="edge length"):
        tetrahedralize(vertices, triangles, "cells", {"edge_length": 1e-3}, name="Ball")
