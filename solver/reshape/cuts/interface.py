"""Protocol of a cut, its input, and functions for kinds of cuts without a list of faces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ...job import schema
from ...meshing.volume import tet_faces
from ...state import Index, Mask, Vec

Arrays = Callable[[str], NDArray[Any]]
SHIFT = 1.0e-9  #: of the body's size: offset of a cut, so that points in the cut are in front of it despite rounding


@dataclass(frozen=True)
class Shape:
    """Tetrahedra and node positions of a body at the moment of a cut."""

    x: Vec  #: positions of its nodes [m], (n, 3)
    tets: Index  #: (e, 4)
    origin: Index  #: node of the uncut volume that each node is a copy of, (n,)

    @cached_property
    def inner(self) -> Index:
        """Return both rows in `tet_faces` of every face between two tetrahedra, (k, 2)."""
        _, group = tet_faces(self.tets)
        order = np.argsort(group, kind="stable")
        first, second = order[:-1], order[1:]
        same = group[first] == group[second]
        rows: Index = np.stack([first[same], second[same]], axis=1).astype(np.int32)
        return rows

    @cached_property
    def centres(self) -> Vec:
        """Return the centroid of each tetrahedron [m], (e, 3)."""
        middle: Vec = self.x[self.tets].mean(axis=1)
        return middle

    @property
    def size(self) -> float:
        """Return the diagonal of the bounding box of the body [m]."""
        return float(np.linalg.norm(np.ptp(self.x, axis=0)))


class Cut(Protocol):
    """Protocol of a cut, which decides which faces of a body separate."""

    def __init__(self, cut: schema.Cut, arrays: Arrays, shape: Shape) -> None: ...

    def faces(self, shape: Shape) -> tuple[Mask, Mask]:
        """Return whether each face of `shape.inner` separates, (k,), and whether each tetrahedron is reassigned, (e,).

        A reassigned tetrahedron belongs to the side of the cut opposite to its centroid.
        """

    def intersections(self, a: Vec, b: Vec) -> Vec:
        """Return the fraction in [0, 1] at which each segment from a to b meets the cut, (k,); NaN where it does not.

        a, b: ends, (k, 3) [m].
        """


def between_centres(cut: Cut, shape: Shape) -> tuple[Mask, Mask]:
    """Return whether a cut separates the centroids at each inner face, (k,), and the reassigned tetrahedra, (e,).

    Reassigned are crumbs, pieces that consist only of tetrahedra through which the cut passes: they are thinner than a
    tetrahedron and stay with the neighbour with which they share most faces.
    """
    near, count = shape.inner // 4, len(shape.tets)
    separated: Mask = ~np.isnan(cut.intersections(shape.centres[near[:, 0]], shape.centres[near[:, 1]]))
    moved = np.zeros(count, dtype=bool)
    if not separated.any():
        return separated, moved
    through = _find_passed_through(cut, shape)
    while True:
        piece = pieces(count, near[~separated])
        is_crumb = np.ones(int(piece.max()) + 1, dtype=bool)
        is_crumb[piece[~through]] = False
        sides = piece[near]
        open_ = separated & (sides[:, 0] != sides[:, 1])
        # one crumb and its widest neighbour at a time, as that neighbour may itself be a crumb
        crumbs = np.unique(sides[open_][is_crumb[sides[open_]]])
        if not len(crumbs):
            return separated, moved
        of_crumb = open_ & (sides == crumbs[0]).any(axis=1)
        others = np.where(sides[of_crumb, 0] == crumbs[0], sides[of_crumb, 1], sides[of_crumb, 0])
        separated &= ~(of_crumb & (sides == int(np.bincount(others).argmax())).any(axis=1))
        moved[piece == crumbs[0]] ^= True


def pieces(count: int, links: Index) -> Index:
    """Return a label of the connected component of each of `count` tetrahedra, (count,). links: pairs, (k, 2)."""
    graph = coo_matrix((np.ones(len(links), dtype=np.int8), (links[:, 0], links[:, 1])), shape=(count, count))
    labels: Index = connected_components(graph, directed=False)[1].astype(np.int32)
    return labels


def _find_passed_through(cut: Cut, shape: Shape) -> Mask:
    """Return whether each tetrahedron has corners on the side of the cut opposite to its centroid, (e,)."""
    middles = np.repeat(shape.centres, 4, axis=0)
    opposite: Mask = ~np.isnan(cut.intersections(middles, shape.x[shape.tets].reshape(-1, 3)))
    passed: Mask = opposite.reshape(-1, 4).any(axis=1)
    return passed
