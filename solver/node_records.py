"""Entries of a part's memory that belong to its nodes, and what becomes of them where nodes get other numbers: in a
merged part, after a cut, or with other obstacles.

The file that writes such an entry declares it as a `NodeRecord`, and `world/node_memory.py` lists it. Entries without a
record, such as the histories of an integrator, are forgotten there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from .state import Index, Vec

Memory = Mapping[str, Vec]


class BodyMemory(NamedTuple):
    """Nodes of one body in its former part and in its present part."""

    memory: Memory  #: of the former part
    former: slice  #: nodes in the former part
    present: slice  #: nodes in the present part


class SourceNodes(NamedTuple):
    """Former node of each present node of bodies that were cut, nailed or released."""

    source: Index  #: (n,)
    moved: Vec  #: displacement from the former node, (n, 3) [m]
    fraction: Vec  #: mass relative to the former node's, (n,)


class NodeRecord(Protocol):
    """Entries of a memory that belong to nodes. Each method returns the entries that a new memory gets; no entries
    where the former memory has none."""

    def merge(self, bodies: Sequence[BodyMemory], count: int) -> dict[str, Vec]:
        """Return the entries of a part of bodies that were in several parts. count: of all nodes of the part."""

    def carry_over(self, memory: Memory, nodes: SourceNodes) -> dict[str, Vec]:
        """Return the entries of bodies after a cut, nail or release of pins."""

    def reorder(self, memory: Memory, rows: Callable[[Vec], Vec]) -> dict[str, Vec]:
        """Return the entries where obstacles, whose nodes come after those of bodies, were added or removed.

        rows: returns the rows of the present nodes from a table of the former nodes, (n, …).
        """


@dataclass(frozen=True)
class RowPerNode:
    """Record with a row for each node, zero for nodes without a past."""

    key: str
    shape: tuple[int, ...] = ()  #: of a row
    divides: bool = False  #: whether copies of a node have a part of its row each, by their mass; else cuts forget rows

    def merge(self, bodies: Sequence[BodyMemory], count: int) -> dict[str, Vec]:
        """Return the table of all nodes of a part, (count, …)."""
        known = [body for body in bodies if self.key in body.memory]
        if not known:
            return {}
        table = np.zeros((count, *self.shape))
        for memory, former, present in known:
            table[present] = memory[self.key][former]
        return {self.key: table}

    def carry_over(self, memory: Memory, nodes: SourceNodes) -> dict[str, Vec]:
        """Return each former row times the fraction of mass, (n, …); no entry where cuts forget rows."""
        if not self.divides or self.key not in memory:
            return {}
        fraction = nodes.fraction.reshape(-1, *(1 for _ in self.shape))
        return {self.key: fraction * memory[self.key][nodes.source]}

    def reorder(self, memory: Memory, rows: Callable[[Vec], Vec]) -> dict[str, Vec]:
        """Return the table of the present nodes, (n, …)."""
        return {self.key: rows(memory[self.key])} if self.key in memory else {}


@dataclass(frozen=True)
class PointPerListedNode:
    """Record of points that belong to some nodes of bodies, and move with these where bodies are cut."""

    nodes: str  #: key of the numbers of the nodes, (k,)
    points: str  #: key of their points [m], (3 k,)

    def merge(self, bodies: Sequence[BodyMemory], count: int) -> dict[str, Vec]:
        """Return the nodes and points of all bodies, in the order of the bodies."""
        known = [body for body in bodies if self.nodes in body.memory]
        if not known:
            return {}
        nodes, points = [np.zeros(0)], [np.zeros((0, 3))]
        for memory, former, present in known:
            listed = memory[self.nodes]
            is_of_body = (listed >= former.start) & (listed < former.stop)
            nodes.append(listed[is_of_body] - former.start + present.start)
            points.append(memory[self.points].reshape(-1, 3)[is_of_body])
        return {self.nodes: np.concatenate(nodes), self.points: np.concatenate(points).ravel()}

    def carry_over(self, memory: Memory, nodes: SourceNodes) -> dict[str, Vec]:
        """Return each copy of a listed node with its point, displaced by as much as the copy."""
        if self.nodes not in memory:
            return {}
        source, listed = nodes.source, memory[self.nodes].astype(np.int32)
        row = np.full(max(int(source.max(initial=0)), int(listed.max(initial=0))) + 1, -1, dtype=np.int32)
        row[listed] = np.arange(len(listed))
        present = np.flatnonzero(row[source] >= 0)
        points = memory[self.points].reshape(-1, 3)[row[source[present]]] + nodes.moved[present]
        return {self.nodes: present.astype(float), self.points: points.ravel()}

    def reorder(self, memory: Memory, rows: Callable[[Vec], Vec]) -> dict[str, Vec]:
        """Return no entries: obstacles come after bodies, whose nodes have their numbers still. rows: not used."""
        return {}
