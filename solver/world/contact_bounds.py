"""Bounds on the motion of nodes by contact, and the nodes in contact."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np

from ..assembly.elements import Elements, find_joined_nodes
from ..contact.laws.ground_penalty import GroundPenalty
from ..contact.laws.interface import ContactLaw
from ..forces.pulls import Pull
from ..forces.stencils import StencilForce
from ..state import Index, State, Vec
from . import ground_contact
from .soft_output import SoftOutput
from .taken_along import carry_along


class ContactBounds(SoftOutput):
    """Soft bodies with bounds on their motion by contact with each other, with obstacles and with the ground."""

    mass: Vec
    ground: GroundPenalty
    pulls: Sequence[Pull]
    _weight: Vec
    _elements: Elements
    contacts: Sequence[ContactLaw]
    between: Sequence[StencilForce]

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the contact-free fraction of a straight displacement of all nodes, in [0, 1].

        start, end: positions, (n, 3) [m].
        """
        return min((law.largest_step(start, end) for law in self.contacts), default=1.0)

    def largest_steps(self, start: Vec, end: Vec, by_body: bool = False) -> Vec:
        """Return the contact-free fraction of a straight displacement for each node, (n,), in [0, 1].

        start, end: positions, (n, 3) [m]. All prescribed nodes have one fraction. by_body: whether all free nodes of a
        body have one fraction, too.
        """
        groups = self._body_groups if by_body else self._node_groups
        steps = [law.largest_steps(start, end, groups) for law in self.contacts]
        least: Vec = np.min(steps, axis=0) if steps else np.ones(len(start))
        return least

    def carry_along(self, step_start: Vec, end: Vec) -> Vec | None:
        """Return positions of all nodes after prescribed motion displaces the bodies in its path, (n, 3) [m].

        step_start, end: positions at the start of the step and at the end of prescribed motion, (n, 3) [m]. None where
        surfaces would intersect.
        """
        return carry_along([body.nodes for body in self.bodies_in_world],
                           [obstacle.nodes for obstacle in self.obstacles],
                           self.coordinates.is_free, self.contacts, step_start, end,
                           partial(self.largest_steps, by_body=True))

    @cached_property
    def _node_groups(self) -> Index:
        """Return a group number for each node, (n,): its own for each free node, one for all prescribed nodes."""
        own = np.arange(len(self.rest), dtype=np.int32)
        own[self.coordinates.prescribed] = len(own)
        return own

    @cached_property
    def body_numbers(self) -> Index:
        """Return the number of each node's body, (n,); the number of bodies for nodes of obstacles."""
        own = np.full(len(self.rest), len(self.bodies_in_world), dtype=np.int32)
        for number, body in enumerate(self.bodies_in_world):
            own[body.nodes] = number
        return own

    @cached_property
    def _body_groups(self) -> Index:
        """Return a group number for each node, (n,): its body's for free nodes, one for all prescribed nodes."""
        own = self.body_numbers.copy()
        own[self.coordinates.prescribed] = len(self.bodies_in_world)
        return own

    def touching(self, state: State) -> Index:
        """Return the nodes in contact with the ground, on active springs or coupled by forces, ascending, (k,)."""
        return self.touching_at(self.coordinates.positions(state.q, state.time, state.carrier_motion), state.time)

    def touching_at(self, x: Vec, time: float) -> Index:
        """Return the nodes in contact with the ground, on active springs or coupled by forces, ascending, (k,).

        x: positions of all nodes, (n, 3) [m]. time: [s].
        """
        forced = [pull.nodes for pull in self.pulls if pull.at_work(time)]
        nodes: Index = np.unique(np.concatenate([self._elements.find_paired_nodes(x, time), *forced,
                                                 self.ground.find(x, time).nodes]))
        return nodes

    def touching_others(self, state: State, group: Index) -> Index:
        """Return the nodes in contact with the ground or another group, on active springs, or coupled by forces, (k,).

        group: group of each node, −1 without one, (n,). Forces other than contact count within a group, too.
        """
        x = self.coordinates.positions(state.q, state.time, state.carrier_motion)
        pairs = [law.node_pairs_within(x, 1.0) for law in self.contacts]
        separate = [two[(group[two[:, 0]] < 0) | (group[two[:, 0]] != group[two[:, 1]])].ravel() for two in pairs]
        separate += [pull.nodes for pull in self.pulls if pull.at_work(state.time)]
        nodes: Index = np.unique(np.concatenate([*separate, find_joined_nodes(self.between, x, state.time),
                                                 self.ground.find(x, state.time).nodes]))
        return nodes

    def contact_persists(self, state: State, before: Index, h: float) -> bool:
        """Return whether contacts changed only at nodes of a resting or sliding body, without an impact on the ground.

        before: nodes in contact earlier, (k,). Changed nodes have at most the normal speed that weight adds in h
        seconds. False where there is no ground.
        """
        if not self.ground.plane.exists:
            return False
        return ground_contact.persists(self.ground, *self.nodes_at(state), state.time, before,
                                       self.touching(state), [pull.nodes for pull in self.pulls], self._fall(h), h)

    def collides_with_ground(self, states: Sequence[State], h: float) -> bool:
        """Return whether nodes hit the ground in one of several states.

        A node hits it if it touches the ground with a normal speed above `ground_contact.GENTLE_SPEED` times the speed
        that weight adds in h seconds.
        """
        ends = ((*self.nodes_at(state), state.time) for state in states) if self.ground.plane.exists else ()
        return ground_contact.is_hit(self.ground, ends, self._fall(h))

    def _fall(self, h: float) -> float:
        """Return the speed along the ground's normal that weight adds in h seconds [m/s]."""
        return h * float(np.abs(self._weight @ self.ground.plane.normal).sum() / self.mass.sum())
