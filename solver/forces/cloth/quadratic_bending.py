"""Bending as a quadratic energy of positions: the squared mean curvature of a sheet that is flat at rest."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...state import Index, Vec
from .sheet import Sheet


class QuadraticBending:
    """½ k ∫ |Δx|² over the sheet, a hinge at a time: ½ k / (A₀ + A₁) |Σ c_i x_i|², c the cotangents at its edge.

    As long as the sheet does not stretch this is its bending energy. K = ∂f/∂x is constant and negative semi-definite.
    [Bergou 2006, changed: a third of it, which is what a sheet of this stiffness has; see the test of a roll]
    """

    def __init__(self, sheet: Sheet, params: Mapping[str, float]) -> None:
        """params: bending_stiffness, k, what a sheet of a metre's width resists a curvature of 1/m with [N m]."""
        hinges = sheet.hinges
        at_a, at_b, other_a, other_b = hinges.cotangents.T
        self.nodes: Index = hinges.nodes
        self._weights = np.column_stack([at_b + other_b, at_a + other_a, -at_a - at_b, -other_a - other_b])
        self._stiffness = params["bending_stiffness"] / hinges.areas.sum(axis=1)
        pairs = [self._weights[:, a] * self._weights[:, b] for a in range(1, 4) for b in range(a)]
        blocks = -self._stiffness[:, None] * np.column_stack(pairs)
        self.energies = np.zeros(len(self.nodes))
        self._blocks = (blocks[:, :, None] * np.eye(3).ravel()).reshape(-1, 6, 9)

    def measure(self, x: Vec, forces: Vec) -> float:
        """Energy [J] at positions (n, 3) [m]; writes forces (h, 4, 3) [N]."""
        curvature = np.einsum("ha,haj->hj", self._weights, x[self.nodes])
        np.multiply((-self._stiffness[:, None] * self._weights)[:, :, None], curvature[:, None], out=forces)
        self.energies = 0.5 * self._stiffness * np.einsum("hj,hj->h", curvature, curvature)
        return float(self.energies.sum())

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (h, 4, 3) [N] and blocks of K = ∂f/∂x, (h, 6, 9) [N/m], negative semi-definite anyway."""
        self.measure(x, forces)
        blocks[:] = self._blocks
