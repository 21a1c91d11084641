"""A box cut into cells of five tetrahedra each, as the beam of liveliness is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from solver.meshing.grid import box_tets
from solver.state import Index, Vec

#: corners x y z of a cell as bits: four tetrahedra on its corners of one parity, and the one between the others
_FIVE = np.array([[0, 4, 2, 1], [6, 2, 4, 7], [5, 4, 1, 7], [3, 1, 2, 7], [1, 4, 2, 7]])


def box_five_tets(cells: tuple[int, int, int], size: Sequence[float] | Vec,
                  origin: Sequence[float] | Vec = (0.0, 0.0, 0.0)) -> tuple[Vec, Index]:
    """A box as in `box_tets`, each cell cut into five positive tetrahedra, (5 nx ny nz, 4).

    Every second cell is mirrored, so that neighbours cut the face between them along one diagonal.
    """
    nodes, _ = box_tets(cells, size, origin)
    stride = np.array([(cells[1] + 1) * (cells[2] + 1), cells[2] + 1, 1])
    low = np.indices(cells).reshape(3, -1).T
    corners = np.array(list(itertools.product((0, 1), repeat=3)))
    mirrored = np.where((low.sum(axis=1) % 2 == 1)[:, None, None] & (np.arange(3) == 0), 1 - corners, corners)
    tets = ((low[:, None] + mirrored) @ stride)[:, _FIVE].reshape(-1, 4)
    edges = nodes[tets[:, 1:]] - nodes[tets[:, :1]]
    turned = np.linalg.det(edges) < 0.0
    return nodes, np.where(turned[:, None], tets[:, [0, 2, 1, 3]], tets).astype(np.int32)
