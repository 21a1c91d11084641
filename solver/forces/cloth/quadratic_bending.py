"""Bending as a quadratic energy of positions: the squared mean curvature of a sheet that is flat at rest."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...state import Index, Vec
from .quadratic_kernels import measure, stiffen, weigh
from .sheet import Sheet, over_elements


class QuadraticBending:
    """½ k ∫ |Δx|² over the sheet, a hinge at a time: ½ k / (A₀ + A₁) |Σ c_i x_i|², c the cotangents at its edge.

    As long as the sheet does not stretch this is its bending energy. K = ∂f/∂x is constant and negative semi-definite.
    [Bergou 2006, changed: a third of it, which is what a sheet of this stiffness has; see the test of a roll]
    """

    def __init__(self, sheet: Sheet, params: Mapping[str, float]) -> None:
        """params: bending_stiffness, k, what a sheet of a metre's width resists a curvature of 1/m with [N m]."""
        bends = sheet.bends
        self.nodes: Index = bends.nodes
        self._weights, self._stiffness = np.empty((len(self.nodes), 4)), np.empty(len(self.nodes))
        weigh(bends.cotangents, bends.areas, params["bending_stiffness"], self._weights, self._stiffness)
        self._stiffness *= bends.share
        self.energies = np.zeros(len(self.nodes))

    def measure(self, x: Vec, forces: Vec) -> float:
        """Energy [J] at positions (n, 3) [m]; writes forces (h, 4, 3) [N]."""
        over_elements(measure, len(self.nodes), x, self.nodes, self._weights, self._stiffness, forces, self.energies)
        return float(self.energies.sum())

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (h, 4, 3) [N] and blocks of K = ∂f/∂x, (h, 6, 9) [N/m], negative semi-definite anyway."""
        self.measure(x, forces)
        over_elements(stiffen, len(self.nodes), self._weights, self._stiffness, blocks)
