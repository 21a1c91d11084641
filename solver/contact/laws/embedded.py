"""Contact of surfaces whose vertices are embedded in tetrahedra: the artist's mesh makes contact, forces act on nodes.

A contact law acts on all nodes followed by the embedded vertices, p = W x. Forces map by Wᵀ, stiffness is Wᵀ K W.
Straight paths in x are straight in p, so a bound on the displacement of vertices bounds that of the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...forces.stencils import StencilForce, Stencils
from ...state import Index, Vec
from .embedded_kernels import add_pairs, carry_values, gather_forces
from .interface import Bounds, ContactLaw, FrictionForce, Gaps

CAPACITY = 16  #: initial capacity: pairs of nodes for each stencil


@dataclass(frozen=True)
class EmbeddedVertices:
    """Vertices embedded in elements, numbered after the nodes."""

    corners: Index  #: nodes of the element of each, (v, 4)
    weights: Vec  #: (v, 4), each row sums to 1
    nodes: int  #: number of nodes

    def positions(self, x: Vec) -> Vec:
        """Return values of nodes followed by those of vertices, (n + v, c), from values x of nodes, (n, c)."""
        positions = np.empty((len(x) + len(self.corners), x.shape[1]))
        carry_values(np.ascontiguousarray(x, dtype=float), self.corners, self.weights, positions)
        return positions

    def least(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of nodes, (n,), followed by those of vertices, the least value of their corners, (n + v,)."""
        return np.concatenate([values, values[self.corners].min(axis=1)])

    @cached_property
    def matrix(self) -> sp.csr_matrix:
        """Return the matrix from values of nodes to values of nodes and vertices, identity above W, (n + v, n)."""
        count, embedded = self.nodes, len(self.corners)
        starts = np.concatenate([np.arange(count), count + 4 * np.arange(embedded + 1)])
        return sp.csr_matrix((np.concatenate([np.ones(count), self.weights.ravel()]),
                              np.concatenate([np.arange(count), self.corners.ravel()]), starts),
                             shape=(count + embedded, count))

    @cached_property
    def by_axis(self) -> sp.csr_matrix:
        """Return the matrix from coordinates of nodes to coordinates of nodes and vertices, (3 n + 3 v, 3 n)."""
        return sp.kron(self.matrix, sp.identity(3), format="csr")


class EmbeddedForce:
    """A force on nodes and embedded vertices, as a force on nodes alone."""

    def __init__(self, inner: StencilForce, embedded: EmbeddedVertices) -> None:
        """inner: force on vertices. embedded: the vertices and the nodes that carry them."""
        self._force, self._embedded = inner, embedded

    def measure(self, x: Vec, time: float) -> Stencils:
        """Return forces [N] on nodes and energy [J] at positions x of nodes, (n, 3) [m], without blocks."""
        return self._on_nodes(self._force.measure(self._embedded.positions(x), time), False)

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Return forces [N] on nodes, energy [J] and blocks [N/m] at positions x of nodes, (n, 3) [m].

        K is negative semi-definite if `project`.
        """
        return self._on_nodes(self._force.fill(self._embedded.positions(x), time, project), True)

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """Do nothing: contact has no damping."""

    def _on_nodes(self, table: Stencils, with_blocks: bool) -> Stencils:
        """Return stencils of two nodes, in numerical order; a node's force is in its stencil with itself."""
        embedded = self._embedded
        whole, force = np.zeros((embedded.nodes + len(embedded.corners), 3)), np.zeros((embedded.nodes, 3))
        table.add_forces(whole)
        is_active = np.zeros(embedded.nodes, dtype=bool)
        gather_forces(whole, np.ascontiguousarray(table.nodes, np.int32), embedded.corners, embedded.weights, force,
                      is_active)
        active = np.flatnonzero(is_active)
        own = np.repeat(active[:, None], 2, axis=1)
        forces = np.zeros((len(active), 2, 3))
        forces[:, 0] = force[active]
        if not with_blocks or not len(table.nodes):
            return Stencils(own.astype(np.int32), forces, np.zeros((0, 1, 9)), table.energy)
        pairs, blocks = self._pairs(table)
        return Stencils(np.concatenate([own, pairs]).astype(np.int32),
                        np.concatenate([forces, np.zeros((len(pairs), 2, 3))]),
                        np.concatenate([np.zeros((len(own), 1, 9)), blocks[:, None]]), table.energy)

    def _pairs(self, table: Stencils) -> tuple[Index, Vec]:
        """Return pairs of nodes in numerical order, (k, 2), and their blocks, (k, 9) [N/m]."""
        own, count, capacity = self._embedded, -1, CAPACITY * len(table.nodes)
        while count < 0:
            pairs, after, blocks = (np.empty((capacity, 2), np.int32), np.empty(capacity, np.int32),
                                    np.empty((capacity, 9)))
            none = np.full((2, own.nodes), -1, np.int32)
            count = add_pairs(np.ascontiguousarray(table.nodes, np.int32), np.ascontiguousarray(table.blocks),
                              own.corners, own.weights, none[0], none[1], pairs, after, blocks)
            capacity *= 2
        order = np.lexsort((pairs[:count, 0], pairs[:count, 1]))
        return pairs[order], blocks[order]


