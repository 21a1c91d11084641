"""Where dynamic nodes do most: each where most of the swing hangs on it that those before it have left."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import dijkstra

from ..errors import BadInput
from ..meshing.edge_graph import edge_graph
from ..meshing.volume import boundary_faces, tet_volumes
from ..state import Index, Mask, Vec

SPACING = 0.5  #: smallest distance of two nodes, as a share of the side of the cube that each has for itself
EDGES = 2.0  #: the same, in mean edge lengths
FREE = 1.0e-6  #: of the stiffest mode: what is softer moves without being deformed
ROUNDING = 1.0e-6  #: nodes that do as much but for this share are taken in their order
SOFT = 1.0e-2 / 3.0  #: how much a held node gives way, as a share of the largest swing, both squared


def farthest_nodes(nodes: Vec, tets: Index, mass: Vec, swings: Vec, count: int, pinned: Index,
                   chosen: Index, least: int | None = None) -> Index:
    """`count` nodes in the order in which they were found, each the one that leaves the rest the least to swing.

    nodes: (k, 3) [m]; tets: (e, 4); mass: (k,) [kg]; swings: what nodes do in each mode, (k, 3, s); pinned: not to be
    picked; chosen: dynamic already. A node that is held takes its three rows out of all others' (the body then moves in
    the modes that leave it at rest), so each is as far from what those before it tell as can be, by the swing of the
    whole body and not by its own: a thin tip swings most and takes nothing along. Nodes inside are picked, as by
    handles, those of the boundary where none is inside. Raises BadInput where no node is left that is not too close to
    another, along the body, and fewer than `least` are found, `count` where it is left out.
    """
    usable = _usable(nodes, tets, pinned)
    usable[chosen] = False
    graph = edge_graph(nodes, tets)
    room = np.cbrt(float(tet_volumes(nodes, tets).sum()) / (count + len(chosen)))
    spacing = max(SPACING * room, EDGES * float(graph.data.mean()))

    left = np.sqrt(mass)[:, None, None] * swings
    found: list[int] = []
    taken = [int(node) for node in chosen]
    while True:
        for node in taken:
            left = _held(left, mass, node)
            usable &= dijkstra(graph, directed=False, indices=node, limit=spacing) >= spacing
        if len(found) == count:
            return np.array(found, dtype=np.int32)
        candidates = np.flatnonzero(usable)
        if not len(candidates) and len(found) >= (count if least is None else least):
            return np.array(found, dtype=np.int32)
        if not len(candidates):
            raise BadInput(f"it has room for {len(found)} dynamic nodes that are not too close to others, "
                           f"not for {count}", "Ask for fewer, or lower the edge length")
        taking = _taken_along(left, mass, candidates)
        # equal but for rounding, as on both sides of a symmetric body: the first one, whatever the machine
        node = int(candidates[np.flatnonzero(taking >= (1.0 - ROUNDING) * taking.max())[0]])
        found.append(node)
        taken = [node]


def _taken_along(left: Vec, mass: Vec, candidates: Index) -> Vec:
    """How much of all swing goes when one node is held, (c,): tr (R Rᵀ)⁻¹ R W Rᵀ of its three rows R, W = Σ RᵀR."""
    rows = left[candidates] / np.sqrt(mass[candidates])[:, None, None]
    whole = np.einsum("kcs,kct->st", left, left)
    own = rows @ rows.transpose(0, 2, 1) + _give(left, mass) * np.eye(3)
    taken: Vec = np.trace(np.linalg.solve(own, rows @ whole @ rows.transpose(0, 2, 1)), axis1=1, axis2=2)
    return taken


def _held(left: Vec, mass: Vec, node: int) -> Vec:
    """What is left of all swing when a node is held, (k, 3, s): less along its rows, none where it moves by far more
    than it gives way."""
    _, size, across = np.linalg.svd(left[node] / np.sqrt(mass[node]), full_matrices=False)
    give = _give(left, mass)
    less = np.sqrt(give / (size**2 + give)) - 1.0
    remaining: Vec = left + ((left @ across.T) * less) @ across
    return remaining


def _give(left: Vec, mass: Vec) -> float:
    """How much a node that is held still moves, its own tetrahedra being soft; a square, as tr R Rᵀ."""
    most = float((np.einsum("kcs,kcs->k", left, left) / mass).max())
    return SOFT * most + float(np.finfo(float).tiny)  # never nothing: a body of one piece may have no swing left


def swings(shapes: Vec, stiffness: Vec) -> Vec:
    """What nodes do in modes of equal energy, (k, 3, s): X / √λ, so that slow modes count most.

    shapes: X at the nodes, (k, 3, s); stiffness: λ of each mode [1/s²], (s,). Those that deform nothing count as the
    slowest that does: turning keeps both ends of a loose body apart, which its bending may not.
    """
    slowest = stiffness[stiffness > FREE * stiffness.max(initial=0.0)].min(initial=np.inf)
    weighed: Vec = shapes / np.sqrt(np.maximum(stiffness, slowest))
    return weighed


def _usable(nodes: Vec, tets: Index, pinned: Index) -> Mask:
    usable = np.ones(len(nodes), dtype=bool)
    usable[np.unique(boundary_faces(tets)[0])] = False
    usable[pinned] = False
    if not usable.any():
        usable[:] = True
        usable[pinned] = False
    return usable
