"""Volumes of tetrahedra: their sizes, boundary, parts and quality."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ..state import Index, Vec

# the face opposite to each corner, seen counter-clockwise from outside of a positive tetrahedron
FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])
SIDES = np.array([[0, 1], [1, 2], [2, 0]])  #: of a triangle
EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])


@dataclass(frozen=True)
class Volume:
    """Tetrahedra that fill an object, positively oriented. Every node belongs to a tetrahedron; cloth and ropes have
    nodes only."""

    nodes: Vec  #: positions [m], (k, 3)
    tets: Index  #: corners, (e, 4)
    notes: tuple[str, ...] = ()  #: sentences for the user about what was done to the surface
    #: axes of the object in its columns, (3, 3); those of the world where the object has none of its own
    axes: Vec = field(default_factory=lambda: np.eye(3))

    @property
    def extents(self) -> Vec:
        """Return the extents of the nodes along the axes of the object [m], (3,): they do not depend on its
        orientation."""
        return self.extents_of(self.nodes)

    @property
    def diagonal(self) -> float:
        """Return the diagonal of the box around the nodes along the axes of the object [m]."""
        return float(np.linalg.norm(self.extents))

    def extents_of(self, points: Vec) -> Vec:
        """Return the extents of points (n, 3) along the axes of the object [m], (3,)."""
        extents: Vec = np.ptp(points @ self.axes, axis=0)
        return extents


def tet_volumes(nodes: Vec, tets: Index) -> Vec:
    """Return the signed volume of each tetrahedron [m³], (e,): positive where det[x1−x0, x2−x0, x3−x0] > 0. nodes: (k,
    3) [m]. tets: (e, 4)."""
    a, b, c, d = (nodes[tets[:, i]] for i in range(4))
    signed: Vec = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6.0
    return signed


def shape_gradients(nodes: Vec, tets: Index) -> tuple[Vec, Vec]:
    """Return ∇φ of the four corners of each tetrahedron [1/m], (e, 4, 3), and six times its signed volume [m³], (e,).
    nodes: (k, 3) [m]. tets: (e, 4)."""
    edges = nodes[tets[:, 1:]] - nodes[tets[:, :1]]
    across = np.stack([np.cross(edges[:, (i + 1) % 3], edges[:, (i + 2) % 3]) for i in range(3)], axis=1)
    six_volumes = np.einsum("ij,ij->i", edges[:, 0], across[:, 0])
    gradients = across / six_volumes[:, None, None]
    return np.concatenate([-gradients.sum(axis=1, keepdims=True), gradients], axis=1), six_volumes


def tet_quality(nodes: Vec, tets: Index) -> Vec:
    """Return the mean ratio of each tetrahedron, (e,): 1 for a regular one, 0 for a flat one, negative for an inverted
    one."""
    lengths = ((nodes[tets[:, EDGES[:, 0]]] - nodes[tets[:, EDGES[:, 1]]]) ** 2).sum(axis=(1, 2))
    volumes = tet_volumes(nodes, tets)
    quality: Vec = np.sign(volumes) * 12.0 * np.cbrt(3.0 * np.abs(volumes)) ** 2 / np.maximum(lengths, 1e-300)
    return quality


def tet_faces(tets: Index) -> tuple[Index, NDArray[np.int64]]:
    """Return every face of every tetrahedron: its corners facing outwards (4e, 3) and the number of its face group
    (4e,).

    Faces with the same three nodes share a group number; row 4t + i is the face opposite to corner i of tet t.
    """
    corners = tets[:, FACES].reshape(-1, 3)
    ordered = np.sort(corners, axis=1).astype(np.int64)
    key = (ordered[:, 0] << 42) | (ordered[:, 1] << 21) | ordered[:, 2]
    if len(tets) and tets.max() >= 1 << 21:
        return corners, np.unique(ordered, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return corners, np.unique(key, return_inverse=True)[1].astype(np.int64)


def boundary_faces(tets: Index) -> tuple[Index, Index]:
    """Return the faces that belong to one tetrahedron only: corners (b, 3), facing outwards, and their tetrahedra (b,).
    """
    corners, group = tet_faces(tets)
    border = np.flatnonzero(np.bincount(group)[group] == 1)
    return corners[border], (border // 4).astype(np.int32)


def face_parts(tets: Index) -> tuple[int, Index]:
    """Return the number of parts that are connected through whole faces, and the part of each tetrahedron, (e,).

    Parts that only share a node or an edge are separate, since they may turn about it.
    """
    _, group = tet_faces(tets)
    tet = np.arange(len(group)) // 4
    faces = int(group.max()) + 1 if len(group) else 0
    graph = coo_matrix((np.ones(len(group), dtype=np.int8), (tet, len(tets) + group)),
                       shape=(len(tets) + faces, len(tets) + faces))
    _, labels = connected_components(graph, directed=False)
    names, part = np.unique(labels[:len(tets)], return_inverse=True)
    return len(names), part.astype(np.int32)


def drop_unused_nodes(nodes: Vec, tets: Index) -> tuple[Vec, Index]:
    """Return nodes (k, 3) and tetrahedra (e, 4) without the nodes that no tetrahedron uses."""
    used, corners = np.unique(tets, return_inverse=True)
    return nodes[used], corners.reshape(-1, 4).astype(np.int32)


def find_edges(corners: Index, sides: Index) -> Index:
    """Return every edge of simplices once, smaller node first and in ascending order, (k, 2).

    corners: (e, c) nodes of each simplex. sides: (s, 2) which of its corners its edges join.
    """
    ends = np.sort(corners[:, sides].reshape(-1, 2).astype(np.int64), axis=1)
    keys = np.unique(ends[:, 0] << 32 | ends[:, 1])
    edges: Index = np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1).astype(np.int32)
    return edges


def mean_edge(x: Vec, triangles: Index) -> float:
    """Return the mean length of the edges of triangles (t, 3) at positions x, (n, 3) [m], each edge counted once [m].
    """
    pairs = find_edges(triangles, np.array([[0, 1], [1, 2], [2, 0]]))
    return float(np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1).mean())


def nonmanifold_edges(triangles: Index) -> int:
    """Return the number of edges of a surface, (t, 3), that do not have exactly two triangles."""
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64), axis=1)
    _, counts = np.unique(edges[:, 0] << 32 | edges[:, 1], return_counts=True)
    return int((counts != 2).sum())


def find_connected_nodes(elements: Index, count: int) -> list[Index]:
    """Return the nodes of each connected piece of triangles or links, where a common node connects them too. elements:
    (m, 3) or (m, 2). count: number of all nodes; nodes of no element are in no piece."""
    first, second = elements[:, :-1].ravel(), elements[:, 1:].ravel()
    graph = coo_matrix((np.ones(len(first)), (first, second)), shape=(count, count))
    _, piece = connected_components(graph, directed=False)
    used = np.unique(elements)
    return [used[piece[used] == k].astype(np.int32) for k in np.unique(piece[used])]


def split_pinches(nodes: Vec, tets: Index) -> tuple[Vec, Index]:
    """Return nodes (k, 3) and tetrahedra (e, 4) with nodes doubled where two sides of one part touch in a point or an
    edge only.

    Lips or fingers that a mesher joined at a node are separate again. Different parts that share a node do not change.
    """
    corners, group = tet_faces(tets)
    _, part = face_parts(tets)
    # one vertex of the graph for each corner of each tet; corners of one node are linked across shared faces
    slot = np.arange(4 * len(tets)).reshape(-1, 4)[:, FACES].reshape(-1, 3)
    order = np.argsort(group, kind="stable")
    first = order[:-1][group[order[:-1]] == group[order[1:]]]
    second = order[1:][group[order[:-1]] == group[order[1:]]]
    a, b = np.argsort(corners[first], axis=1), np.argsort(corners[second], axis=1)
    left = np.take_along_axis(slot[first], a, axis=1).ravel()
    right = np.take_along_axis(slot[second], b, axis=1).ravel()
    graph = coo_matrix((np.ones(len(left), dtype=np.int8), (left, right)), shape=(tets.size, tets.size))
    _, fan = connected_components(graph, directed=False)

    # fans of one node in the same part: the first keeps the node, each further one gets a copy
    owner, fan_of_slot = tets.ravel(), fan
    fans, at = np.unique(fan_of_slot, return_index=True)
    node_of_fan, part_of_fan = owner[at], np.repeat(part, 4)[at]
    _, first_of_pair, pair = np.unique(np.stack([node_of_fan, part_of_fan], axis=1), axis=0,
                                       return_index=True, return_inverse=True)
    copies = np.flatnonzero(np.arange(len(fans)) != first_of_pair[pair.reshape(-1)])
    new_of_fan = node_of_fan.astype(np.int64)
    new_of_fan[copies] = len(nodes) + np.arange(len(copies))
    split = new_of_fan[np.searchsorted(fans, fan_of_slot)].reshape(-1, 4).astype(np.int32)
    return np.concatenate([nodes, nodes[node_of_fan[copies]]]), split
