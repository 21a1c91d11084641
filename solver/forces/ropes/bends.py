"""Bending of ropes that are straight at rest, as in discrete elastic rods."""

from __future__ import annotations

import numpy as np

from ...state import Index, Vec
from ..cloth.sheet import over_elements
from .rope_kernels import fill_bends, measure_bends


class RodBends:
    """Bending energy ½ B |κb|²/l̄ at each node between two links, κb = 2 t₀ × t₁/(1 + t₀·t₁), l̄ the mean of their
    lengths.

    K = ∂f/∂x is exact; projected, it lacks the second derivative of κb and is negative semi-definite. Twist is a law of
    its own. [Bergou 2008]
    """

    def __init__(self, nodes: Index, rest: Vec, stiffness: float) -> None:
        """nodes: three of each bend, the middle one between two links, (b, 3). rest: of all nodes, (n, 3) [m].
        stiffness: B [N m²]."""
        self.nodes = np.ascontiguousarray(nodes, dtype=np.int32)
        sides = np.linalg.norm(np.diff(rest[nodes], axis=1), axis=2)
        self._stiffness = np.ascontiguousarray(2.0 * stiffness / sides.mean(axis=1))
        self.energies: Vec = np.zeros(0)

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces on the three nodes, (b, 4, 3) [N], fourth row
        zero."""
        return float(measure_bends(0, len(self.nodes), x, self.nodes, self._stiffness, forces))

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (b, 4, 3) [N] and blocks of K of pairs of nodes, (b, 6, 9) [N/m], in the order of `Stencils`.

        K is negative semi-definite if `project`. x: (n, 3) [m].
        """
        self.measure(x, forces)
        over_elements(fill_bends, len(self.nodes), x, self.nodes, self._stiffness, project, blocks)
