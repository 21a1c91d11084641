"""TWIST: a bar between two held ends, one of which is moved; more and more dynamic nodes. [ConJac Fig. 3, Table 1]

20 x 6 x 6 cells of 1 cm. 1, 2 and 4 nodes stand on the axis, 8, 16 and 32 at the corners of slices, as in the paper.
The motion is ours: the right end turns by 180 degrees and rises by 5 cm in a quarter of a second, is back a tenth of a
second later and stays there.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.scenes.scene import FPS, Scene
from solver.meshing.grid import box_tets

CELLS, EDGE = (20, 6, 6), 0.01  #: [m]
TURN, RISE = np.pi, 0.05  #: [rad], [m]
SAMPLES = 4
AWAY, RELEASE = 0.25, 0.35  #: when the end is farthest and when it is back [s]


@cache
def scene() -> Scene:
    nodes, tets = box_tets(CELLS, tuple(EDGE * np.array(CELLS)))
    nodes = nodes - [0.0, 0.03, 0.03]
    length = CELLS[0] * EDGE
    pinned = np.flatnonzero((nodes[:, 0] < 1e-9) | (nodes[:, 0] > length - 1e-9)).astype(np.int32)
    return Scene(nodes, tets, pinned, dynamic, (1, 2, 4, 8, 16, 32), 1.0e4, 0.40, release_time=RELEASE,
                 motion=moved(nodes, pinned), samples=SAMPLES, paper={"vertices": 1029, "tets": 4320},
                 ours="size and how the end moves")


def node(i: int, j: int, k: int) -> int:
    """Return a node's number in the grid, whose last axis runs fastest."""
    return (i * (CELLS[1] + 1) + j) * (CELLS[2] + 1) + k


def dynamic(count: int) -> np.ndarray:
    """Up to four on the axis, more at the corners of slices, at equal intervals."""
    slices = count if count <= 4 else count // 4
    columns = [round(CELLS[0] * (k + 1) / (slices + 1)) for k in range(slices)]
    _, width, height = CELLS
    if count <= 4:
        return np.array([node(i, width // 2, height // 2) for i in columns], dtype=np.int32)
    return np.array([node(i, j, k) for i in columns for j in (0, width) for k in (0, height)], dtype=np.int32)


def moved(nodes: np.ndarray, pinned: np.ndarray) -> np.ndarray:
    """Return where the held nodes are at each sample, (T, p, 3) [m]."""
    times = np.arange(round(RELEASE * FPS) * SAMPLES + SAMPLES + 1) / (FPS * SAMPLES)
    fraction = np.interp(times, [0.0, AWAY, RELEASE], [0.0, 1.0, 0.0])
    fraction = 0.5 - 0.5 * np.cos(np.pi * fraction)
    where = np.repeat(nodes[None, pinned], len(times), axis=0)
    far_end = nodes[pinned, 0] > 1e-9
    y, z = nodes[pinned][far_end, 1:].T
    for at, part in zip(where, fraction):
        sine, cosine = np.sin(TURN * part), np.cos(TURN * part)
        at[far_end, 1] = cosine * y - sine * z
        at[far_end, 2] = sine * y + cosine * z + RISE * part
    return where
