"""HETERO: a standing bar of stiff and soft layers sags and bulges. [ConJac Fig. 4, Table 1]

12 x 12 x 34 cells, held at the bottom, let go from its rest shape under gravity, one dynamic node on top of the axis.
Size and stiff modulus are ours: cells of 4.5 mm, stiff layers ten times as stiff as the paper's modulus.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.scenes.scene import Scene
from solver.meshing.grid import box_tets

CELLS, EDGE = (12, 12, 34), 0.0045  #: [m]
LAYERS = (7, 7, 6, 7, 7)  #: cells of each, from the bottom, stiff ones first
SOFT, STIFF = 1.0e4, 1.0e5  #: [Pa]


@cache
def scene(cells: tuple[int, int, int] = CELLS, edge: float = EDGE, layers: tuple[int, ...] = LAYERS) -> Scene:
    """cells, edge [m] and layers: fewer for tests."""
    nodes, tets = box_tets(cells, tuple(edge * np.array(cells)))
    nodes = nodes - [cells[0] * edge / 2, cells[1] * edge / 2, 0.0]
    pinned = np.flatnonzero(nodes[:, 2] < 1e-9).astype(np.int32)
    cell = np.floor(nodes[tets].mean(axis=1)[:, 2] / edge).astype(int)
    layer = np.repeat(np.arange(len(layers)), layers)[cell]
    top = int(np.argmin(np.linalg.norm(nodes - [0.0, 0.0, cells[2] * edge], axis=1)))
    return Scene(nodes, tets, pinned, lambda count: np.array([top][:count], dtype=np.int32), (1,), SOFT, 0.40,
                 element_young=np.where(layer % 2 == 0, STIFF, SOFT), paper={"vertices": 5915, "tets": 29376},
                 ours="size, layers and the stiff modulus")
