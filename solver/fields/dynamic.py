"""Which nodes are dynamic: one for each painted spot and each handle, or all that move as one with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ..state import Index, Vec

PAINTED = 0.5
SAME = 1.0e-9  #: of two distances: rounding


def patches(weights: Vec, triangles: Index) -> list[NDArray[np.int64]]:
    """Connected painted spots: the vertices of each, weight above 0.5 and linked by edges of triangles between them.

    weights: (n,) in [0, 1]; triangles: (m, 3). Spots come in the order of their first vertex.
    """
    painted = weights > PAINTED
    links = np.asarray(triangles)[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    links = links[painted[links].all(axis=1)]
    graph = coo_matrix((np.ones(len(links), dtype=np.int8), (links[:, 0], links[:, 1])), shape=(len(weights),) * 2)
    labels = connected_components(graph, directed=False)[1]
    marked = np.flatnonzero(painted)
    return [marked[labels[marked] == label] for label in dict.fromkeys(labels[marked].tolist())]


def patch_nodes(spots: list[NDArray[np.int64]], weights: Vec, vertices: Vec, corners: Index, nodes: Vec,
                part_of_node: Index, taken: NDArray[np.bool_]) -> list[int]:
    """For each painted spot the node nearest to its weighted centre; -1 where no node is left.

    vertices: (n, 3) [m]; corners: (n, 4) nodes of the tetrahedron that carries each vertex; part_of_node: (k,), only
    nodes of a part that carries the spot count; taken: (k,), nodes that may not be used, which is updated.
    """
    found = []
    for spot in spots:
        centre = np.average(vertices[spot], axis=0, weights=weights[spot])
        near = np.isin(part_of_node, np.unique(part_of_node[corners[spot]]))
        found.append(_nearest(centre, nodes, near & ~taken))
        if found[-1] >= 0:
            taken[found[-1]] = True
    return found


def point_nodes(points: Vec, nodes: Vec, border: Index, taken: NDArray[np.bool_]) -> list[int]:
    """For each point the nearest interior node, of the boundary where no interior one is left; -1 where none is.

    points: (p, 3) [m]; border: nodes on the boundary; taken: (k,), as above, updated.
    """
    inside = np.ones(len(nodes), dtype=bool)
    inside[border] = False
    found = []
    for point in points:
        node = _nearest(point, nodes, inside & ~taken)
        found.append(node if node >= 0 else _nearest(point, nodes, ~taken))
        if found[-1] >= 0:
            taken[found[-1]] = True
    return found


def spot_nodes(spots: list[NDArray[np.int64]], at_nodes: Vec, vertices: Vec, nodes: Vec,
               taken: NDArray[np.bool_]) -> list[Index]:
    """For each painted spot the free nodes below it: the weights carried there, (k,), are above 0.5, and it is nearest.

    Empty where a spot is smaller than a tetrahedron. The rest as in `patch_nodes`.
    """
    below = np.flatnonzero((at_nodes > PAINTED) & ~taken)
    owner = np.repeat(np.arange(len(spots)), [len(spot) for spot in spots])
    nearest = owner[cKDTree(vertices[np.concatenate(spots)]).query(nodes[below])[1]] if spots else below
    return [below[nearest == k].astype(np.int32) for k in range(len(spots))]


def around_points(points: Vec, radius: Vec, nodes: Vec, part_of_node: Index, single: list[int],
                  taken: NDArray[np.bool_]) -> list[Index]:
    """For each point the free nodes within its `radius`, (p,) [m], those of the part of its single node to which no
    other point is as near; that node at least. single: (p,), one for each point, -1 where none is left, which gets
    nothing."""
    away, near = cKDTree(points).query(nodes, k=[1, 2])
    nearest = near[:, 0]
    # in the middle of two of them it belongs to neither, as a mirror between them has it
    shared = away[:, 1] <= away[:, 0] * (1.0 + SAME)
    shared &= np.linalg.norm(points[nearest] - points[np.where(shared, near[:, 1], nearest)], axis=1) > SAME
    nearest = np.where((away[:, 0] <= radius[nearest] * (1.0 + SAME)) & ~shared, nearest, -1)
    found = []
    for k, node in enumerate(single):
        near = (nearest == k) & ~taken & (part_of_node == part_of_node[node]) if node >= 0 else taken[:0]
        found.append(np.union1d(np.flatnonzero(near), one_node(node)).astype(np.int32))
    return found


def one_node(node: int) -> Index:
    """A spot of this node, of none where it is -1."""
    return np.array([node] if node >= 0 else [], dtype=np.int32)


def _nearest(point: Vec, nodes: Vec, usable: NDArray[np.bool_]) -> int:
    """The usable node nearest to a point, -1 where there is none."""
    rows = np.flatnonzero(usable)
    return int(rows[cKDTree(nodes[rows]).query(point)[1]]) if len(rows) else -1