class EmbeddedBounds:
    """Gap constraints between surfaces with embedded vertices, as constraints on nodes with Jacobian N W."""

    def __init__(self, inner: Bounds, embedded: EmbeddedVertices) -> None:
        """inner: gap constraints between vertices. embedded: the vertices and the nodes that carry them."""
        self._bounds, self._embedded = inner, embedded

    def add_near_pairs(self, x: Vec) -> None:
        """Add the pairs that are near at positions x of nodes, (n, 3) [m], to the gaps."""
        self._bounds.add_near_pairs(self._embedded.positions(x))

    def gaps(self, x: Vec) -> Gaps:
        """Return the linearised gaps at positions x of nodes, (n, 3) [m], with normals (k, 3 n)."""
        gaps = self._bounds.gaps(self._embedded.positions(x))
        return Gaps(gaps.normals @ self._embedded.by_axis, gaps.gap, gaps.name)

    def record_forces(self, x: Vec, forces: Vec) -> None:
        """Record the contact forces, (k,) [N], of the last gaps at the stage's end, positions x of nodes (n, 3) [m]."""
        self._bounds.record_forces(self._embedded.positions(x), forces)


class EmbeddedFriction(EmbeddedForce):
    """Friction between surfaces of nodes and embedded vertices, as a force on nodes alone."""

    def __init__(self, inner: FrictionForce, embedded: EmbeddedVertices) -> None:
        """inner: friction between vertices. embedded: the vertices and the nodes that carry them."""
        super().__init__(inner, embedded)
        self._friction = inner

    def add_limits(self, limits: Vec) -> None:
        """Add Coulomb's limit of each pair, μ λ, to `limits` of the nodes of both sides, (n,) [N]."""
        whole = np.zeros(self._embedded.matrix.shape[0])
        self._friction.add_limits(whole)
        limits += self._embedded.matrix.T @ whole


