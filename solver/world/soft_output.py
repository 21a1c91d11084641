"""The bodies of a part of nodes: their output at any time, and errors that name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..assembly.edges import Edges
from ..assembly.elements import Elements
from ..contact.laws.interface import ContactLaw
from ..coordinates.free_nodes import FreeNodes
from ..embedding.bind import Embedding
from ..errors import Diverged, StepFailed
from ..state import State, Vec
from .blocked import blocked_at, closes_on
from .bodies import BodyInWorld, ObstacleInWorld, diverged
from .stress import at_vertices


class SoftOutput:
    """Vertices, stress and contact forces of bodies of nodes, and their names in errors."""

    bodies_in_world: Sequence[BodyInWorld]
    obstacles: Sequence[ObstacleInWorld]
    coordinates: FreeNodes
    rest: Vec
    contacts: Sequence[ContactLaw]
    start_frame: int
    _elements: Elements

    def owns(self, name: str) -> bool:
        """Whether a body of this name is among them."""
        return any(body.name == name for body in self.bodies_in_world)

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """Return (name, first vertex, number of vertices) of each body's output."""
        out, first = [], 0
        for body in self.bodies_in_world:
            out.append((body.name, first, body.vertices))
            first += body.vertices
        return out

    @property
    def fundamental_hertz(self) -> dict[str, float]:
        return {body.name: body.hertz for body in self.bodies_in_world if body.hertz is not None}

    @property
    def extent(self) -> float:
        """Return the size of the largest body [m]."""
        return max(body.size for body in self.bodies_in_world)

    def body_of(self, node: int) -> str | None:
        """Return the name of the body that a node belongs to."""
        return next((body.name for body in self.bodies_in_world if body.nodes.start <= node < body.nodes.stop), None)

    def velocity(self, state: State) -> Vec:
        """Return velocities of all nodes, (n, 3) [m/s]."""
        return self.coordinates.spread(state.u, self.coordinates.prescribed_rate(state.time, state.carrier_motion))

    def nodes_at(self, state: State) -> tuple[Vec, Vec]:
        """Return positions [m] and velocities [m/s] of all nodes, (n, 3)."""
        return self.coordinates.positions(state.q, state.time, state.carrier_motion), self.velocity(state)

    def show(self, embeddings: Sequence[Embedding | None]) -> None:
        """Replace the embeddings of the bodies' meshes in the same nodes."""
        self.bodies_in_world = [replace(body, embedding=one) for body, one in zip(self.bodies_in_world, embeddings)]

    def output(self, state: State, frame: int) -> Vec:
        """Return vertices of all bodies in object space at this frame, (v, 3)."""
        x = self.coordinates.positions(state.q, state.time, state.carrier_motion)
        return np.concatenate([body.output(x, frame - self.start_frame) for body in self.bodies_in_world])

    def longest(self, state: State) -> Vec:
        """Return the largest stretch of an edge of each body, (b,)."""
        x = self.coordinates.positions(state.q, state.time, state.carrier_motion)
        return np.array([edges.largest_change(x) for edges in self._edges_of])

    def stress(self, state: State) -> Vec | None:
        """Return stress, stretch, pressure and speed at all vertices, (v, 4); None where no body shows them."""
        return at_vertices(self.bodies_in_world, self._elements.elastic, self.rest, *self.nodes_at(state), state.time)

    @cached_property
    def _edges_of(self) -> list[Edges]:
        return [Edges(one.tets, self.rest) for one in self._elements.elastic]

    def contact_forces(self, state: State) -> Vec | None:
        """Return positions of contacts in world [m], forces on the first side, opposite to those on the second [N], and
        distances [m], (k, 7); None where contact is off."""
        if not self.contacts:
            return None
        return self.contact_forces_at(self.coordinates.positions(state.q, state.time, state.carrier_motion))

    def contact_forces_at(self, x: Vec) -> Vec:
        """Return contact forces at positions x, (n, 3) [m]."""
        return np.concatenate([law.contact_forces(x) for law in self.contacts])

    def refuse_blow_up(self, state: State) -> None:
        x = self.coordinates.positions(state.q, state.time, state.carrier_motion)
        for body in self.bodies_in_world:
            body.refuse_blow_up(x)

    def blocked_at(self, node: int, x: Vec) -> tuple[str, str]:
        """Return the names of the owner of a prescribed node and of what is in contact with it or with the body that
        it moves, at x, (n, 3) [m]; each an empty string where that has no name."""
        return blocked_at(self.bodies_in_world, self.obstacles, self.contacts, node, x)

    def closes_on(self, x: Vec, end: Vec) -> tuple[int, str] | None:
        """Return a free node between prescribed surfaces that leave too little room for it at the end of a step, and a
        sentence; None without one. x, end: at the start and where prescribed motion leads, (n, 3) [m]."""
        return closes_on(self.bodies_in_world, self.obstacles, self.contacts, self.coordinates.free, x, end)

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """Return the error for the artist: which body, at which frame, and what helps."""
        x = self.coordinates.positions(state.q, state.time, state.carrier_motion)
        return diverged(self.bodies_in_world, x, failure, frame)
