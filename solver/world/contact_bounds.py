"""Bounds on the motion of nodes by contact, and the nodes in contact."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np

from ..assembly.elements import Elements, joined_nodes
from ..contact.laws.ground_penalty import GroundPenalty
from ..contact.laws.interface import ContactLaw
from ..forces.pulls import Pull
from ..forces.stencils import StencilForce
from ..state import Index, State, Vec
from . import ground_contact
from .soft_output import SoftOutput
from .taken_along import taken_along


class ContactBounds(SoftOutput):
    """Contact of the bodies of a part of nodes with each other, with obstacles and with the ground."""

    mass: Vec
    ground: GroundPenalty
    pulls: Sequence[Pull]
    _weight: Vec
    _elements: Elements
    contacts: Sequence[ContactLaw]
    between: Sequence[StencilForce]

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the largest fraction in [0, 1] of a straight displacement of all nodes, (n, 3) [m] each, without
        contact."""
        return min((law.largest_step(start, end) for law in self.contacts), default=1.0)

    def largest_steps(self, start: Vec, end: Vec, by_body: bool = False) -> Vec:
        """Return the largest fraction of each node, (n,): bodies without contact may go farther. Prescribed nodes have
        one fraction. by_body: whether each body has one, too."""
        groups = self._body_groups if by_body else self._node_groups
        steps = [law.largest_steps(start, end, groups) for law in self.contacts]
        least: Vec = np.min(steps, axis=0) if steps else np.ones(len(start))
        return least

    def taken_along(self, begun: Vec, end: Vec) -> Vec | None:
        """Return positions of all nodes, (n, 3) [m], after prescribed motion has moved along the nodes in its path,
        None where something would intersect. begun, end: of all nodes, (n, 3) [m]."""
        return taken_along([body.nodes for body in self.bodies_in_world], [one.nodes for one in self.obstacles],
                           self.coordinates.is_free, self.contacts, begun, end,
                           partial(self.largest_steps, by_body=True))

    @cached_property
    def _node_groups(self) -> Index:
        """Return a number for each node, (n,), and one for all prescribed nodes."""
        own = np.arange(len(self.rest), dtype=np.int32)
        own[self.coordinates.prescribed] = len(own)
        return own

    @cached_property
    def _body_groups(self) -> Index:
        """Return the number of each node's body, (n,), and one for all prescribed nodes."""
        own = np.full(len(self.rest), len(self.bodies_in_world), dtype=np.int32)
        for number, body in enumerate(self.bodies_in_world):
            own[body.nodes] = number
        own[self.coordinates.prescribed] = len(self.bodies_in_world)
        return own

    def touching(self, state: State) -> Index:
        """Return nodes that touch the ground, are pulled, or are joined to others by forces, ascending."""
        return self.touching_at(self.coordinates.positions(state.q, state.time, state.carrier_motion), state.time)

    def touching_at(self, x: Vec, time: float) -> Index:
        """Return those nodes at positions x, (n, 3) [m]."""
        forced = [pull.nodes for pull in self.pulls if pull.at_work(time)]
        nodes: Index = np.unique(np.concatenate([self._elements.paired(x, time), *forced,
                                                 self.ground.find(x, time).nodes]))
        return nodes

    def touching_others(self, state: State, group: Index) -> Index:
        """Return nodes that touch the ground, are pulled, or are joined by forces to nodes of another group.

        group: the number of each node's group, −1 where it has none, (n,). Other forces than contact count within a
        group, too.
        """
        x = self.coordinates.positions(state.q, state.time, state.carrier_motion)
        pairs = [law.node_pairs_within(x, 1.0) for law in self.contacts]
        apart = [two[(group[two[:, 0]] < 0) | (group[two[:, 0]] != group[two[:, 1]])].ravel() for two in pairs]
        apart += [pull.nodes for pull in self.pulls if pull.at_work(state.time)]
        nodes: Index = np.unique(np.concatenate([*apart, joined_nodes(self.between, x, state.time),
                                                 self.ground.find(x, state.time).nodes]))
        return nodes

    def contact_persists(self, state: State, before: Index, h: float) -> bool:
        """Whether contacts with the ground changed since `before` only at nodes of a resting or sliding body, each with
        a normal speed of no more than weight adds in a step of h seconds."""
        if not self.ground.plane.is_there:
            return False
        return ground_contact.persists(self.ground, *self.nodes_at(state), state.time, before,
                                       self.touching(state), [pull.nodes for pull in self.pulls], self._fall(h), h)

    def hits_ground(self, states: Sequence[State], h: float) -> bool:
        """Whether nodes touch the ground in one of some states and their normal speed is above a fraction of what
        weight adds in a step of h seconds."""
        ends = ((*self.nodes_at(one), one.time) for one in states) if self.ground.plane.is_there else ()
        return ground_contact.is_hit(self.ground, ends, self._fall(h))

    def _fall(self, h: float) -> float:
        """Return the speed along the ground's normal that weight adds in h seconds [m/s]."""
        return h * float(np.abs(self._weight @ self.ground.plane.normal).sum() / self.mass.sum())
