"""How far a step deforms bodies and stops those that land, which of them most, and whether surfaces push each other."""

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
from .ground_impact import gained_energy, velocity_jumps

NO_NODES: Index = np.zeros(0, dtype=np.int32)


class StepLimits:
    """Measures of a step that may be too long, for bodies of nodes."""

    bodies_in_world: Sequence[BodyInWorld]
    coordinates: FreeNodes
    rest: Vec
    contacts: Sequence[ContactLaw]
    tets: Index
    mass: Vec
    ground: GroundPenalty

    def deformation(self, before: State, after: State) -> float:
        """Return the largest relative change of an edge in a step: of cloth the change of length, of all else the
        change of the edge vector, rotation included; by its velocities, or by its displacement where that is less. The
        largest hundredth of the edges of a body in contact does not count.

        ConJac's corrections are limited separately, and do not shrink with the step. After the impact of a thin skin
        the velocities at the end of a solved step are those of a ripple that has hardly moved it. Cloth rotates and
        folds by its edges' whole length in a step without harm to its elements.
        """
        start, end = (self._at(one) for one in (before, after))
        pairs = [law.node_pairs_within(x, 1.0).ravel() for law in self.contacts for x in (start, end)]
        return self._edge_changes.largest(start, end, (after.time - before.time) * self.velocity(after), pairs)

    def most_deformed(self, before: State, after: State) -> tuple[float, str | None]:
        """Return the largest relative change of an edge vector by displacement in a step, and its body's name."""
        if not len(self.tets):
            return 0.0, None
        changes, owner = self.edges.changes(self._at(after) - self._at(before)), self.edges.first
        found = [(float(changes[(owner >= body.nodes.start) & (owner < body.nodes.stop)].max(initial=0.0)), body.name)
                 for body in self.bodies_in_world]
        return max(found, key=lambda one: one[0], default=(0.0, None))

    def in_contact(self, state: State) -> bool:
        """Return whether surfaces push each other."""
        x = self._at(state)
        return any(len(law.node_pairs_within(x, 1.0)) for law in self.contacts)

    def impact_change(self, before: State, after: State) -> tuple[float, str | None]:
        """Return how many times too large the steepest change of velocity by an impact is in a step, on the ground or
        on an obstacle that stands still, infinite where the impact has gained energy, and the name of the body that
        lands; zero where nothing lands.

        A body of which nodes are prescribed does not land: its carrier moves it. On obstacles what is pushed by nothing
        else lands: in a heap others take most of it, at every step.
        """
        lands = self._is_free_body & (self._reach_ground(before, after) | self._reach_still(before, after))
        if not lands.any():
            return 0.0, None
        jumps = np.where(lands, velocity_jumps(self.mass, self._body_groups, self._sizes, self.velocity(before),
                                               self.velocity(after), after.time - before.time), 0.0)
        worst = int(jumps.argmax())
        return gained_energy(self, before, after, float(jumps[worst])), self.bodies_in_world[worst].name

    def _reach_ground(self, before: State, after: State) -> Mask:
        """Return a mask of the bodies that touch the ground at either end of a step, (b,)."""
        if not self.ground.plane.is_there:
            return np.zeros(len(self.bodies_in_world), dtype=bool)
        return self._bodies_of(np.concatenate([self.ground.find(self._at(one), one.time).nodes
                                               for one in (before, after)]))

    def _reach_still(self, before: State, after: State) -> Mask:
        """Return a mask of the bodies of tetrahedra that touch prescribed nodes at either end of a step, (b,), all of
        them still in it, and no other body."""
        if not len(self.contacts) or not len(self.tets):
            return np.zeros(len(self.bodies_in_world), dtype=bool)
        start, end = self._at(before), self._at(after)
        pairs = np.concatenate([np.zeros((0, 2), dtype=np.int32),
                                *(law.node_pairs_within(x, 1.0) for law in self.contacts for x in (start, end))])
        owner, none = self._body_groups[pairs], len(self.bodies_in_world)
        stands = (owner == none) & (start[pairs] == end[pairs]).all(axis=2)
        on_still = np.zeros(none + 1, dtype=bool)
        on_others = on_still.copy()
        for side in (0, 1):
            on_still[owner[stands[:, 1 - side], side]] = True
            on_others[owner[~stands[:, 1 - side] & (owner[:, 0] != owner[:, 1]), side]] = True
        return on_still[:none] & ~on_others[:none] & self._bodies_of(self.tets.ravel())

    def _bodies_of(self, nodes: Index) -> Mask:
        """Return a mask of the bodies of free nodes among these, (b,)."""
        found = np.zeros(len(self.bodies_in_world) + 1, dtype=bool)
        found[self._body_groups[nodes]] = True
        return found[:-1]

    def nodes_at_ground(self, state: State, h: float) -> Index:
        """Return nodes that touch the ground at a state, or would after h seconds of straight motion."""
        if not self.ground.plane.is_there:
            return NO_NODES
        x = self._at(state)
        return np.concatenate([self.ground.find(one, time).nodes for one, time in (
            (x, state.time), (x + h * self.velocity(state), state.time + h))])

    @cached_property
    def _is_free_body(self) -> Mask:
        """Return a mask of the bodies without prescribed nodes, (b,)."""
        return np.array([bool(self.coordinates.is_free[body.nodes].all()) for body in self.bodies_in_world], dtype=bool)

    @cached_property
    def _sizes(self) -> Vec:
        return np.array([body.size for body in self.bodies_in_world])

    @cached_property
    def edges(self) -> Edges:
        return Edges(self.tets, self.rest)

    @cached_property
    def _edge_changes(self) -> EdgeChanges:
        return EdgeChanges(self.tets, self.rest, self._body_groups)

    def _at(self, state: State) -> Vec:
        return self.coordinates.positions(state.q, state.time, state.carrier_motion)

    def velocity(self, state: State) -> Vec:
        """Return velocities of all nodes, (n, 3) [m/s]."""
        raise NotImplementedError

    def nodes_at(self, state: State) -> tuple[Vec, Vec]:
        """Return positions [m] and velocities [m/s] of all nodes, (n, 3)."""
        raise NotImplementedError

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float]:
        """Return forces [N], (n, 3), and energy [J], at positions (n, 3) [m]."""
        raise NotImplementedError

    @property
    def _body_groups(self) -> Index:
        raise NotImplementedError
