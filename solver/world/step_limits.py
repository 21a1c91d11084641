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
        """Return how many times too large the steepest change of velocity by an impact on the ground is in a step,
        infinite where the impact has gained energy, and the name of the body that lands; zero where nothing lands.

        A body of which nodes are prescribed does not land: its carrier moves it.
        """
        if not self.ground.plane.is_there:
            return 0.0, None
        touched = [self.ground.find(self._at(one), one.time).nodes for one in (before, after)]
        if not len(touched[0]) and not len(touched[1]):
            return 0.0, None
        lands = self._is_free_body & np.isin(np.arange(len(self._is_free_body)),
                                             self._body_groups[np.concatenate(touched)])
        if not lands.any():
            return 0.0, None
        jumps = np.where(lands, velocity_jumps(self.mass, self._body_groups, self._sizes, self.velocity(before),
                                               self.velocity(after), after.time - before.time), 0.0)
        worst = int(jumps.argmax())
        return gained_energy(self, before, after, float(jumps[worst])), self.bodies_in_world[worst].name

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
