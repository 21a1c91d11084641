"""Bending of cloth by springs of dihedral angles, with rest angles."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...state import Index, Vec
from .hinge_kernels import angles, fill, measure
from .sheet import Sheet, over_elements


class HingeBending:
    """Bending energy ½ k |e|²/(A₀ + A₁) (θ − θ̄)² of every edge e between two faces: discrete shells.

    For small angles as stiff as `QuadraticBending`. K = ∂f/∂x is exact; projected, it lacks the term of ∂²θ/∂x² and is
    negative semi-definite. A hinge that is folded by more than half a turn passes through itself. [Grinspun 2003]
    [Tamstorf 2013]
    """

    def __init__(self, sheet: Sheet, params: Mapping[str, float]) -> None:
        """params: bending_stiffness, k, bending moment per width and curvature of the sheet [N m]."""
        bends = sheet.bends
        self.nodes: Index = bends.nodes
        self._stiffness = params["bending_stiffness"] * bends.weight * bends.length**2 / bends.areas.sum(axis=1)
        self._rest = np.empty(len(self.nodes))
        #: |(b − a) × (c − a)|² of either face at rest [m⁴]: a lower bound, times `THINNEST`, of that in motion
        self._squares = (2.0 * bends.areas) ** 2
        self.energies = np.zeros(len(self.nodes))
        angles(sheet.rest, self.nodes, self._rest)

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces (h, 4, 3) [N]."""
        over_elements(measure, len(self.nodes), x, self.nodes, self._stiffness, self._rest, self._squares, forces,
                      self.energies)
        return float(self.energies.sum())

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (h, 4, 3) [N] and blocks of K = ∂f/∂x, (h, 6, 9) [N/m], at positions x (n, 3) [m].

        K is negative semi-definite if `project`.
        """
        over_elements(fill, len(self.nodes), x, self.nodes, self._stiffness, self._rest, self._squares, project, forces,
                      blocks)
