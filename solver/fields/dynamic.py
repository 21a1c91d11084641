"""Choice of dynamic nodes: one for each painted spot and each handle, or all that move as one with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ..state import Index, Vec

PAINTED = 0.5  #: weight above which a vertex or node is part of a spot
SAME = 1.0e-9  #: relative tolerance of equal distances


def patches(weights: Vec, triangles: Index) -> list[NDArray[np.int64]]:
    """Return the vertices of each connected painted spot: of weight above 0.5, connected by edges of triangles between
    them.

    weights: (n,) in [0, 1]. triangles: (m, 3). Spots are in the order of their first vertex.
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
    """Return the node nearest to the weighted centre of each painted spot; −1 where no node is free.

    spots: vertices of each. weights: (n,). vertices: (n, 3) [m]. corners: nodes of the tetrahedron around each vertex,
    (n, 4). nodes: (k, 3) [m]. part_of_node: (k,); a spot takes only nodes of its own parts. taken: (k,), nodes that may
    not be used, which is updated.
    """
    chosen = []
    for spot in spots:
        centre = np.average(vertices[spot], axis=0, weights=weights[spot])
        near = np.isin(part_of_node, np.unique(part_of_node[corners[spot]]))
        chosen.append(_nearest(centre, nodes, near & ~taken))
        if chosen[-1] >= 0:
            taken[chosen[-1]] = True
    return chosen


def point_nodes(points: Vec, nodes: Vec, border: Index, taken: NDArray[np.bool_]) -> list[int]:
    """Return the nearest interior node of each point; a boundary node where no interior one is free, −1 where none is.

    points: (p, 3) [m]. nodes: (k, 3) [m]. border: nodes on the boundary. taken: (k,), nodes that may not be used, which
    is updated.
    """
    inside = np.ones(len(nodes), dtype=bool)
    inside[border] = False
    chosen = []
    for point in points:
        node = _nearest(point, nodes, inside & ~taken)
        chosen.append(node if node >= 0 else _nearest(point, nodes, ~taken))
        if chosen[-1] >= 0:
            taken[chosen[-1]] = True
    return chosen


def spot_nodes(spots: list[NDArray[np.int64]], at_nodes: Vec, vertices: Vec, nodes: Vec,
               taken: NDArray[np.bool_]) -> list[Index]:
    """Return the free nodes below each painted spot: those of weight above 0.5 to which the spot is nearest.

    at_nodes: weights at the nodes, (k,). vertices: (n, 3) [m]. nodes: (k, 3) [m]. taken: (k,), nodes that may not be
    used. Empty for a spot that is smaller than a tetrahedron.
    """
    below = np.flatnonzero((at_nodes > PAINTED) & ~taken)
    owner = np.repeat(np.arange(len(spots)), [len(spot) for spot in spots])
    nearest = owner[cKDTree(vertices[np.concatenate(spots)]).query(nodes[below])[1]] if spots else below
    return [below[nearest == k].astype(np.int32) for k in range(len(spots))]


def around_points(points: Vec, radius: Vec, nodes: Vec, part_of_node: Index, single: list[int],
                  taken: NDArray[np.bool_]) -> list[Index]:
    """Return the free nodes around each point: within its radius, in the part of its single node, nearest to this
    point.

    points: (p, 3) [m]. radius: (p,) [m]. nodes: (k, 3) [m]. part_of_node: (k,). single: the node of each point, which
    is always included; −1 for none, which returns no nodes. taken: (k,), nodes that may not be used. A node midway
    between two points belongs to neither.
    """
    away, near = cKDTree(points).query(nodes, k=[1, 2])
    nearest = near[:, 0]
    # a node midway between two points belongs to neither, so that mirrored points get mirrored nodes
    shared = away[:, 1] <= away[:, 0] * (1.0 + SAME)
    shared &= np.linalg.norm(points[nearest] - points[np.where(shared, near[:, 1], nearest)], axis=1) > SAME
    nearest = np.where((away[:, 0] <= radius[nearest] * (1.0 + SAME)) & ~shared, nearest, -1)
    chosen = []
    for k, node in enumerate(single):
        near = (nearest == k) & ~taken & (part_of_node == part_of_node[node]) if node >= 0 else taken[:0]
        chosen.append(np.union1d(np.flatnonzero(near), one_node(node)).astype(np.int32))
    return chosen


def one_node(node: int) -> Index:
    """Return a node as an array, (1,), or an empty one, (0,), where it is −1."""
    return np.array([node] if node >= 0 else [], dtype=np.int32)


def _nearest(point: Vec, nodes: Vec, usable: NDArray[np.bool_]) -> int:
    """Return the usable node nearest to a point, −1 where there is none."""
    rows = np.flatnonzero(usable)
    return int(rows[cKDTree(nodes[rows]).query(point)[1]]) if len(rows) else -1
