"""How far a step deforms bodies, which of them most, and whether surfaces push each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ..assembly.edges import Edges
from ..contact.laws.interface import ContactLaw
from ..coordinates.free_nodes import FreeNodes
from ..state import Index, State, Vec
from .bodies import BodyInWorld
from .edge_changes import EdgeChanges


class StepLimits:
    """Measures of a step that may be too long, for bodies of nodes."""

    bodies_in_world: Sequence[BodyInWorld]
    coordinates: FreeNodes
    rest: Vec
    contacts: Sequence[ContactLaw]
    tets: Index

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

    @property
    def _body_groups(self) -> Index:
        raise NotImplementedError
