"""Points of other parts that a staggered part touches or is attached to: positions, effective inertia, external
forces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
import scipy.sparse as sp

from ..assembly.pattern import Pattern
from ..coordinates.attached import Attached
from ..parts.eol.interface_inertia import InterfaceInertia
from ..state import Index, State, Vec
from ..world.nodes_part import NodesPart

if TYPE_CHECKING:
    from ..world.joints_part import JointsPart


class InterfacePoints(Protocol):
    """Protocol of a set of points of one part."""

    @property
    def part(self) -> int:
        """Return the index of the part in the world."""

    def positions(self, state: State) -> Vec:
        """Return positions of the points in a state of the part, (k, 3) [m]."""

    def external_forces(self, forces: Vec, others: Vec | None) -> Vec:
        """Return external forces on the part, in the form of `StepInputs`, from forces on the points, (k, 3) [N].

        others: external forces on this part from other staggered parts, which are included; None for none.
        """

    def inertia(self, state: State, h: float) -> InterfaceInertia:
        """Return the effective inertia of the points in a step of h seconds from a state of the part, as far as it can
        be evaluated without the part's other constraints."""


@dataclass(frozen=True)
class NodePoints:
    """Interface points that are nodes of soft bodies."""

    largest_body = 2000  #: largest number of nodes of a body whose stiffness contributes to the effective inertia
    part: int
    soft: NodesPart
    body: slice  #: all nodes of the body
    nodes: Index  #: (k,)

    def positions(self, state: State) -> Vec:
        """Return the positions of the nodes in a state of the part, (k, 3) [m]."""
        return self.soft.nodes_at(state)[0][self.nodes]

    def external_forces(self, forces: Vec, others: Vec | None) -> Vec:
        """Return forces on all nodes, (n, 3) [N], with `forces` on the interface points, (k, 3) [N], added to
        `others`."""
        out = np.zeros_like(self.soft.rest) if others is None else others.copy()
        out[self.nodes] += forces
        return out

    def inertia(self, state: State, h: float) -> InterfaceInertia:
        """Return M − h² K of the body, with the bodies in contact with it fixed; for a large body its lumped mass
        alone, a lower bound. Too little inertia is corrected by further iterations, too much makes contact violent."""
        soft, own = self.soft, np.zeros(len(self.soft.rest), dtype=bool)
        own[self.body] = soft.coordinates.is_free[self.body]
        if np.count_nonzero(own) > self.largest_body:
            return InterfaceInertia.nodes(np.where(own, soft.mass, np.inf)[self.nodes])
        lin, pattern = soft.linearise(state), self._pattern
        pattern.gather(lin.blocks, lin.node_blocks, -h * h, soft.mass, lin.others)
        lower = pattern.matrix()
        blocks = (lower + sp.triu(lower.T, 1)).tobsr((3, 3))
        pairs = np.column_stack([np.repeat(np.arange(len(pattern.order)), np.diff(blocks.indptr)), blocks.indices])
        below = pairs[:, 0] >= pairs[:, 1]
        return InterfaceInertia.couple(pattern.position[self.nodes], pairs[below].astype(np.int32), blocks.data[below])

    @cached_property
    def _pattern(self) -> Pattern:
        """Return the sparsity pattern of the body's free nodes."""
        free = np.arange(self.body.start, self.body.stop)[self.soft.coordinates.is_free[self.body]]
        return Pattern(self.soft.tets, free.astype(np.int32), len(self.soft.rest))


@dataclass(frozen=True)
class BonePoints:
    """Interface points of one rigid body of a mechanism."""

    constrained_compliance = 1.0e-4  #: compliance where joints constrain a body, relative to that of the isolated body
    part: int
    jointed: JointsPart
    points: Attached  #: whose `nodes` are not used

    def positions(self, state: State) -> Vec:
        """Return the positions of the points in a state of the mechanisms, (k, 3) [m]."""
        tree = self.jointed.tree
        at = tree.posture(state.q, state.u, state.memory)
        return self.points.positions(at.E)

    def external_forces(self, forces: Vec, others: Vec | None) -> Vec:
        """Return rows of the body, the position in its frame [m] and the force on it in the world [N], (k, 7).

        forces: on the points, (k, 3) [N]. others: rows of other staggered parts, which come first; None for none.
        """
        out = np.column_stack([self.points.bodies, self.points.local_positions, forces])
        return out if others is None else np.concatenate([others, out])

    def inertia(self, state: State, h: float) -> InterfaceInertia:
        """Return the effective inertia of the whole tree at the body, nearly infinite in directions that joints
        constrain."""
        jointed, body = self.jointed, int(self.points.bodies[0])
        tree, lin = jointed.tree, jointed.linearise(state)
        J = tree.jacobian(lin.posture)[6 * body : 6 * body + 6]
        isolated = np.linalg.inv(tree.inertia[body])
        respond = jointed.condensation.by_inertia(lin, state.time)
        compliance = J @ respond(np.ascontiguousarray(J.T)) + self.constrained_compliance * isolated
        E = lin.posture.E[body]
        rotation = np.kron(np.eye(2), E[:3, :3])
        inertia = rotation @ np.linalg.inv(compliance) @ rotation.T
        return InterfaceInertia.body(self.points.local_positions @ E[:3, :3].T, 0.5 * (inertia + inertia.T))
