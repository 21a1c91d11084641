"""Split of the artist's triangles along a cut, with separate vertices on both sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..state import Index, Vec

SNAP = 1.0e-6  #: of an edge: a cut this near to its end goes through the vertex


@dataclass(frozen=True)
class Seam:
    """Triangles after a split. New vertices are on edges of the old mesh and numbered after all old vertices."""

    parents: Index  #: ends of the edge of each new vertex, (s, 2)
    fractions: Vec  #: fraction from the first to the second end, (s,)
    towards: Index  #: old vertex on the same side of the cut, (s,)
    triangles: Index  #: (t', 3)
    source: Index  #: old triangle that contains each, (t',)


def edges_of(triangles: Index) -> tuple[Index, Index]:
    """Return the edges of triangles, (t, 3), and the three edges of each triangle, (t, 3).

    Each edge is listed once, its lower vertex first, (e, 2); edges of a triangle begin at its corners 0, 1 and 2.
    """
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges, which = np.unique(sides, axis=0, return_inverse=True)
    return edges.astype(np.int32), which.reshape(-1, 3).astype(np.int32)


def split_triangles(vertices: int, triangles: Index, edges: Index, edge: Index, fractions: Vec) -> Seam:
    """Return triangles, (t, 3), split at the edges that a cut crosses.

    vertices: number of vertices of the mesh. edges, edge: results of `edges_of`. fractions: along each edge, where
    it is crossed, (e,), NaN where it is not. A triangle with one crossed edge, where the cut ends inside the body, is
    split up to its third corner.
    """
    is_cut = ~np.isnan(fractions)
    cut_edges = np.flatnonzero(is_cut)
    low, high = edges[cut_edges, 0], edges[cut_edges, 1]
    at_low, at_high = fractions[cut_edges] < SNAP, fractions[cut_edges] > 1.0 - SNAP

    # the vertex of an edge on the side of its lower and of its higher end; a vertex in the cut is reused on one side
    own = np.full((len(cut_edges), 2), -1, dtype=np.int64)
    own[at_low, 0], own[at_high, 1] = low[at_low], high[at_high]
    twin = np.full(vertices, -1, dtype=np.int64)
    doubled = np.unique(np.concatenate([low[at_low], high[at_high]]))
    twin[doubled] = vertices + np.arange(len(doubled))
    own[at_low, 1], own[at_high, 0] = twin[low[at_low]], twin[high[at_high]]
    towards = np.zeros(len(doubled), dtype=np.int64)
    towards[np.searchsorted(doubled, low[at_low])] = high[at_low]
    towards[np.searchsorted(doubled, high[at_high])] = low[at_high]
    rows, ends = np.nonzero(own < 0)
    own[rows, ends] = vertices + len(doubled) + np.arange(len(rows))
    parents = np.concatenate([np.stack([doubled, doubled], axis=1), edges[cut_edges[rows]]])
    new_fractions = np.concatenate([np.zeros(len(doubled)), fractions[cut_edges[rows]]])
    towards = np.concatenate([towards, edges[cut_edges[rows], ends]])

    near = np.full((len(edges), 2), -1, dtype=np.int64)
    near[cut_edges] = own
    # with all three edges crossed, the middle belongs to the first corner and is on the edge opposite to it
    thrice = np.flatnonzero(is_cut[edge].all(axis=1))
    middle = vertices + len(parents) + np.arange(len(thrice))
    across = edge[thrice, 1]
    pieces, source = _pieces(triangles, edges, edge, is_cut, near, middle)
    parents = np.concatenate([parents, edges[across]])
    new_fractions = np.concatenate([new_fractions, fractions[across]])
    towards = np.concatenate([towards, triangles[thrice, 0]])
    flat = (pieces == np.roll(pieces, 1, axis=1)).any(axis=1)
    order = np.argsort(source[~flat], kind="stable")
    return Seam(parents.astype(np.int32), new_fractions, towards.astype(np.int32),
                pieces[~flat][order].astype(np.int32), source[~flat][order].astype(np.int32))


def _pieces(triangles: Index, edges: Index, edge: Index, is_cut: np.ndarray,
            near: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all triangles after the split, (t', 3), and the old triangle of each, (t',)."""
    count = is_cut[edge].sum(axis=1)
    made, source = [triangles[count == 0]], [np.flatnonzero(count == 0)]

    def rotated(rows: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return corners, (k, 3), and edges, (k, 3), of triangles in cyclic order from their corner `first`, (k,)."""
        around = (first[:, None] + np.arange(3)) % 3
        return np.take_along_axis(triangles[rows], around, axis=1), np.take_along_axis(edge[rows], around, axis=1)

    def at(which: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return the vertex on each edge that is on the side of its end `end`, (k,)."""
        vertex: np.ndarray = near[which, (edges[which, 1] == end).astype(np.int64)]
        return vertex

    def add(rows: np.ndarray, *corners: tuple[np.ndarray, ...]) -> None:
        for three in corners:
            made.append(np.stack(three, axis=1))
            source.append(rows)

    one = np.flatnonzero(count == 1)
    (a, b, c), (ab, _, _) = (part.T for part in rotated(one, is_cut[edge[one]].argmax(axis=1)))
    add(one, (a, at(ab, a), c), (at(ab, b), b, c))
    two = np.flatnonzero(count == 2)
    (a, b, c), (ab, _, ca) = (part.T for part in rotated(two, ((~is_cut[edge[two]]).argmax(axis=1) + 2) % 3))
    add(two, (a, at(ab, a), at(ca, a)), (at(ab, b), b, c), (at(ab, b), c, at(ca, c)))
    three = np.flatnonzero(count == 3)
    (a, b, c), (ab, bc, ca) = triangles[three].T, edge[three].T
    add(three, (a, at(ab, a), at(ca, a)), (b, at(bc, b), at(ab, b)), (c, at(ca, c), at(bc, c)),
        (at(ab, a), middle, at(ca, a)))
    return np.concatenate(made), np.concatenate(source)
