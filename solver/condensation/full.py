"""Vanilla FEM: every free node is an unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..assembly.linearised import Linearised, Near
from ..assembly.pattern import Pattern, node_graph
from ..coordinates.rigid import LooseParts
from ..linear.interface import LinearSolver
from ..state import Index, Vec
from .interface import Mesh, Stage


@dataclass(frozen=True)
class PosedFull:
    """(M − βh²K) v = M v⁰ + h f + βh² K w, factored. K = ∂f/∂x, negative semi-definite. [ConJac 10]"""

    linear: LinearSolver
    pattern: Pattern
    free: Index
    right: Vec  #: (n, 3) [N s]

    def solve(self) -> Vec:
        out: Vec = np.zeros(self.right.shape)
        out[self.pattern.order] = self.linear.solve(self.right[self.pattern.order].ravel()).reshape(-1, 3)
        rates: Vec = out[self.free].ravel()
        return rates

    def correction(self, u: Vec) -> Vec:
        return np.zeros(3 * len(self.free))


class Full:
    """Vanilla FEM, linearly implicit. [ConJac Alg. 2]"""

    def __init__(self, mesh: Mesh, linear: LinearSolver, params: dict[str, float]) -> None:
        """params: beta, the factor on stiffness that sets numerical damping."""
        self.mesh, self.linear, self.beta = mesh, linear, params["beta"]
        free = mesh.coordinates.free
        count = len(mesh.rest)
        graph = node_graph(mesh.tets, count)[free][:, free]
        self.pattern = Pattern(mesh.tets, free[linear.order(graph)], count)
        self._matrix = self.pattern.matrix()
        linear.analyse(self._matrix, 0)
        self._around_prescribed = Near(mesh.tets, mesh.coordinates.prescribed, count)
        self.loose = LooseParts(mesh.rest, mesh.parts, mesh.coordinates.prescribed)

    def pose(self, lin: Linearised, stage: Stage) -> PosedFull:
        """Fill and factor M − βh²K of the free nodes. Raises NotPositiveDefinite. [ConJac 10]"""
        factor = self.beta * stage.h**2
        self.pattern.gather(lin.blocks, lin.node_blocks, -factor, lin.mass)
        self.linear.factor(self._matrix)
        right = lin.mass[:, None] * stage.v_hat + stage.h * lin.force
        if stage.w is not None:
            right += factor * stiffness_times_prescribed(self._around_prescribed, lin, self.mesh, stage.w)
        return PosedFull(self.linear, self.pattern, self.mesh.coordinates.free, right)


def stiffness_times_prescribed(near: Near, lin: Linearised, mesh: Mesh, w: Vec) -> Vec:
    """K w for velocities w (p, 3) of the prescribed nodes, (n, 3) [N/s]."""
    columns = np.zeros((len(near.nodes), 3, 1))
    columns[near.place[mesh.coordinates.prescribed], :, 0] = w
    out = np.zeros((len(mesh.rest), 3))
    out[near.nodes] = near.multiply(lin, columns)[:, :, 0]
    return out
