"""ANISO: a bar with fibers in one of four directions under its own weight; helical ones make it twist. [ConJac Fig. 5]

12 x 12 x 38 cells, held at the top, let go from its rest shape under gravity, one dynamic node in the middle of the
bottom. Stable Neo-Hookean and aSTVK. The paper's bar stands; ours hangs, since a standing bar of this shape falls over
before its weight presses it by 3 %, and then the helix turns by 4 degrees. Size and fiber modulus are ours too: cells
of 1 cm, ten times the base's modulus.
"""

from __future__ import annotations

from functools import cache
from math import pi
from typing import Any

import numpy as np

from benchmarks.scenes.scene import Scene
from solver.meshing.grid import box_tets

CELLS, EDGE = (12, 12, 38), 0.01  #: [m]
FIBER_MODULUS = 1.0e5  #: [Pa]
FIBERS: dict[str, dict[str, Any]] = {
    "horizontal": {"kind": "straight", "params": {"fiber_x": 1.0, "fiber_y": 0.0, "fiber_z": 0.0}},
    "vertical": {"kind": "straight", "params": {"fiber_x": 0.0, "fiber_y": 0.0, "fiber_z": 1.0}},
    "diagonal": {"kind": "straight", "params": {"fiber_x": 1.0, "fiber_y": 0.0, "fiber_z": 1.0}},
    "helical": {"kind": "helix", "params": {"fiber_x": 0.0, "fiber_y": 0.0, "fiber_z": 1.0, "fiber_angle": pi / 4}},
}


@cache
def scene(direction: str = "helical") -> Scene:
    """direction: a key of FIBERS."""
    return of(FIBERS[direction])


def of(field: dict[str, Any], cells: tuple[int, int, int] = CELLS, edge: float = EDGE) -> Scene:
    """A bar that hangs from z = 0, with any field of fibers; fewer cells for tests."""
    nodes, tets = box_tets(cells, tuple(edge * np.array(cells)))
    nodes = nodes - edge * np.array(cells) * [0.5, 0.5, 1.0]
    pinned = np.flatnonzero(nodes[:, 2] > -1e-9).astype(np.int32)
    low = int(np.argmin(np.linalg.norm(nodes + [0.0, 0.0, cells[2] * edge], axis=1)))
    fibers = {"fiber_material": {"kind": "astvk", "params": {"fiber_modulus": FIBER_MODULUS}}, "fiber_field": field}
    return Scene(nodes, tets, pinned, lambda count: np.array([low][:count], dtype=np.int32), (1,), 1.0e4, 0.40,
                 fibers=fibers, paper={"vertices": 6591, "tets": 32832}, ours="it hangs; size and the fibers' modulus")


def turn(scene: Scene, x: np.ndarray) -> float:
    """How far the bottom face has turned about the axis [rad], counterclockwise seen from above."""
    low = scene.nodes[:, 2] < scene.nodes[:, 2].min() + 1e-9
    before, after = scene.nodes[low, :2], x[low, :2]
    before, after = before - before.mean(axis=0), after - after.mean(axis=0)
    cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return float(np.arctan2(cross.sum(), (before * after).sum()))
