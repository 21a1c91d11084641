"""Constant pressure in closed cloth: a balloon, an air mattress, a cushion."""

from __future__ import annotations

import numpy as np

from ...state import Index, Vec
from ..stencils import Stencils
from .pressure_kernels import inflate


class Pressure:
    """Forces f = p ∂V/∂x of a pressure p in a closed surface that does not depend on its volume V = ⅙ Σ x_a · (x_b ×
    x_c).

    Each edge with the two corners opposite to it is a stencil, with a third of the forces of its two triangles and the
    block K_ab = −p/6 [x_c − x_d]×, a and b its ends. Summed over a closed surface K_aa is zero. [Notes, Penalty Forces]
    """

    def __init__(self, triangles: Index, pressure: float, rest: Vec) -> None:
        """triangles: (t, 3) of a closed surface. pressure: p [Pa], above that outside, acting outward for either
        orientation of the triangles. rest: positions of all nodes, (n, 3) [m], from which the outside is found.

        Raises ValueError where the surface is not closed.
        """
        a, b, c = (rest[triangles[:, i]] for i in range(3))
        volume = np.einsum("ti,ti->", a - rest[triangles[0, 0]], np.cross(b - a, c - a))
        self._pressure = float(np.sign(volume) or 1.0) * pressure
        self._nodes = edges_with_corners(triangles)

    def measure(self, x: Vec, time: float) -> Stencils:
        """Return forces and the energy −p V at positions x (n, 3) [m], without blocks."""
        return self._evaluate(x, 0)

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Return forces, energy and blocks of K = ∂f/∂x at positions x (n, 3) [m].

        K is indefinite, so it is omitted if `project`: the surface itself is far stiffer.
        """
        return self._evaluate(x, 0 if project else len(self._nodes))

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """Return None: pressure has no damping."""

    def _evaluate(self, x: Vec, pairs: int) -> Stencils:
        """Return forces and energy at positions x (n, 3) [m], with the stiffness of the first `pairs` elements, 0 or
        all."""
        forces, blocks = np.empty((len(self._nodes), 4, 3)), np.zeros((len(self._nodes), 6, 9))
        energy = inflate(self._nodes, self._pressure, np.ascontiguousarray(x), forces, blocks[:pairs])
        return Stencils(self._nodes, forces, blocks, energy)


def edges_with_corners(triangles: Index) -> Index:
    """Return the nodes of each edge of a closed surface, (e, 4). triangles: (t, 3).

    Columns: the ends a, b in the order of one triangle, its third corner c, and the third corner d of the other. Raises
    ValueError where an edge does not have two triangles of consistent orientation.
    """
    ends = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    corner = np.concatenate([triangles[:, 2], triangles[:, 0], triangles[:, 1]])
    opposite = {(int(a), int(b)): int(c) for (a, b), c in zip(ends.tolist(), corner.tolist())}
    if len(opposite) != len(ends) or any((b, a) not in opposite for a, b in opposite):
        raise ValueError("the surface is not closed")
    return np.array([(a, b, c, opposite[b, a]) for (a, b), c in opposite.items() if a < b], dtype=np.int32)
