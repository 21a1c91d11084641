"""Inertia of stages in which every free node is an unknown, with the interface that quasistatic condensations have."""

from __future__ import annotations

import numpy as np

from ...assembly.linearised import Linearised
from ...state import Vec
from ..interface import Mesh
from ..stage import NodeStage


class OwnInertia:
    """½ vᵀ A v − vᵀ p with A = M − a h D and p = M v̂ + a h D w, where V and C are the identity on free nodes.
    [Ascher 14, 15]"""

    def __init__(self, mesh: Mesh, lin: Linearised, stage: NodeStage, carriers: int) -> None:
        """carriers: number of rates of joints that move prescribed nodes; these do not directly move free nodes."""
        self._free, self._weight = mesh.coordinates.free, stage.weight(lin)
        self._damped = lin.damped if lin.damped is not None and lin.damped.has_blocks else None
        self._ah = stage.a * stage.h
        self.carried = np.zeros((len(mesh.rest), 3, carriers))
        self.regularisation_mass = self._weight  #: (n,) [kg]
        momentum = stage.inertia * lin.mass[:, None] * stage.v_hat
        if self._damped is not None and stage.w is not None:
            moving = np.zeros_like(mesh.rest)
            moving[mesh.coordinates.prescribed] = stage.w
            momentum += self._ah * self._damped.multiply(moving[:, :, None])[:, :, 0]
        self._momentum: Vec = momentum[self._free]

    def energy(self, v: Vec) -> tuple[Vec, float]:
        """Return the gradient A v − p, (n, 3) [N s], and the value [J] of the inertial potential at velocities v,
        (n, 3) [m/s]."""
        slope, own = self.times(v), v[self._free]
        value = float(np.vdot(own, 0.5 * slope[self._free] - self._momentum))
        slope[self._free] -= self._momentum
        return slope, value

    def times(self, v: Vec) -> Vec:
        """Return A v on free nodes and zero on others, both (n, 3) or (n, 3, c)."""
        own = self.following(v)
        out: Vec = self._weight.reshape(-1, *[1] * (v.ndim - 1)) * own
        if self._damped is not None:
            damping_rows = self._damped.multiply(own.reshape(*v.shape[:2], -1)).reshape(v.shape)
            out[self._free] -= self._ah * damping_rows[self._free]
        return out

    def following(self, columns: Vec) -> Vec:
        """Return the columns on free nodes and zero on others, both (n, 3, c)."""
        out = np.zeros_like(columns)
        out[self._free] = columns[self._free]
        return out

    def project_loads(self, loads: Vec) -> Vec:
        """Return the loads on free nodes and zero on others, both (n, 3, c)."""
        return self.following(loads)

    def velocities(self, v: Vec, rates: Vec | None = None) -> Vec:
        """Return velocities v on free nodes and zero on prescribed ones, (n, 3) [m/s]; `rates` of joints have no
        effect."""
        return self.following(v)
