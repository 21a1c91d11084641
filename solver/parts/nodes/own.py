"""What nodes that all move on their own bring to a stage with bodies most of whose nodes follow others."""

from __future__ import annotations

import numpy as np

from ...assembly.edges import Edges
from ...assembly.linearised import Linearised
from ...assembly.products import Products
from ...linear.interface import LinearSolver
from ...state import Index, State, Vec
from ..interface import Mesh, NodeStage, PosedNodes

#: a factor serves until an edge has changed by this share of its length, turning included
NEAR = 0.2


class OwnInertia:
    """½ vᵀ A v − vᵀ p with A = M − a h D and p = M v̂ + a h D w: V and C are the identity on free nodes.
    [Ascher 14, 15]"""

    def __init__(self, mesh: Mesh, lin: Linearised, stage: NodeStage, carriers: int) -> None:
        """carriers: rates of joints that move prescribed nodes; what is free goes nowhere with these by itself."""
        self._free, self._weight = mesh.coordinates.free, stage.weight(lin)
        self._damped = lin.damped if lin.damped is not None and lin.damped.has_blocks else None
        self._share = stage.a * stage.h
        self.carried = np.zeros((len(mesh.rest), 3, carriers))
        self.light = self._weight  #: (n,) [kg]
        given = stage.inertia * lin.mass[:, None] * stage.v_hat
        if self._damped is not None and stage.w is not None:
            moving = np.zeros_like(mesh.rest)
            moving[mesh.coordinates.prescribed] = stage.w
            given += self._share * self._damped.multiply(moving[:, :, None])[:, :, 0]
        self._given: Vec = given[self._free]

    def energy(self, v: Vec) -> tuple[Vec, float]:
        """Its slope, (n, 3) [N s], and value [J] at velocities v, (n, 3) [m/s]."""
        slope, own = self.times(v), v[self._free]
        value = float(np.vdot(own, 0.5 * slope[self._free] - self._given))
        slope[self._free] -= self._given
        return slope, value

    def times(self, v: Vec) -> Vec:
        """A v on free nodes, both (n, 3) or (n, 3, c)."""
        own = self.following(v)
        out: Vec = self._weight.reshape(-1, *[1] * (v.ndim - 1)) * own
        if self._damped is not None:
            felt = self._damped.multiply(own.reshape(*v.shape[:2], -1)).reshape(v.shape)
            out[self._free] -= self._share * felt[self._free]
        return out

    def following(self, columns: Vec) -> Vec:
        """The same columns on free nodes, both (n, 3, c)."""
        out = np.zeros_like(columns)
        out[self._free] = columns[self._free]
        return out

    def felt(self, loads: Vec) -> Vec:
        """Loads as they are on free nodes, both (n, 3, c)."""
        return self.following(loads)

    def velocities(self, v: Vec, rates: Vec | None = None) -> Vec:
        """v on free nodes, zero on prescribed ones, (n, 3) [m/s]."""
        return self.following(v)


class OwnPasses:
    """Newton's method on the factor of one posed stage, for stages of the same inertia and β a b h²."""

    def __init__(self, posed: PosedNodes, linear: LinearSolver, free: Index, edges: Edges) -> None:
        """posed: on the last factor of this linear solver. free: whose velocities are unknowns. edges: of all."""
        self._posed, self._linear, self._stamp = posed, linear, linear.factored
        self._free, self._edges = free, edges

    @property
    def serves_contacts(self) -> bool:
        """Whether the ground's stiffness is in the factor."""
        contacts = self._posed.lin.contacts
        return contacts is not None and len(contacts.nodes) > 0

    def serves(self, x: Vec, stage: NodeStage, start: State) -> bool:
        """Whether its factor is there still, for such a stage near x."""
        mine = self._posed.stage
        same = stage.inertia == mine.inertia and stage.stiffness_factor == mine.stiffness_factor
        return (same and self._linear.factored == self._stamp
                and self._edges.largest_change(x - self._posed.lin.x) <= NEAR)

    def change(self, at: Products, stage: NodeStage) -> Vec:
        """What a pass changes in x − b h v, b h v and p, (3, n, 3) [m], [m], [m s]: of these in b h v alone."""
        share, free = stage.a * stage.h, self._free
        residual = stage.inertia * at.mass[:, None] * (at.v - stage.v_hat) - share * at.force
        if at.damped is not None:
            residual -= share * at.damped.force(at.v)
        out = np.zeros((3, *at.x.shape))
        ahead = self._posed.respond(-residual[free].reshape(-1, 1))
        out[1, free] = stage.b * stage.h * ahead.reshape(-1, 3)
        return out

    def strain(self, change: Vec) -> float:
        """The largest share of its length by which that changes an edge, in positions or by velocities."""
        return max(self._edges.largest_change(one) for one in (change[0] + change[1], change[1]))
