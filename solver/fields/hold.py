"""Choice of nodes that hold painted vertices where the painted map inside prescribes too few."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..meshing.volume import face_parts, tet_volumes
from ..state import Index, Mask, Vec

FIRM = 0.5  #: least sum of the weights of a vertex's prescribed corners
FLAT = 1e-3  #: of their extent: vertices closer to a line, and nodes closer to a point, lie on it
THICK = 0.02  #: of their extent: nodes closer to a line do not prevent rotation about it
NEAREST = 12  #: candidate nodes that may be moved to a vertex
SHRUNK = 0.2  #: least fraction of its volume that a tetrahedron retains when a node is moved


def firm_nodes(vertices: Vec, corners: Index, weights: Vec, nodes: Vec, tets: Index, prescribed: Mask,
               free: Mask) -> tuple[Mask, Vec]:
    """Return the nodes that hold painted vertices, as a mask (k,), and the positions of all nodes for that, (k, 3) [m].

    vertices: painted ones, (p, 3) [m], with the nodes of the tetrahedron around each and its weights there, (p, 4)
    each. nodes: (k, 3) [m]. tets: (e, 4). prescribed: nodes where the map is above 0.5, (k,). free: nodes that may be
    prescribed, (k,).

    Each part of the volume is independent. One painted vertex, or a straight row, is a hinge, unless a mesh coarser
    than the tetrahedra has paint at nodes that span a plane: one node is moved to each vertex, the part rotates freely
    about these, and no other node is prescribed. For all others the corners of largest weight are prescribed until
    their weights sum to 0.5, and at least three nodes that span a plane prevent rotation.
    """
    prescribed, positions = prescribed & free, nodes
    _, part_of_tet = face_parts(tets)
    part_of_node = np.zeros(len(nodes), dtype=np.int64)
    part_of_node[tets] = part_of_tet[:, None]
    part_of_vertex = part_of_node[corners[:, 0]]
    for part in np.unique(part_of_vertex):
        of_part, own = np.flatnonzero(part_of_vertex == part), np.flatnonzero((part_of_node == part) & free)
        if not len(own):
            continue
        if max(_count_dimensions(vertices[of_part], FLAT), _count_dimensions(nodes[own[prescribed[own]]], THICK)) < 2:
            hinges, positions = _move_to_vertices(vertices[of_part], own, positions, tets)
            prescribed[own] = False
            prescribed[hinges] = True
            continue
        _add_heaviest(corners[of_part], weights[of_part], prescribed, free)
        has_area = _count_dimensions(vertices[of_part], FLAT) >= 2
        if has_area and _count_dimensions(nodes[own[prescribed[own]]], THICK) < 2:
            centre = np.linalg.norm(vertices[of_part] - vertices[of_part].mean(axis=0), axis=1).argmin()
            of = of_part[centre]
            heaviest = corners[of][np.argsort(-weights[of], kind="stable")]
            prescribed[heaviest[free[heaviest]][:3]] = True
    return prescribed, positions


def _add_heaviest(corners: Index, weights: Vec, prescribed: Mask, free: Mask) -> None:
    """Prescribe the corners of largest weight of each vertex until the weights of prescribed corners sum to `FIRM`."""
    for _ in range(corners.shape[1]):
        firm = np.where(prescribed[corners], weights, 0.0).sum(axis=1) >= FIRM
        free_weights = np.where(~prescribed[corners] & free[corners], weights, -np.inf)
        more = ~firm & (free_weights.max(axis=1) > 0.0)
        if not more.any():
            return
        prescribed[corners[more, free_weights[more].argmax(axis=1)]] = True


def _count_dimensions(points: Vec, flat: float) -> int:
    """Return the dimension that points (p, 3) span, to the tolerance `flat`: 0 for a point, 1 for a line, and so on."""
    if len(points) < 2:
        return 0
    extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return int((extents > flat * max(extents[0], 1e-300)).sum()) if extents[0] > 0.0 else 0


def _move_to_vertices(vertices: Vec, own: Index, nodes: Vec, tets: Index) -> tuple[Index, Vec]:
    """Return nodes that hold vertices (p, 3) [m], and all nodes (k, 3) [m] with each of these moved to its nearest
    vertex.

    own: nodes to choose from. A node does not move where that would shrink a tetrahedron below `SHRUNK`.
    """
    positions, chosen = nodes.copy(), dict[int, int]()
    distance, near = cKDTree(nodes[own]).query(vertices, np.arange(1, min(NEAREST, len(own)) + 1))
    for vertex in np.argsort(distance[:, 0], kind="stable"):
        if int(own[near[vertex, 0]]) in chosen:
            continue
        for node in map(int, own[near[vertex]]):
            around = tets[(tets == node).any(axis=1)]
            tried = positions.copy()
            tried[node] = vertices[vertex]
            if (tet_volumes(tried, around) >= SHRUNK * tet_volumes(nodes, around)).all() and node not in chosen:
                positions, chosen[node] = tried, int(vertex)
                break
        else:
            chosen[int(own[near[vertex, 0]])] = int(vertex)
    return np.array(sorted(chosen), dtype=np.int32), positions
