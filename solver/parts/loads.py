"""Right-hand side of a linearised stage on all nodes, for Vanilla and ConJac."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..assembly.linearised import Linearised, Near
from ..state import Index, Vec
from .interface import Mesh
from .stage import NodeStage


class Loads:
    """Products with K for the right-hand side of a stage."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh
        self._around_prescribed = Near(mesh.tets, mesh.coordinates.prescribed, len(mesh.rest))

    @cached_property
    def _everywhere(self) -> Near:
        count = len(self._mesh.rest)
        return Near(self._mesh.tets, np.arange(count, dtype=np.int32), count)

    def momentum(self, lin: Linearised, stage: NodeStage) -> Vec:
        """Return M v̂ + a h (f + K (x_base − x)), (n, 3) [N s], with prescribed nodes at the stage's time, less b h w.

        K = ∂f/∂x is negative semi-definite. Damping is linear in v, so all of D v is on the left-hand side.
        """
        ah = stage.a * stage.h
        out: Vec = stage.inertia * lin.mass[:, None] * stage.v_hat + ah * lin.force
        if stage.base is not None:
            coordinates = self._mesh.coordinates
            offset = coordinates.positions(stage.base, stage.time, stage.carrier_motion) - lin.x
            if stage.w is not None:
                offset[coordinates.prescribed] -= stage.b * stage.h * stage.w
            offset[coordinates.elsewhere] = 0.0
            # all nodes are near, so `nodes` counts them all and in order
            out += ah * self._everywhere.of(lin).multiply(lin, offset[:, :, None])[:, :, 0]
        return out

    def pull(self, lin: Linearised, w: Vec) -> Vec:
        """Return K w, (n, 3) [N/s], for velocities w, (p, 3) [m/s], of the prescribed nodes."""
        return self.pulls(lin, w[:, :, None])[:, :, 0]

    def pulls(self, lin: Linearised, columns: Vec) -> Vec:
        """Return K w, (n, 3, c) [N/s], for several motions w of the prescribed nodes, (p, 3, c) [m/s]."""
        near = self._around_prescribed.of(lin)
        inside = np.zeros((len(near.nodes), *columns.shape[1:]))
        inside[near.row_of[self._mesh.coordinates.prescribed]] = columns
        out = np.zeros((len(self._mesh.rest), *columns.shape[1:]))
        out[near.nodes] = near.multiply(lin, inside)
        return out

    def find_loaded_prescribed(self, lin: Linearised, stage: NodeStage) -> Index:
        """Return the numbers, among the prescribed nodes, of those with mass or stiffness, (k,). Most corners of rigid
        surfaces have neither, since nothing touches them."""
        some = (stage.weight(lin) != 0.0) | lin.node_blocks.any(axis=(1, 2))
        some[self._around_prescribed.of(lin).around] = True
        if lin.damped is not None and lin.damped.between is not None:
            some[lin.damped.between[0]] = True
        return np.flatnonzero(some[self._mesh.coordinates.prescribed])

    def on_prescribed(self, lin: Linearised, stage: NodeStage, columns: Vec, loaded: Index) -> Vec:
        """Return the rows of loaded prescribed nodes, (k, 3, c), of (M − ahD − βabh²K) times columns of all nodes, (n,
        3, c). loaded: as `find_loaded_prescribed` returns them, (k,)."""
        near, nodes = self._around_prescribed.of(lin), self._mesh.coordinates.prescribed[loaded]
        out: Vec = stage.weight(lin)[nodes, None, None] * columns[nodes]
        out -= stage.compute_damped_stiffness_factor(lin) * near.multiply(lin, columns[near.nodes])[near.row_of[nodes]]
        if lin.damped is not None and lin.damped.has_blocks:
            out -= stage.a * stage.h * lin.damped.multiply(columns)[nodes]
        return out
