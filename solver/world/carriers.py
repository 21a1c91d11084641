"""Points of other parts that a cloth with steps of its own touches or hangs on: where they are, and what it does to
them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
import scipy.sparse as sp

from ..assembly.pattern import Pattern
from ..coordinates.attached import Attached
from ..parts.eol.giving import Gives
from ..state import Index, State, Vec
from .nodes import Nodes

if TYPE_CHECKING:
    from .joints import Joints


MOST = 2000  #: nodes of a body of which all that resists is told
HARDLY = 1.0e-4  #: of how a body would give alone: so much it gives where joints hold it


class Carrier(Protocol):
    """Some points of one part."""

    @property
    def part(self) -> int:
        """Its place in the world."""

    def places(self, state: State) -> Vec:
        """Where they are in a state of that part, (k, 3) [m]."""

    def borne(self, forces: Vec, besides: Vec | None) -> Vec:
        """What the part bears, as a memory has it under BORNE, where these act on the points, (k, 3) [N].

        besides: what it bears of others; None for nothing.
        """

    def gives(self, state: State, h: float) -> Gives:
        """How the points give way to impulses in a step of h seconds, as well as can be told without the rest of what
        holds them."""


@dataclass(frozen=True)
class OnNodes:
    """Nodes of soft bodies."""

    part: int
    soft: Nodes
    body: slice  #: all nodes of the body
    nodes: Index  #: (k,)

    def places(self, state: State) -> Vec:
        return self.soft.nodes_at(state)[0][self.nodes]

    def borne(self, forces: Vec, besides: Vec | None) -> Vec:
        out = np.zeros_like(self.soft.rest) if besides is None else besides.copy()
        out[self.nodes] += forces
        return out

    def gives(self, state: State, h: float) -> Gives:
        """By M − h² K of the body, with what it touches standing still; a large one by the inertia of its nodes alone,
        which is as far as they may go: whoever is told too little resistance is led there try by try, whoever is told
        too much is thrown about."""
        soft, own = self.soft, np.zeros(len(self.soft.rest), dtype=bool)
        own[self.body] = soft.coordinates.is_free[self.body]
        if np.count_nonzero(own) > MOST:
            return Gives.nodes(np.where(own, soft.mass, np.inf)[self.nodes])
        lin, pattern = soft.linearise(state), self._pattern
        pattern.gather(lin.blocks, lin.node_blocks, -h * h, soft.mass, lin.others)
        lower = pattern.matrix()
        blocks = (lower + sp.triu(lower.T, 1)).tobsr((3, 3))
        pairs = np.column_stack([np.repeat(np.arange(len(pattern.order)), np.diff(blocks.indptr)), blocks.indices])
        below = pairs[:, 0] >= pairs[:, 1]
        return Gives.coupled(pattern.position[self.nodes], pairs[below].astype(np.int32), blocks.data[below])

    @cached_property
    def _pattern(self) -> Pattern:
        """Of the body's free nodes."""
        free = np.arange(self.body.start, self.body.stop)[self.soft.coordinates.is_free[self.body]]
        return Pattern(self.soft.tets, free.astype(np.int32), len(self.soft.rest))


@dataclass(frozen=True)
class OnBones:
    """Points of one rigid body that joints move."""

    part: int
    jointed: Joints
    points: Attached  #: whose `nodes` nobody asks for

    def places(self, state: State) -> Vec:
        tree = self.jointed.tree
        at = tree.posture(state.q, state.u, state.memory)
        return self.points.positions(at.E)

    def borne(self, forces: Vec, besides: Vec | None) -> Vec:
        out = np.column_stack([self.points.bodies, self.points.places, forces])
        return out if besides is None else np.concatenate([besides, out])

    def gives(self, state: State, h: float) -> Gives:
        """By the inertia of the whole tree as it is felt there; where joints leave it no way it hardly gives."""
        jointed, body = self.jointed, int(self.points.bodies[0])
        tree, lin = jointed.tree, jointed.linearise(state)
        J = tree.jacobian(lin.posture)[6 * body : 6 * body + 6]
        alone = np.linalg.inv(tree.inertia[body])
        gives = J @ jointed.condensation.by_inertia(lin, state.time)(np.ascontiguousarray(J.T)) + HARDLY * alone
        E = lin.posture.E[body]
        turn = np.kron(np.eye(2), E[:3, :3])
        inertia = turn @ np.linalg.inv(gives) @ turn.T
        return Gives.body(self.points.places @ E[:3, :3].T, 0.5 * (inertia + inertia.T))
