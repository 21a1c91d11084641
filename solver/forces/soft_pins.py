"""Soft pins: springs from painted nodes to their animated positions, with stiffness by painted weight."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from .. import catalogue
from ..coordinates.prescribed import OverTime
from ..state import Index, Vec
from .pulls import Pull


class SoftPins(Pull):
    """Springs f = −k_i(t) (x_i − p_i(t)) on each node, k_i = Σ_v m_iv ω²(t) w_v / (1 − w_v), K = −k_i."""

    is_on_object = True

    def __init__(self, nodes: Index, vertex_mass: csr_matrix, weights: OverTime, squared: OverTime,
                 targets: OverTime) -> None:
        """nodes: (k,). vertex_mass: m_iv, mass at each node of each painted vertex, (k, s) [kg]. weights: painted, (s,)
        in [0, 1] at a time. squared: ω², stiffness per mass at weight 0.5, (1,) at a time [1/s²]. targets: animated
        position of each node, (k, 3) [m] at a time."""
        super().__init__(nodes, np.zeros(len(nodes)), targets)
        self._vertex_mass, self._weights, self._squared = vertex_mass, weights, squared
        self._steady = None if weights.moves or squared.moves else self._at(0.0)

    def at_work(self, time: float) -> bool:
        """Return whether any of the springs has stiffness at `time` [s]."""
        return bool(self._firmness(time).any())

    def _firmness(self, time: float) -> Vec:
        """Return the stiffness of each spring at `time` [s], (k,) [N/m]."""
        return self._at(time) if self._steady is None else self._steady

    def _at(self, time: float) -> Vec:
        """Return the stiffness of each spring from weights and ω² at `time` [s], (k,) [N/m]."""
        # a curve may overshoot between samples
        weights = np.clip(self._weights.at(time), 0.0, catalogue.HARD)
        firmness: Vec = max(float(self._squared.at(time)[0]), 0.0) * (self._vertex_mass @ (weights / (1.0 - weights)))
        return firmness
