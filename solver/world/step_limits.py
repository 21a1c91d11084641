"""Measures of a step that limit its size: deformation, impacts and contact of soft bodies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..assembly.edges import Edges
from ..contact.laws.ground_penalty import GroundPenalty
from ..contact.laws.interface import ContactLaw
from ..coordinates.free_nodes import FreeNodes
from ..state import Index, Mask, State, Vec
from .bodies import BodyInWorld
from .edge_changes import EdgeChanges
from .ground_impact import reject_energy_gain, velocity_jumps

NO_NODES: Index = np.zeros(0, dtype=np.int32)


class StepLimits:
    """Soft bodies with measures of whether a step is too long."""

    bodies_in_world: Sequence[BodyInWorld]
    coordinates: FreeNodes
    rest: Vec
    contacts: Sequence[ContactLaw]
    tets: Index
    mass: Vec
    ground: GroundPenalty

    def deformation(self, before: State, after: State) -> float:
        """Return the largest relative change of an edge in a step, by velocities or by displacement, whichever is less.

        Of cloth it is the change of length, of other bodies that of the edge vector, rotation included. The hundredth
        of the edges of a body in contact that changes most is left out.

        ConJac's corrections are limited separately and do not decrease with the step. After the impact of a thin skin,
        the velocities at the end of a solved step are those of a ripple with a small displacement. Cloth can rotate and
        fold by the length of its edges in a step without errors in its elements.
        """
        start, end = (self._at(state) for state in (before, after))
        pairs = [law.node_pairs_within(x, 1.0).ravel() for law in self.contacts for x in (start, end)]
        return self._edge_changes.largest(start, end, (after.time - before.time) * self.velocity(after), pairs)

    def most_deformed(self, before: State, after: State) -> tuple[float, str | None]:
        """Return the largest relative change of an edge vector in a step, by displacement, and the name of its body.

        The name is None in a part without elements.
        """
        if not len(self.tets):
            return 0.0, None
        changes, owner = self.edges.changes(self._at(after) - self._at(before)), self.edges.first
        largest = [(float(changes[(owner >= body.nodes.start) & (owner < body.nodes.stop)].max(initial=0.0)), body.name)
                   for body in self.bodies_in_world]
        return max(largest, key=lambda one: one[0], default=(0.0, None))

    def in_contact(self, state: State) -> bool:
        """Return whether surfaces are in contact at a state."""
        x = self._at(state)
        return any(len(law.node_pairs_within(x, 1.0)) for law in self.contacts)

    def impact_change(self, before: State, after: State) -> tuple[float, str | None]:
        """Return the largest change of velocity by an impact on the ground or a resting obstacle, and its body's name.

        The change is relative to the admissible one, infinite where the impact gains energy, and 0 without an impact.
        Bodies with prescribed nodes are ignored, as their carriers move them. On obstacles, only bodies without other
        contacts count: in a heap, other bodies absorb most of an impact, at every step.
        """
        has_impact = self._is_free_body & (self._reach_ground(before, after) | self._touch_resting(before, after))
        if not has_impact.any():
            return 0.0, None
        jumps = np.where(has_impact, velocity_jumps(self.mass, self._body_groups, self._sizes, self.velocity(before),
                                                    self.velocity(after), after.time - before.time), 0.0)
        worst = int(jumps.argmax())
        return reject_energy_gain(self, before, after, float(jumps[worst])), self.bodies_in_world[worst].name

    def _reach_ground(self, before: State, after: State) -> Mask:
        """Return whether each body touches the ground at either end of a step, (b,)."""
        if not self.ground.plane.exists:
            return np.zeros(len(self.bodies_in_world), dtype=bool)
        return self._bodies_of(np.concatenate([self.ground.find(self._at(state), state.time).nodes
                                               for state in (before, after)]))

    def _touch_resting(self, before: State, after: State) -> Mask:
        """Return whether each body is in contact only with prescribed nodes at rest, at either end of a step, (b,).

        False for bodies without tetrahedra.
        """
        if not len(self.contacts) or not len(self.tets):
            return np.zeros(len(self.bodies_in_world), dtype=bool)
        start, end = self._at(before), self._at(after)
        pairs = np.concatenate([np.zeros((0, 2), dtype=np.int32),
                                *(law.node_pairs_within(x, 1.0) for law in self.contacts for x in (start, end))])
        owner, none = self._body_groups[pairs], len(self.bodies_in_world)
        at_rest = (owner == none) & (start[pairs] == end[pairs]).all(axis=2)
        on_resting = np.zeros(none + 1, dtype=bool)
        on_others = on_resting.copy()
        for side in (0, 1):
            on_resting[owner[at_rest[:, 1 - side], side]] = True
            on_others[owner[~at_rest[:, 1 - side] & (owner[:, 0] != owner[:, 1]), side]] = True
        return on_resting[:none] & ~on_others[:none] & self._bodies_of(self.tets.ravel())

    def _bodies_of(self, nodes: Index) -> Mask:
        """Return whether each body has free nodes among some nodes, (b,)."""
        has_nodes = np.zeros(len(self.bodies_in_world) + 1, dtype=bool)
        has_nodes[self._body_groups[nodes]] = True
        return has_nodes[:-1]

    def nodes_at_ground(self, state: State, h: float) -> Index:
        """Return the nodes that touch the ground at a state, or would after h seconds of straight motion, (k,)."""
        if not self.ground.plane.exists:
            return NO_NODES
        x = self._at(state)
        return np.concatenate([self.ground.find(positions, time).nodes for positions, time in (
            (x, state.time), (x + h * self.velocity(state), state.time + h))])

    @cached_property
    def _is_free_body(self) -> Mask:
        """Return whether each body has no prescribed nodes, (b,)."""
        return np.array([bool(self.coordinates.is_free[body.nodes].all()) for body in self.bodies_in_world], dtype=bool)

    @cached_property
    def _sizes(self) -> Vec:
        return np.array([body.size for body in self.bodies_in_world])

    @cached_property
    def edges(self) -> Edges:
        """Return the edges of all elements, with their rest lengths."""
        return Edges(self.tets, self.rest)

    @cached_property
    def _edge_changes(self) -> EdgeChanges:
        return EdgeChanges(self.tets, self.rest, self._body_groups)

    def _at(self, state: State) -> Vec:
        return self.coordinates.positions(state.q, state.time, state.carrier_motion)

    def velocity(self, state: State) -> Vec:
        """Return the velocities of all nodes at a state, (n, 3) [m/s]."""
        raise NotImplementedError

    def nodes_at(self, state: State) -> tuple[Vec, Vec]:
        """Return the positions [m] and velocities [m/s] of all nodes at a state, (n, 3)."""
        raise NotImplementedError

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float]:
        """Return forces, (n, 3) [N], and energy [J] at positions x, (n, 3) [m], and a time [s]."""
        raise NotImplementedError

    @property
    def _body_groups(self) -> Index:
        raise NotImplementedError
