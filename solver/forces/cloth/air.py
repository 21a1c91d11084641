"""Aerodynamic drag and lift on cloth, by wind and by still air."""

from __future__ import annotations

import numpy as np

from ...state import Index, Vec
from ..stencils import Stencils
from .air_kernels import drag


class Air:
    """Drag f = −C (v − w) on each triangle, C = ½ ρ A (c_n |v·n| n nᵀ + c_t |v_t| (1 − n nᵀ)), v its velocity relative
    to air.

    The force on a face across the wind is ½ ρ c_n A v², that on an inclined face is along its normal: drag and lift. C
    is that at the start of a step, so that f is linear in the state at its end and dissipative for any step. The air is
    a node that moves at the velocity of the wind.
    """

    def __init__(self, node: int, triangles: Index, density: float, drag: Vec, friction: Vec) -> None:
        """node: index of the air's node. triangles: (e, 3). density: ρ [kg/m³]. drag, friction: c_n, c_t of each,
        (e,)."""
        self._node, self._triangles = node, np.ascontiguousarray(triangles, dtype=np.int32)
        self._drag, self._friction = 0.5 * density * drag, 0.5 * density * friction
        self._blown: Index = np.unique(triangles).astype(np.int32)
        self._corner: Index = np.searchsorted(self._blown, triangles).astype(np.int32)
        self._pairs: Index = np.column_stack([self._blown, np.full(len(self._blown), node)]).astype(np.int32)
        self._nothing = Stencils(np.zeros((0, 2), np.int32), np.zeros((0, 2, 3)), np.zeros((0, 1, 9)), 0.0)

    def measure(self, x: Vec, time: float) -> Stencils:
        """Return an empty table: drag is damping alone."""
        return self._nothing

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Return an empty table: drag is damping alone."""
        return self._nothing

    def damp(self, x: Vec, v: Vec, time: float) -> Stencils:
        """Return D of pairs of a node and the air [N s/m], at positions x [m] and velocities v [m/s] of all nodes, (n,
        3) each."""
        blocks = np.zeros((len(self._blown), 9))
        drag(np.ascontiguousarray(x), np.ascontiguousarray(v), self._triangles, self._corner, self._node, self._drag,
             self._friction, blocks)
        return Stencils(self._pairs, np.zeros((len(blocks), 2, 3)), blocks[:, None], 0.0)
