"""A head with ears on animated pins: it nods once, stops, and the ears swing on.

A ball of 7 cm and two flat ears, 8 cm long, out of cells of one centimetre. What is within 5 cm of the ball's centre is
animated: it nods about X by 30 degrees and is back within a quarter of a second.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.scenes.scene import FPS, Scene, farthest
from solver.meshing.grid import box_tets

EDGE, HEAD, CORE = 0.01, 0.07, 0.05  #: [m]
EAR, APART = (0.03, 0.02, 0.08), 0.035  #: width, thickness and length; how far its middle is from the head's [m]
YOUNG, POISSON = 3.0e4, 0.45  #: [Pa]
NOD, RELEASE = np.radians(30.0), 0.25  #: [rad]; when it is back [s]
SAMPLES = 4
SPACE = (16, 16, 24)  #: cells of the box that it is taken from


@cache
def scene() -> Scene:
    nodes, tets = box_tets(SPACE, tuple(EDGE * np.array(SPACE)))
    nodes = nodes - [EDGE * SPACE[0] / 2, EDGE * SPACE[1] / 2, EDGE * SPACE[0] / 2]
    # whole cells, so that ears are as thick as they are said to be
    cell = EDGE * (np.floor(nodes[tets].mean(axis=1) / EDGE) + 0.5)
    x, y, z = np.abs(cell[:, 0]), np.abs(cell[:, 1]), cell[:, 2]
    ears = (np.abs(x - APART) < EAR[0] / 2) & (y < EAR[1] / 2) & (z > 0.0) & (z < HEAD - EDGE + EAR[2])
    tets = tets[ears | (np.linalg.norm(cell, axis=1) < HEAD)]
    used, tets = np.unique(tets, return_inverse=True)
    nodes, tets = nodes[used], tets.reshape(-1, 4).astype(np.int32)
    pinned = np.flatnonzero(np.linalg.norm(nodes, axis=1) < CORE).astype(np.int32)
    free = np.setdiff1d(np.arange(len(nodes)), pinned)
    tips = [int(np.argmin(np.linalg.norm(nodes - [side * APART, 0.0, 1.0], axis=1))) for side in (-1, 1)]
    return Scene(nodes, tets, pinned, lambda count: farthest(nodes, free, tips, count), (8,), YOUNG, POISSON,
                 release_time=RELEASE, motion=_nodding(nodes[pinned]), samples=SAMPLES, gravity=(0.0, 0.0, 0.0))


def _nodding(core: np.ndarray) -> np.ndarray:
    """Return where the core is at each sample, (T, p, 3) [m]."""
    times = np.arange(round(RELEASE * FPS) * SAMPLES + SAMPLES + 1) / (FPS * SAMPLES)
    angle = NOD * np.sin(np.pi * np.minimum(times / RELEASE, 1.0)) ** 2
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    _, y, z = core.T
    out: np.ndarray = np.stack([np.broadcast_to(core[:, 0], (len(times), len(core))), c * y - s * z, s * y + c * z],
                               axis=2)
    return out
