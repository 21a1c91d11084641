"""Contacts between cloth and obstacles, and their rows."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import scipy.sparse as sp

from ...rows.names import Multipliers, Names
from ...rows.tables import MOST, SparseRows, VertexRows, concatenate_tables, no_sparse_rows
from ...state import Index, Mask, Vec
from .cone import ROWS
from .touching_kernels import rename
from .unknowns import Unknowns

OVER, OVER_AT_END = 60, 56  #: bits of the names of rows of two edges, and of those found at a step's end
KINDS = np.array([1 << bit for bit in (OVER_AT_END, 57, 58, OVER, 61, 62)])  #: of all rows of pairs
OF_EDGES = np.array([1 << OVER, 1 << OVER_AT_END])


@dataclass(frozen=True)
class SheetContacts:
    """Contacts of Lagrangian vertices with their rows, and rows of points within edges and faces of the cloth."""

    vertex_contacts: VertexContacts  #: of each of the rows of vertices
    rows: VertexRows
    spread: SparseRows

    def with_more(self, other: SheetContacts) -> SheetContacts:
        """Return these contacts and others in one table."""
        return SheetContacts(self.vertex_contacts.join(other.vertex_contacts),
                             concatenate_tables(self.rows, other.rows),
                             concatenate_tables(self.spread, other.spread))


@dataclass(frozen=True)
class VertexContacts:
    """Pairs of a vertex of the cloth and an obstacle that it may touch, with one row for each."""

    vertex: Index  #: (k,)
    obstacle: Index  #: number of the obstacle, (k,); that of the ground is the last
    normal: Vec  #: from the obstacle to the cloth, (k, 3)
    gap: Vec  #: [m], (k,)
    velocity: Vec  #: of the obstacle there [m/s], (k, 3)
    friction: Vec  #: coefficient, and of each sheet where they differ, (k, s)
    key: Names  #: (k,)

    def of(self, k: Index | Mask) -> VertexContacts:
        """Return some of the pairs. k: their numbers or a mask."""
        return VertexContacts(*(getattr(self, field.name)[k] for field in fields(self)))

    def join(self, other: VertexContacts) -> VertexContacts:
        """Return these pairs and others in one table."""
        return VertexContacts(*(np.concatenate([getattr(self, field.name), getattr(other, field.name)])
                                for field in fields(self)))

    def contacts(self, target: Vec, spread: SparseRows) -> SheetContacts:
        """Return the contacts with rows n · v ≥ target, (k,) [m/s]. spread: rows over several vertices."""
        k = len(target)
        factor = np.concatenate([self.normal, np.zeros((k, MOST - 3))], axis=1)
        rows = VertexRows.hard(self.vertex, factor, target, np.zeros(k, bool), self.key)
        return SheetContacts(self, rows, spread)


@dataclass(frozen=True)
class RowsOfPairs:
    """Rows on several vertices of the cloth each, of pairs with obstacles' edges and vertices."""

    nodes: Index  #: (k, 4)
    weights: Vec  #: (k, 4), 0 of nodes of obstacles
    direction: Vec  #: (k, 3)
    target: Vec  #: (k,)
    key: Names  #: (k,)


def no_pairs() -> RowsOfPairs:
    """Return a table without rows."""
    none = np.zeros(0)
    return RowsOfPairs(np.zeros((0, 4), np.int32), np.zeros((0, 4)), np.zeros((0, 3)), none, none.astype(np.int64))


def row_key(first: Index, second: Index, kind: int) -> Names:
    """Return names of rows of one kind, (k,), from two numbers of each, (k,)."""
    key: Names = (first.astype(np.int64) << 32 | second) + (1 << kind)
    return key


def edge_key(ends: Index, of: Index, kind: int) -> Names:
    """Return names of rows of one kind, (k,), of edges of the cloth, (k, 2), and numbers of obstacles' edges, (k,)."""
    low, high = ends.min(axis=1).astype(np.int64), ends.max(axis=1).astype(np.int64)
    key: Names = (low << 39 | high << 22 | of) + (1 << kind)
    return key


def renumber(warm: Multipliers, was: Index, before: int) -> Multipliers:
    """Return multipliers under the names of their rows after remeshing, without those of removed vertices and of faces
    of the cloth. was: number of each vertex among `before` earlier ones, −1 of new ones, (n,)."""
    renamed: Names = np.empty(len(warm), np.int64)
    value = warm.value.copy()
    left = rename(warm.name, np.ascontiguousarray(was, np.int32), before, KINDS, OF_EDGES, ROWS, renamed, value)
    return Multipliers.of((renamed[:left], value[:left]))


def spread_rows(unknowns: Unknowns, tables: list[RowsOfPairs]) -> SparseRows:
    """Return rows on ẋ of several vertices each, over all unknowns, from tables of pairs."""
    tables = [table for table in tables if len(table.nodes)]
    if not tables:
        return no_sparse_rows(unknowns.count)
    nodes, weights, direction, target, key = (np.concatenate([getattr(table, name) for table in tables])
                                              for name in ("nodes", "weights", "direction", "target", "key"))
    r, a = np.nonzero(weights)
    first = unknowns.first[nodes[r, a]]
    row = np.repeat(r, 3)
    column = (first[:, None] + np.arange(3)).ravel()
    value = (weights[r, a][:, None] * direction[r]).ravel()
    matrix = sp.csr_matrix((value, (row, column)), shape=(len(nodes), unknowns.count))
    return SparseRows.hard(matrix, target, np.zeros(len(nodes), bool), key)
