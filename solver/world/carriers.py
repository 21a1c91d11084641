"""Points of other parts that a cloth with steps of its own touches or hangs on: where they are, and what it does to
them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..coordinates.attached import Attached
from ..parts.eol.giving import Gives
from ..state import Index, State, Vec
from .nodes import Nodes

if TYPE_CHECKING:
    from .joints import Joints


MOST = 2000  #: nodes of a body of which all that resists is told
PAIRS = ((1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2))  #: whose blocks elements have
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
        soft, free = self.soft, np.zeros(len(self.soft.rest), dtype=bool)
        free[self.body] = soft.coordinates.is_free[self.body]
        if np.count_nonzero(free) > MOST:
            return Gives.nodes(np.where(free, soft.mass, np.inf)[self.nodes])
        lin = soft.linearise(state)
        corners = soft.tets if lin.others is None else np.concatenate([soft.tets, lin.others])
        elements = np.flatnonzero(free[corners].any(axis=1))
        corners, blocks = corners[elements], -h * h * lin.blocks[elements].reshape(-1, 6, 3, 3)
        place = np.where(free, np.cumsum(free) - 1, -1).astype(np.int32)
        own = np.flatnonzero(free)
        diagonal = soft.mass[own, None, None] * np.eye(3) - h * h * lin.node_blocks[own]
        keys, values = [place[own].astype(np.int64) * (1 << 32 | 1)], [diagonal]
        for pair, (a, b) in enumerate(PAIRS):
            one, other, K = place[corners[:, a]], place[corners[:, b]], blocks[:, pair]
            turned = K.transpose(0, 2, 1)
            for ends, block in (((one, one), -K), ((other, other), -turned), ((one, other), K)):
                kept = (ends[0] >= 0) & (ends[1] >= 0)
                high, low = (some[kept].astype(np.int64) for some in ends)
                swapped = high < low
                values.append(np.where(swapped[:, None, None], block[kept].transpose(0, 2, 1), block[kept]))
                keys.append(np.maximum(high, low) << 32 | np.minimum(high, low))
        named, of = np.unique(np.concatenate(keys), return_inverse=True)
        inertia = np.zeros((len(named), 3, 3))
        np.add.at(inertia, of, np.concatenate(values))
        return Gives.coupled(place[self.nodes], np.column_stack([named >> 32, named & 0xFFFFFFFF]).astype(np.int32),
                            inertia)


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
