"""Surfaces of obstacles moved outwards by the thickness of cloth, with edges and corners as sharp as before."""

from __future__ import annotations

import numpy as np

from ...coordinates.prescribed import OverTime
from ...meshing.normals import unit_normals
from ...state import Index, Vec

SPIKE = 4.0  #: of the distance: no corner moves further, however sharp it is
FLAT = 1.0e-6  #: of the largest eigenvalue of Σ n nᵀ: directions in which no face looks


def is_closed(triangles: Index) -> bool:
    """Whether every edge of triangles, (t, 3), belongs to two of them that are oriented alike."""
    if not len(triangles):
        return False
    half = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64)
    forward, back = half[:, 0] << 32 | half[:, 1], half[:, 1] << 32 | half[:, 0]
    return len(np.unique(forward)) == len(forward) and bool(np.array_equal(np.sort(forward), np.sort(back)))


def offset_surface(x: Vec, triangles: Index, distance: float) -> Vec:
    """Return vertices x, (n, 3) [m], moved so that all faces around each are a distance [m] further out; at vertices
    with faces of more than three directions, as nearly as possible. triangles: (t, 3), outwards."""
    normal = unit_normals(x, triangles)
    square, total = np.zeros((len(x), 3, 3)), np.zeros((len(x), 3))
    for corner in range(3):
        np.add.at(square, triangles[:, corner], normal[:, :, None] * normal[:, None, :])
        np.add.at(total, triangles[:, corner], normal)
    size, axes = np.linalg.eigh(square)
    inverse = np.where(size > FLAT * np.maximum(size[:, -1:], 1e-300), 1.0 / np.maximum(size, 1e-300), 0.0)
    direction = np.einsum("nij,nj,nkj,nk->ni", axes, inverse, axes, total)
    length = np.linalg.norm(direction, axis=1)
    out: Vec = x + distance * direction * (np.minimum(length, SPIKE) / np.maximum(length, 1e-300))[:, None]
    return out


class OffsetSurface:
    """Surface of a moving obstacle, offset outwards at any time."""

    def __init__(self, motion: OverTime, triangles: Index, distance: float) -> None:
        """Offset a motion. motion: positions of vertices, (n, 3) [m], at a time. triangles: (t, 3), outwards. distance:
        [m]."""
        self._motion, self._triangles, self._distance = motion, triangles, distance
        self._constant = None if motion.moves else offset_surface(motion.at(0.0), triangles, distance)

    @property
    def moves(self) -> bool:
        """Whether positions of the vertices change with time."""
        return self._constant is None

    def at(self, time: float) -> Vec:
        """Return positions of the vertices at `time` [s], (n, 3) [m]."""
        if self._constant is not None:
            return self._constant
        return offset_surface(self._motion.at(time), self._triangles, self._distance)

    def velocity(self, time: float) -> Vec:
        """Return velocities of the vertices at `time` [s], (n, 3) [m/s], without the change of the offset by rotation.
        """
        return self._motion.velocity(time)


class ExtrapolatedPath:
    """Motion of nails that are longer at their tips by a distance."""

    def __init__(self, motion: OverTime, ends: Index, distance: float) -> None:
        """Lengthen a motion. motion: positions of vertices, (n, 3) [m], at a time. ends: heads and tips, (k, 2).
        distance: [m]."""
        self._motion, self._ends, self._distance = motion, ends, distance

    @property
    def moves(self) -> bool:
        """Whether positions of the vertices change with time."""
        return self._motion.moves

    def at(self, time: float) -> Vec:
        """Return positions of the vertices at `time` [s], (n, 3) [m]."""
        x = self._motion.at(time).copy()
        heads, tips = self._ends.T
        direction = x[tips] - x[heads]
        x[tips] += self._distance * direction / np.linalg.norm(direction, axis=1)[:, None]
        return x

    def velocity(self, time: float) -> Vec:
        """Return velocities of the vertices at `time` [s], (n, 3) [m/s], without the change of the added length by
        rotation."""
        return self._motion.velocity(time)
