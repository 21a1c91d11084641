"""Friction between surfaces in one stage, loads and normals as they were at some positions before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...forces.stencils import Stencils
from ...state import Index, Vec
from ...threads import share
from .sliding_kernels import rub

FEW = 256  #: pairs that are not worth a second thread


@dataclass(frozen=True)
class Sliding:
    """f = −μ λ T s(|Tᵀ v|) Tᵀ v / |Tᵀ v| with v = (x − base) / seconds: a force of positions, as a stage sees it.

    Its energy is that of an incremental potential, whose slope it is. [Ascher 37-39]
    """

    nodes: Index  #: (k, 4)
    weights: Vec  #: of the two nearest points, one less the other, (k, 4)
    normal: Vec  #: unit, (k, 3)
    load: Vec  #: μ λ [N], (k,)
    creep: float  #: ε: slower slip is not braked in full [m/s]
    base: Vec  #: where all nodes would be at v = 0, (n, 3) [m]
    seconds: float  #: from there to the stage's end

    def measure(self, x: Vec, time: float) -> Stencils:
        """Forces and energy at positions (n, 3) [m]; no blocks."""
        return self._table(x, False, np.zeros((0, 6, 9)))

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """The same with blocks, which are negative semi-definite by themselves.

        If `project`, those of a parabola above the potential: what slides does not go too far with them.
        """
        return self._table(x, project, np.empty((len(self.nodes), 6, 9)))

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """All that it brakes is in `fill`."""

    def _table(self, x: Vec, above: bool, blocks: Vec) -> Stencils:
        count = len(self.nodes)
        forces, energy = np.empty((count, 4, 3)), np.empty(count)
        v = (x - self.base) / self.seconds
        arrays = (v, self.nodes, self.weights, self.normal, self.load, self.creep, 1.0 / self.seconds, above, forces,
                  energy, blocks)
        if count <= FEW:
            rub(0, count, *arrays)
        else:
            share(rub, count, *arrays)
        return Stencils(self.nodes, forces, blocks, self.seconds * float(energy.sum()))
