"""Pressure of what closed cloth holds: a balloon, an air mattress, a cushion."""

from __future__ import annotations

import numpy as np

from ...state import Index, Vec
from ..stencils import Stencils
from .pressure_kernels import inflate


class Pressure:
    """f = p ∂V/∂x of a closed surface, the same pressure p whatever its volume V = ⅙ Σ x_a · (x_b × x_c).

    Each edge with the two corners opposite to it is a stencil: it has a third of what its two triangles feel, and the
    block K_ab = −p/6 [x_c − x_d]×, a and b its ends. Summed over a closed surface K_aa is zero. [Notes, Penalty Forces]
    """

    def __init__(self, triangles: Index, pressure: float, rest: Vec) -> None:
        """triangles: (t, 3) of a closed surface. pressure: p [Pa], above that outside; it acts outward whichever way
        the triangles run. rest: positions of all nodes, (n, 3) [m], by which the outside is found."""
        a, b, c = (rest[triangles[:, i]] for i in range(3))
        volume = np.einsum("ti,ti->", a - rest[triangles[0, 0]], np.cross(b - a, c - a))
        self._pressure = float(np.sign(volume) or 1.0) * pressure
        self._nodes = edges_with_corners(triangles)

    def measure(self, x: Vec, time: float) -> Stencils:
        """Forces and energy −p V at positions (n, 3) [m], without blocks."""
        return self._evaluate(x, 0)

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Forces, energy and blocks of K = ∂f/∂x. It is indefinite, so with `project` it is left out: what holds the
        pressure is far stiffer."""
        return self._evaluate(x, 0 if project else len(self._nodes))

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """None: pressure damps nothing."""

    def _evaluate(self, x: Vec, pairs: int) -> Stencils:
        forces, blocks = np.empty((len(self._nodes), 4, 3)), np.zeros((len(self._nodes), 6, 9))
        energy = inflate(self._nodes, self._pressure, np.ascontiguousarray(x), forces, blocks[:pairs])
        return Stencils(self._nodes, forces, blocks, energy)


def edges_with_corners(triangles: Index) -> Index:
    """(e, 4): the ends a, b of each edge of a closed surface in the order of one triangle, the corner c of that one,
    and the corner d of the other. Raises ValueError where an edge has not two triangles that run opposite ways."""
    ends = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    corner = np.concatenate([triangles[:, 2], triangles[:, 0], triangles[:, 1]])
    there = {(int(a), int(b)): int(c) for (a, b), c in zip(ends.tolist(), corner.tolist())}
    if len(there) != len(ends) or any((b, a) not in there for a, b in there):
        raise ValueError("the surface is not closed")
    return np.array([(a, b, c, there[b, a]) for (a, b), c in there.items() if a < b], dtype=np.int32)
