"""A jelly cube of one metre is dropped by 0.6 m on a ground.

E is 7e4 Pa, the ground's stiffness that of a new soft body. What counts is how high its middle comes after the first
landing.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.scenes.scene import Scene, farthest
from solver.meshing.grid import box_tets
from solver.state import State
from solver.world.nodes import Nodes

SIZE, CELLS, DROP = 1.0, 6, 0.6  #: [m], along an edge, [m]


@cache
def scene() -> Scene:
    nodes, tets = box_tets((CELLS,) * 3, (SIZE,) * 3)
    nodes = nodes + [0.0, 0.0, DROP]
    corner = int(np.argmin(nodes.sum(axis=1)))
    stiffness = 1000.0 * 9.81 * (np.sqrt(3.0) * SIZE / 20.0) ** 2 / 0.005
    return Scene(nodes, tets, np.zeros(0, dtype=np.int32),
                 lambda count: farthest(nodes, np.arange(len(nodes)), [corner], count), (8,),
                 1000.0 * (2.5 * SIZE / 0.3) ** 2, 0.4, seconds=2.0,
                 ground={"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness": stiffness})


def height(world: Nodes, state: State) -> float:
    """Of its middle [m]."""
    x = world.coordinates.place(state.q, state.time)
    return float(world.mass @ x[:, 2] / world.mass.sum())


def bounce(heights: np.ndarray) -> float:
    """How far the middle comes up again after it was lowest first [m]."""
    first = heights[: len(heights) // 2]
    low = int(np.argmin(first))
    return float(heights[low:].max() - heights[low])
