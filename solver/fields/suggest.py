"""Where dynamic nodes do most: as far from each other as can be, measured by how the body swings."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from ..errors import BadInput
from ..meshing.volume import boundary_faces, tet_volumes
from ..state import Index, Mask, Vec

SPACING = 0.5  #: smallest distance of two nodes, as a share of the side of the cube that each has for itself
EDGES = 2.0  #: the same, in mean edge lengths
FREE = 1.0e-6  #: of the stiffest mode: what is softer moves without being deformed
ROUNDING = 1.0e-6  #: of the largest distance: nodes that differ by less are taken in their order


def farthest_nodes(nodes: Vec, tets: Index, swings: Vec, count: int, pinned: Index, chosen: Index) -> Index:
    """`count` nodes in the order in which they were found, each the farthest from those before it in how it swings.

    nodes: (k, 3) [m]; tets: (e, 4); swings: what each node does in the modes, (k, c), so that nodes are as far apart as
    their rows; pinned: not to be picked; chosen: dynamic already. The first stands farthest from what does not move.
    Nodes inside are picked, as by handles, those of the boundary where none is inside. Raises BadInput where no node is
    left that is not too close to another, along the body.
    """
    usable = _usable(nodes, tets, pinned)
    usable[chosen] = False
    graph, edge = _edges(nodes, tets)
    room = np.cbrt(float(tet_volumes(nodes, tets).sum()) / (count + len(chosen)))
    spacing = max(SPACING * room, EDGES * edge)

    apart = np.einsum("kc,kc->k", swings, swings)
    found: list[int] = []
    taken = [int(node) for node in chosen]
    while True:
        for node in taken:
            apart = np.minimum(apart, ((swings - swings[node]) ** 2).sum(axis=1))
            usable &= dijkstra(graph, directed=False, indices=node, limit=spacing) >= spacing
        if len(found) == count:
            return np.array(found, dtype=np.int32)
        left = np.where(usable, apart, -1.0)
        if not usable.any():
            raise BadInput(f"it has room for {len(found)} dynamic nodes that are not too close to others, "
                           f"not for {count}", "Ask for fewer, or lower the edge length")
        # equal but for rounding, as on both sides of a symmetric body: the first one, whatever the machine
        node = int(np.flatnonzero(left >= left.max() - ROUNDING * apart.max(initial=0.0))[0])
        found.append(node)
        taken = [node]


def swings(shapes: Vec, stiffness: Vec) -> Vec:
    """What nodes do in modes of equal energy, (k, 3 s): X / √λ, so that slow modes count most.

    shapes: X at the nodes, (k, 3, s); stiffness: λ of each mode [1/s²], (s,). Those that deform nothing count as the
    slowest that does: turning keeps both ends of a loose body apart, which its bending may not.
    """
    slowest = stiffness[stiffness > FREE * stiffness.max(initial=0.0)].min(initial=np.inf)
    weighed: Vec = (shapes / np.sqrt(np.maximum(stiffness, slowest))).reshape(len(shapes), -1)
    return weighed


def _usable(nodes: Vec, tets: Index, pinned: Index) -> Mask:
    usable = np.ones(len(nodes), dtype=bool)
    usable[np.unique(boundary_faces(tets)[0])] = False
    usable[pinned] = False
    if not usable.any():
        usable[:] = True
        usable[pinned] = False
    return usable


def _edges(nodes: Vec, tets: Index) -> tuple[csr_matrix, float]:
    """Lengths of the edges as a sparse matrix, (k, k), and their mean [m]."""
    pairs = np.sort(tets[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2), axis=1)
    pairs = np.unique(pairs, axis=0)
    lengths = np.linalg.norm(nodes[pairs[:, 0]] - nodes[pairs[:, 1]], axis=1)
    return csr_matrix((lengths, (pairs[:, 0], pairs[:, 1])), shape=(len(nodes),) * 2), float(lengths.mean())
