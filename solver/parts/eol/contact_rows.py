"""Tables of what of the cloth touches what of things, and the rows that they become."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import scipy.sparse as sp

from ...rows.sparse.rows import MOST, Keys, SpreadRows, VertexRows, no_spread_rows
from ...state import Index, Mask, Vec
from .cone import ROWS
from .touching_kernels import rename
from .unknowns import Unknowns

OVER, LOST_AGAIN = 60, 56  #: bits of the names of rows of two edges, and of those that the step's end asks for
KINDS = np.array([1 << bit for bit in (LOST_AGAIN, 57, 58, OVER, 61, 62)])  #: of all rows of pairs
OF_EDGES = np.array([1 << OVER, 1 << LOST_AGAIN])


@dataclass(frozen=True)
class SheetContacts:
    """Rows of Lagrangian vertices, and of points within edges and faces of the cloth."""

    met: Met  #: of each of the rows of vertices
    rows: VertexRows
    spread: SpreadRows

    def with_more(self, other: SheetContacts) -> SheetContacts:
        """Both in one."""
        one, two = self.spread, other.spread
        spread = SpreadRows(sp.vstack([one.matrix, two.matrix], format="csr"), *(np.concatenate(
            [getattr(one, name), getattr(two, name)]) for name in ("target", "equal", "key")))
        return SheetContacts(self.met.beside(other.met), together(self.rows, other.rows), spread)


@dataclass(frozen=True)
class Met:
    """Vertices of the cloth and what each may touch, one row a pair."""

    vertex: Index  #: (k,)
    thing: Index  #: (k,); the ground's number is that behind all things
    normal: Vec  #: from the thing to the cloth, (k, 3)
    gap: Vec  #: [m], (k,)
    velocity: Vec  #: of the thing there [m/s], (k, 3)
    friction: Vec  #: and sheet if they differ, (k, s)
    key: Keys  #: (k,)

    def of(self, k: Index | Mask) -> Met:
        """Some rows."""
        return Met(*(getattr(self, one.name)[k] for one in fields(self)))

    def beside(self, other: Met) -> Met:
        """Both in one."""
        return Met(*(np.concatenate([getattr(self, one.name), getattr(other, one.name)]) for one in fields(self)))

    def contacts(self, target: Vec, spread: SpreadRows) -> SheetContacts:
        """With rows n · v ≥ target [m/s], (k,), beside some over several vertices."""
        k = len(target)
        factor = np.concatenate([self.normal, np.zeros((k, MOST - 3))], axis=1)
        rows = VertexRows(self.vertex, factor, target, np.zeros(k, bool), self.key)
        return SheetContacts(self, rows, spread)


@dataclass(frozen=True)
class RowsOfPairs:
    """Rows on several vertices of the cloth."""

    nodes: Index  #: (k, 4)
    weights: Vec  #: (k, 4), zero for what is no cloth
    direction: Vec  #: (k, 3)
    target: Vec  #: (k,)
    key: Keys  #: (k,)


def no_pairs() -> RowsOfPairs:
    """A table without rows."""
    none = np.zeros(0)
    return RowsOfPairs(np.zeros((0, 4), np.int32), np.zeros((0, 4)), np.zeros((0, 3)), none, none.astype(np.int64))


def row_key(first: Index, second: Index, kind: int) -> Keys:
    """Names of rows of one kind."""
    key: Keys = (first.astype(np.int64) << 32 | second) + (1 << kind)
    return key


def edge_key(ends: Index, of: Index, kind: int) -> Keys:
    """Names of rows of edges of the cloth, (k, 2), and of things, (k,)."""
    low, high = ends.min(axis=1).astype(np.int64), ends.max(axis=1).astype(np.int64)
    key: Keys = (low << 39 | high << 22 | of) + (1 << kind)
    return key


def renumbered(keys: Keys, was: Index, before: int) -> Keys:
    """Names of rows, (k,), after remeshing; `was`: which of `before` vertices each vertex is, −1 of new ones. Those of
    vertices that are gone are left out, and of pairs those of the cloth's faces."""
    renamed: Keys = np.empty(len(keys), np.int64)
    left = rename(keys, np.ascontiguousarray(was, np.int32), before, KINDS, OF_EDGES, ROWS, renamed)
    return np.sort(renamed[:left])


def together(*tables: VertexRows) -> VertexRows:
    """All rows in one table."""
    return VertexRows(*(np.concatenate([getattr(one, name) for one in tables])
                        for name in ("vertex", "factor", "target", "equal", "key")))


def spread_rows(unknowns: Unknowns, tables: list[RowsOfPairs]) -> SpreadRows:
    """Rows on the ẋ of several vertices."""
    tables = [one for one in tables if len(one.nodes)]
    if not tables:
        return no_spread_rows(unknowns.count)
    nodes, weights, direction, target, key = (np.concatenate([getattr(one, name) for one in tables])
                                              for name in ("nodes", "weights", "direction", "target", "key"))
    r, a = np.nonzero(weights)
    first = unknowns.first[nodes[r, a]]
    row = np.repeat(r, 3)
    column = (first[:, None] + np.arange(3)).ravel()
    value = (weights[r, a][:, None] * direction[r]).ravel()
    matrix = sp.csr_matrix((value, (row, column)), shape=(len(nodes), unknowns.count))
    return SpreadRows(matrix, target, np.zeros(len(nodes), bool), key)
