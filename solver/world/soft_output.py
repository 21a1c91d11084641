"""Output of the bodies of a part of nodes at a frame, and errors with the names of the bodies."""

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
from .blocked import closes_on, name_blocking_pair
from .bodies import BodyInWorld, ObstacleInWorld, explain_divergence
from .stress import at_vertices


class SoftOutput:
    """Soft bodies with their output: vertices, stress and contact forces, and names in errors."""

    bodies_in_world: Sequence[BodyInWorld]
    obstacles: Sequence[ObstacleInWorld]
    coordinates: FreeNodes
    rest: Vec
    contacts: Sequence[ContactLaw]
    start_frame: int
    _elements: Elements

    def owns(self, name: str) -> bool:
        """Return whether a body of this name is among these bodies."""
        return any(body.name == name for body in self.bodies_in_world)

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """Return the name, first vertex and number of vertices of each body's output."""
        out, first = [], 0
        for body in self.bodies_in_world:
            out.append((body.name, first, body.vertices))
            first += body.vertices
        return out

    @property
    def fundamental_hertz(self) -> dict[str, float]:
        """Return the fundamental frequency of each body for which it is known [Hz], by name."""
        return {body.name: body.hertz for body in self.bodies_in_world if body.hertz is not None}

    @property
    def extent(self) -> float:
        """Return the size of the largest body [m]."""
        return max(body.size for body in self.bodies_in_world)

    def body_of(self, node: int) -> str | None:
        """Return the name of the body that a node belongs to; None for a node of no soft body."""
        return next((body.name for body in self.bodies_in_world if body.nodes.start <= node < body.nodes.stop), None)

    def velocity(self, state: State) -> Vec:
        """Return the velocities of all nodes at a state, (n, 3) [m/s]."""
        prescribed = self.coordinates.compute_prescribed_rate(state.time, state.carrier_motion)
        return self.coordinates.spread(state.u, prescribed)

    def nodes_at(self, state: State) -> tuple[Vec, Vec]:
        """Return the positions [m] and velocities [m/s] of all nodes at a state, (n, 3)."""
        return self.coordinates.positions(state.q, state.time, state.carrier_motion), self.velocity(state)

    def show(self, embeddings: Sequence[Embedding | None]) -> None:
        """Replace the embedding of each body's mesh, with unchanged nodes."""
        self.bodies_in_world = [replace(body, embedding=embedding)
                                for body, embedding in zip(self.bodies_in_world, embeddings)]

    def output(self, state: State, frame: int) -> Vec:
        """Return the vertices of all bodies in object space at a frame, (v, 3) [m]."""
        x = self.coordinates.positions(state.q, state.time, state.carrier_motion)
        return np.concatenate([body.output(x, frame - self.start_frame) for body in self.bodies_in_world])

    def longest(self, state: State) -> Vec:
        """Return the largest length of an edge of each body, relative to rest, (b,)."""
        x = self.coordinates.positions(state.q, state.time, state.carrier_motion)
        return np.array([edges.largest_change(x) for edges in self._edges_of])

    def stress(self, state: State) -> Vec | None:
        """Return von Mises stress [Pa], largest stretch, pressure [Pa] and speed [m/s] of all vertices, (v, 4).

        Rows are zero for bodies without these; None where no body has them.
        """
        return at_vertices(self.bodies_in_world, self._elements.elastic, self.rest, *self.nodes_at(state), state.time)

    @cached_property
    def _edges_of(self) -> list[Edges]:
        return [Edges(body.tets, self.rest) for body in self._elements.elastic]

    def contact_forces(self, state: State) -> Vec | None:
        """Return position in world [m], force on the first side [N] and distance [m] of each contact, (k, 7).

        The force on the second side is opposite. None where contact is off.
        """
        if not self.contacts:
            return None
        return self.contact_forces_at(self.coordinates.positions(state.q, state.time, state.carrier_motion))

    def contact_forces_at(self, x: Vec) -> Vec:
        """Return position in world [m], force [N] and distance [m] of each contact at positions x, (n, 3), (k, 7)."""
        return np.concatenate([law.contact_forces(x) for law in self.contacts])

    def refuse_blow_up(self, state: State) -> None:
        """Raise StepFailed where a body of the state has a position that is not finite or has grown too much."""
        x = self.coordinates.positions(state.q, state.time, state.carrier_motion)
        for body in self.bodies_in_world:
            body.refuse_blow_up(x)

    def name_blocking_pair(self, node: int, x: Vec) -> tuple[str, str]:
        """Return the names of the owner of a prescribed node and of the object in contact with it, for messages.

        x: positions of all nodes, (n, 3) [m]. A name is "" where there is none.
        """
        return name_blocking_pair(self.bodies_in_world, self.obstacles, self.contacts, node, x)

    def closes_on(self, x: Vec, end: Vec) -> tuple[int, str] | None:
        """Return a free node between two prescribed surfaces without room for it at the end of a step, and a message.

        x, end: positions of all nodes at the start of the step and at the end of prescribed motion, (n, 3) [m]. None
        where there is no such node.
        """
        return closes_on(self.bodies_in_world, self.obstacles, self.contacts, self.coordinates.free, x, end)

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """Return the error for the artist, with the body, the frame and a remedy. state: before the failed step."""
        x = self.coordinates.positions(state.q, state.time, state.carrier_motion)
        return explain_divergence(self.bodies_in_world, x, failure, frame)