class Embedded(EmbeddedForce):
    """A contact law between surfaces with embedded vertices, as a law of the nodes alone."""

    body_rounds = 4  #: rounds in which fractions are reduced body by body; after these all bodies have the same

    def __init__(self, inner: ContactLaw, embedded: EmbeddedVertices) -> None:
        """inner: contact law of the nodes followed by the embedded vertices."""
        super().__init__(inner, embedded)
        self.inner, self.embedded, self.edge, self.activation = inner, embedded, inner.edge, inner.activation
        self.creep_speed = inner.creep_speed

    def begin(self, x: Vec, time: float) -> None:
        """Prepare for a step that starts at `time` [s] from positions x of all nodes, (n, 3) [m]. Raises StepFailed
        where the inner law does."""
        self.inner.begin(self._embedded.positions(x), time)

    def nearest(self, x: Vec) -> Index | None:
        """Return the nodes and vertices, (4,), of a pair nearer than its thickness; None without such a pair.

        x: positions of nodes, (n, 3) [m].
        """
        return self.inner.nearest(self._embedded.positions(x))

    def node_pairs_within(self, x: Vec, times: float) -> Index:
        """Return one node of the body on each side of all pairs nearer than `times` the activation distance, (k, 2).

        x: positions of nodes, (n, 3) [m].
        """
        nodes: Index = self._nodes_of_bodies()[self.inner.node_pairs_within(self._embedded.positions(x), times)]
        return nodes

    def _nodes_of_bodies(self) -> Index:
        """Return a node of the same body for each node and vertex, (n + v,)."""
        own = np.arange(self._embedded.nodes, dtype=np.int32)
        return np.concatenate([own, self._embedded.corners[:, 0]])

    def point_pairs(self, x: Vec) -> tuple[Index, Vec, Vec]:
        """Return nodes (k, 4), absolute weights (k, 4) and thicknesses (k,) [m] of the active point-triangle pairs that
        have no embedded vertex. x: positions of nodes, (n, 3) [m]."""
        nodes, weights, thickness = self.inner.point_pairs(self._embedded.positions(x))
        own = (nodes < self._embedded.nodes).all(axis=1)
        return nodes[own], weights[own], thickness[own]

    def slips(self, x: Vec, v: Vec) -> tuple[Index, Vec]:
        """Return a node of the body on each side of active point-triangle pairs, (k, 2), and slips, (k, 3) [m/s].

        x, v: positions and velocities of nodes, (n, 3) [m, m/s].
        """
        pairs, slip = self.inner.slips(self._embedded.positions(x), self._embedded.positions(v))
        return self._nodes_of_bodies()[pairs], slip

    def contact_forces(self, x: Vec) -> Vec:
        """Return the midpoint [m], force on the first side [N] and distance [m] of each active pair, (k, 7).

        x: positions of nodes, (n, 3) [m].
        """
        return self.inner.contact_forces(self._embedded.positions(x))

    def bounds(self, step_start: Vec) -> EmbeddedBounds | None:
        """Return the gap constraints on nodes of a stage that starts at positions `step_start` of nodes, (n, 3) [m];
        None where forces enforce contact."""
        inner = self.inner.bounds(self._embedded.positions(step_start))
        return None if inner is None else EmbeddedBounds(inner, self._embedded)

    @property
    def has_friction(self) -> bool:
        """Whether any node has friction."""
        return self.inner.has_friction

    def lag_friction(self, x: Vec, base: Vec, seconds: float) -> EmbeddedFriction | None:
        """Return the friction of a stage with the normal forces and normals at positions x, (n, 3) [m]; None without
        friction.

        base: positions of nodes at v = 0, (n, 3) [m]. seconds: time from base to the stage's end [s].
        """
        friction = self.inner.lag_friction(self._embedded.positions(x), self._embedded.positions(base), seconds)
        return None if friction is None else EmbeddedFriction(friction, self._embedded)

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the contact-free fraction, in [0, 1], of straight displacements of nodes.

        start, end: positions of nodes, (n, 3) [m].
        """
        return self.inner.largest_step(self._embedded.positions(start), self._embedded.positions(end))

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """Return the contact-free fraction of the displacement of each node, in [0, 1], (n,).

        start, end: positions of nodes, (n, 3) [m]. alike: group of each node, (n,); a group has one fraction.
        """
        step_start, count = self._embedded.positions(start), len(start)
        numbers = int(alike.max(initial=-1)) + 1
        of_all = np.concatenate([alike, numbers + np.arange(len(step_start) - count)]).astype(np.int32)
        steps = np.ones(numbers)
        for _ in range(self.body_rounds):
            reached = self._embedded.positions(start + steps[alike, None] * (end - start))
            fractions = self.inner.largest_steps(step_start, reached, of_all)
            if fractions.min() == 1.0:
                break
            cut = np.ones(numbers)
            np.minimum.at(cut, alike, fractions[:count])
            np.minimum.at(cut, alike[self._embedded.corners], fractions[count:, None])
            steps *= cut
        else:
            steps[:] = self.largest_step(start, end)
        each: Vec = steps[alike]
        return each
