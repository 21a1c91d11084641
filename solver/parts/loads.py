"""The right-hand side of a linearised stage on all nodes, what Vanilla and ConJac share."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..assembly.linearised import Linearised, Near
from ..state import Index, Vec
from .interface import Mesh
from .stage import NodeStage


class Loads:
    """Products with K that a stage's right-hand side needs."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh
        self._around_prescribed = Near(mesh.tets, mesh.coordinates.prescribed, len(mesh.rest))

    @cached_property
    def _everywhere(self) -> Near:
        count = len(self._mesh.rest)
        return Near(self._mesh.tets, np.arange(count, dtype=np.int32), count)

    def momentum(self, lin: Linearised, stage: NodeStage) -> Vec:
        """M v̂ + a h (f + K (x_base − x)), (n, 3) [N s]; prescribed nodes move on to where they stand at the stage.

        K = ∂f/∂x, negative semi-definite. Damping is linear in v, so D v is on the other side, all of it.
        """
        share = stage.a * stage.h
        out: Vec = stage.inertia * lin.mass[:, None] * stage.v_hat + share * lin.force
        if stage.base is not None:
            coordinates = self._mesh.coordinates
            offset = coordinates.positions(stage.base, stage.time, stage.carrier_motion) - lin.x
            if stage.w is not None:
                offset[coordinates.prescribed] -= stage.b * stage.h * stage.w
            offset[coordinates.elsewhere] = 0.0
            # all nodes are near, so `nodes` counts them all and in order
            out += share * self._everywhere.of(lin).multiply(lin, offset[:, :, None])[:, :, 0]
        return out

    def pull(self, lin: Linearised, w: Vec) -> Vec:
        """K w for velocities w (p, 3) of the prescribed nodes, (n, 3) [N/s]."""
        return self.pulls(lin, w[:, :, None])[:, :, 0]

    def pulls(self, lin: Linearised, columns: Vec) -> Vec:
        """Return K w of several motions of the prescribed nodes, (p, 3, c), (n, 3, c) [N/s]."""
        near = self._around_prescribed.of(lin)
        inside = np.zeros((len(near.nodes), *columns.shape[1:]))
        inside[near.place[self._mesh.coordinates.prescribed]] = columns
        out = np.zeros((len(self._mesh.rest), *columns.shape[1:]))
        out[near.nodes] = near.multiply(lin, inside)
        return out

    def loaded_prescribed(self, lin: Linearised, stage: NodeStage) -> Index:
        """Return the prescribed nodes with a mass or a stiffness, (k,), numbered among these: most corners of rigid
        surfaces have neither, as they touch nothing."""
        some = (stage.weight(lin) != 0.0) | lin.node_blocks.any(axis=(1, 2))
        some[self._around_prescribed.of(lin).around] = True
        if lin.damped is not None and lin.damped.between is not None:
            some[lin.damped.between[0]] = True
        return np.flatnonzero(some[self._mesh.coordinates.prescribed])

    def on_prescribed(self, lin: Linearised, stage: NodeStage, columns: Vec, loaded: Index) -> Vec:
        """Return the rows of (M − ahD − βabh²K) columns of loaded prescribed nodes, (k, 3, c), of columns (n, 3, c)."""
        near, nodes = self._around_prescribed.of(lin), self._mesh.coordinates.prescribed[loaded]
        out: Vec = stage.weight(lin)[nodes, None, None] * columns[nodes]
        out -= stage.stiffness_and_share(lin) * near.multiply(lin, columns[near.nodes])[near.place[nodes]]
        if lin.damped is not None and lin.damped.has_blocks:
            out -= stage.a * stage.h * lin.damped.multiply(columns)[nodes]
        return out
