"""Rebinding of vertices that were bound far from all their neighbours, such as the rim of a lip or a fingertip."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from ..meshing.closest import triangle_distances
from ..meshing.volume import SIDES, find_edges
from ..state import Index, Vec

ROUNDS = 5  #: in which torn vertices are rebound, as that may tear others
CANDIDATES = 64  #: boundary faces that a torn vertex may go to
CHUNK = 500_000
#: of the body's extent: faces that are so much farther are as near. A vertex just outside of an edge is as near to both
#: of its faces, and rounding, another one once the object is turned, would choose the tetrahedron that carries it
ALIKE = 1.0e-5


class Closeness:
    """Relation of tetrahedra that are close in the volume itself: at most two edges apart, and not across a gap."""

    def __init__(self, tets: Index, count: int) -> None:
        starts = np.arange(len(tets) + 1) * 4
        incidence = csr_matrix((np.ones(tets.size, dtype=np.int32), tets.ravel(), starts), shape=(len(tets), count))
        self._reach = (incidence @ (incidence.T @ incidence)).tocsr()  # nodes of each tet and those one edge away
        self._reach.data[:] = 1

    def __call__(self, first: NDArray, second: NDArray) -> NDArray[np.bool_]:
        """Return whether tetrahedra first[i] and second[i] are close, (p,)."""
        close = np.empty(len(first), dtype=bool)
        for start in range(0, len(first), CHUNK):
            rows = slice(start, start + CHUNK)
            common = self._reach[first[rows]].multiply(self._reach[second[rows]])
            close[rows] = np.asarray(common.sum(axis=1)).ravel() > 0
        return close


def mend_tears(tet: Index, nodes: Vec, tets: Index, faces: Index, tet_of_face: Index, points: Vec, triangles: NDArray,
               longest: float) -> Index:
    """Return the tetrahedron of each vertex, (n,), with vertices that were bound far from their neighbours bound near
    them.

    tet: (n,), as bound vertex by vertex; longest: longer edges of the render mesh are ignored. A vertex is misplaced
    where more than half of its neighbours are bound far from it; it is bound to the nearest boundary face that is close
    to one of the neighbours that are not misplaced.
    """
    pairs = find_edges(triangles, SIDES)
    pairs = pairs[(pairs[:, 0] != pairs[:, 1])
                  & (np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1) < longest)]
    if not len(pairs):
        return tet
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    close, tree = Closeness(tets, len(nodes)), cKDTree(nodes[faces].mean(axis=1))
    known = np.bincount(pairs[:, 0], minlength=len(tet))
    torn = np.zeros(len(pairs), dtype=bool)
    stale = np.ones(len(pairs), dtype=bool)
    for _ in range(ROUNDS):
        torn[stale] = ~close(tet[pairs[stale, 0]], tet[pairs[stale, 1]])
        misplaced = 2 * np.bincount(pairs[:, 0], torn, minlength=len(tet)) > known
        torn_pairs = pairs[torn & misplaced[pairs[:, 0]] & ~misplaced[pairs[:, 1]]]
        if not len(torn_pairs):
            break
        moved = _nearest_to_neighbours(torn_pairs, tet, nodes, faces, tet_of_face, points, tree, close)
        changed = moved != tet
        if not changed.any():
            break
        tet, stale = moved, changed[pairs].any(axis=1)
    return tet


def _nearest_to_neighbours(torn_pairs: NDArray, tet: Index, nodes: Vec, faces: Index, tet_of_face: Index, points: Vec,
                           tree: cKDTree, close: Closeness) -> Index:
    """Return the tetrahedra, (n,), after each misplaced vertex is bound to the nearest face close to a neighbour.

    torn_pairs: rows (misplaced, neighbour).
    """
    misplaced, which = np.unique(torn_pairs[:, 0], return_inverse=True)
    count = min(CANDIDATES, len(faces))
    rows = tree.query(points[misplaced], np.arange(1, count + 1))[1]
    away = triangle_distances(points[misplaced][:, None], nodes[faces[rows]])
    candidates = tet_of_face[rows][which]
    neighbours = np.repeat(tet[torn_pairs[:, 1]], count)
    good = close(candidates.ravel(), neighbours).reshape(-1, count)
    reachable = np.zeros(rows.shape, dtype=bool)
    np.logical_or.at(reachable, which, good)
    away = np.where(reachable, away, np.inf)
    has_face = reachable.any(axis=1)
    moved = tet.copy()
    moved[misplaced[has_face]] = tet_of_face[nearest_of(rows, away)[0]][has_face]
    return moved


def nearest_of(faces: NDArray, distance: Vec) -> tuple[NDArray, Vec]:
    """Return the nearest of a few faces of each point, and the distance to it, (n,) each; of equally near faces the one
    with the lowest index.

    faces: (n, k). distance: (n, k), of a body whose extent is 1.
    """
    is_nearest = distance <= distance.min(axis=1, keepdims=True) + ALIKE
    best = np.where(is_nearest, faces, np.iinfo(faces.dtype).max).argmin(axis=1)
    row = np.arange(len(faces))
    return faces[row, best], distance[row, best]
