"""Seams that pull edges of cloth together and then join them."""

from __future__ import annotations

import numpy as np

from ...state import Index, Vec
from ..stencils import Stencils

SHORT = 1.0e-9  #: [m]: a shorter seam has no direction


class Seams:
    """Springs f = −k (l − L(t)) u on a seam's first end, the opposite on its other end, l u = x_i − x_j; 0 where l <
    L(t).

    L(t) falls from each seam's length at the start to zero in `closes` seconds. [Notes, Penalty Forces]
    """

    def __init__(self, pairs: Index, stiffness: float, closes: float, rest: Vec) -> None:
        """pairs: the nodes that each seam joins, (k, 2). stiffness: k of each [N/m]. closes: [s]. rest: positions of
        all nodes at the start, (n, 3) [m]."""
        self._pairs = np.ascontiguousarray(pairs, dtype=np.int32)
        self._stiffness, self._closes = stiffness, closes
        self._start = np.linalg.norm(rest[pairs[:, 0]] - rest[pairs[:, 1]], axis=1)

    def lengths(self, time: float) -> Vec:
        """Return L(t) of each seam at `time` [s], (k,) [m]."""
        left = max(0.0, 1.0 - time / self._closes) if self._closes else 0.0
        return np.asarray(left * self._start)

    def measure(self, x: Vec, time: float) -> Stencils:
        """Return forces and the energy ½ k (l − L)² at positions x (n, 3) [m] and `time` [s], without blocks."""
        along, over, _ = self._measure_stretch(x, time)
        return self._table(along, over, np.zeros((0, 1, 9)))

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Return forces, energy and blocks of K = ∂f/∂x at positions x (n, 3) [m] and `time` [s].

        K is −k (u uᵀ + (1 − L/l) (1 − u uᵀ)) of a seam under tension: negative semi-definite whatever `project`.
        """
        along, over, length = self._measure_stretch(x, time)
        outer = along[:, :, None] * along[:, None, :]
        across = over / np.maximum(length, SHORT)
        block = outer + across[:, None, None] * (np.eye(3) - outer)
        block[length < SHORT] = np.eye(3)
        block[over <= 0.0] = 0.0
        return self._table(along, over, self._stiffness * block.reshape(-1, 1, 9))

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """Return None: the cloth damps its seams."""

    def _measure_stretch(self, x: Vec, time: float) -> tuple[Vec, Vec, Vec]:
        """Return directions (k, 3), excess lengths, at least 0, (k,) [m], and lengths (k,) [m] of the seams."""
        away = x[self._pairs[:, 0]] - x[self._pairs[:, 1]]
        length = np.linalg.norm(away, axis=1)
        return away / np.maximum(length, SHORT)[:, None], np.maximum(length - self.lengths(time), 0.0), length

    def _table(self, along: Vec, over: Vec, blocks: Vec) -> Stencils:
        """Return forces and energy of seams with unit directions `along` (s, 3) and excess lengths `over` (s,) [m].
        blocks: of K, (s, 1, 9) [N/m]."""
        force = self._stiffness * over[:, None] * along
        return Stencils(self._pairs, np.stack([-force, force], axis=1), blocks,
                        0.5 * self._stiffness * float(over @ over))
