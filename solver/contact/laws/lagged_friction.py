"""Lagged friction between surfaces in one stage, with normal forces and normals of earlier positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...forces.stencils import Stencils
from ...state import Index, Vec
from ...threads import parallel_for
from .lagged_friction_kernels import evaluate_smoothed_friction

FEW = 256  #: fewer pairs are not worth a second thread


@dataclass(frozen=True)
class LaggedFriction:
    """Lagged friction of pairs: f = −μ λ Jᵀ s(|J v|) J v / |J v| with v = (x − base) / seconds.

    At given normal forces λ the force is the gradient of an incremental potential. J v is the slip, zero where both
    sides turn together: a force on the closest points alone would exert a couple on both, its size times the gap.
    [Ascher 37-39, changed: by that couple]
    """

    nodes: Index  #: (k, 4)
    weights: Vec  #: of the closest points, one side less the other, (k, 4)
    couples: Vec  #: of velocities along the normal, see `couple_weights`, (k, 4, 3)
    normal: Vec  #: unit, (k, 3)
    load: Vec  #: μ λ [N], (k,)
    creep: float  #: ε: friction of slower slip is reduced [m/s]
    base: Vec  #: positions of all nodes at v = 0, (n, 3) [m]
    seconds: float  #: time from base to the stage's end [s]

    def add_limits(self, limits: Vec) -> None:
        """Add Coulomb's limit of each pair, μ λ, to `limits` of all nodes, (n,) [N], by the closest points' weights."""
        limits += np.bincount(self.nodes.ravel(), (np.abs(self.weights) * self.load[:, None]).ravel(), len(limits))

    def measure(self, x: Vec, time: float) -> Stencils:
        """Return friction forces [N] and incremental potential [J] at positions x, (n, 3) [m], without blocks."""
        return self._table(x, False, np.zeros((0, 6, 9)))

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Return friction forces [N], incremental potential [J] and blocks [N/m] at positions x, (n, 3) [m].

        The blocks are negative semi-definite in any case; if `project`, they are those of a parabola above the
        potential, so that sliding contacts do not overshoot.
        """
        return self._table(x, project, np.empty((len(self.nodes), 6, 9)))

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """Do nothing: all dissipation is in `fill`."""

    def _table(self, x: Vec, above: bool, blocks: Vec) -> Stencils:
        """Return forces and energy at positions x (n, 3) [m], with stiffness in `blocks`, (k, 6, 9), or (0, 6, 9) for
        none. above: whether the stiffness is that of a parabola above the potential."""
        count = len(self.nodes)
        forces, energy = np.empty((count, 4, 3)), np.empty(count)
        arrays = (x, self.base, self.seconds, self.nodes, self.weights, self.couples, self.normal,
                  self.load, self.creep, 1.0 / self.seconds, above, forces, energy, blocks)
        if count <= FEW:
            evaluate_smoothed_friction(0, count, *arrays)
        else:
            parallel_for(evaluate_smoothed_friction, count, *arrays)
        return Stencils(self.nodes, forces, blocks, self.seconds * float(energy.sum()))
