"""Bending as a quadratic energy of positions: the squared mean curvature of a sheet that is flat at rest."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...state import Index, Vec
from .quadratic_kernels import measure, stiffen, weigh
from .sheet import Sheet, over_elements


class QuadraticBending:
    """Bending energy ½ k ∫ |Δx|² of a sheet, hinge by hinge: ½ k / (A₀ + A₁) |Σ c_i x_i|², c sums of cotangents at the
    edge.

    Exact as long as the sheet does not stretch. K = ∂f/∂x is constant and negative semi-definite.
    [Bergou 2006, changed: a third of it, which is what a sheet of this stiffness has; see the test of a roll]
    """

    def __init__(self, sheet: Sheet, params: Mapping[str, float]) -> None:
        """params: bending_stiffness, k, bending moment per width and curvature of the sheet [N m]."""
        bends = sheet.bends
        self.nodes: Index = bends.nodes
        self._weights, self._stiffness = np.empty((len(self.nodes), 4)), np.empty(len(self.nodes))
        weigh(bends.cotangents, bends.areas, params["bending_stiffness"], self._weights, self._stiffness)
        self._stiffness *= bends.weight
        self.energies = np.zeros(len(self.nodes))

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces (h, 4, 3) [N]."""
        over_elements(measure, len(self.nodes), x, self.nodes, self._weights, self._stiffness, forces, self.energies)
        return float(self.energies.sum())

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (h, 4, 3) [N] and blocks of K = ∂f/∂x, (h, 6, 9) [N/m], at positions x (n, 3) [m].

        K is negative semi-definite whatever `project`.
        """
        self.measure(x, forces)
        over_elements(stiffen, len(self.nodes), self._weights, self._stiffness, blocks)
