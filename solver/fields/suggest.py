"""Choice of dynamic nodes: each is the one that takes most of the modal motion that those before it have left."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from ..errors import BadInput
from ..meshing.edge_graph import edge_graph
from ..meshing.volume import boundary_faces, tet_volumes
from ..state import Index, Mask, Vec
from .mirrored import images, whole_sets

SPACING = 0.5  #: smallest distance of two nodes, as a share of the side of the cube that each has for itself
EDGES = 2.0  #: the same, in mean edge lengths
FREE = 1.0e-6  #: of the stiffest mode: what is softer moves without being deformed
ROUNDING = 1.0e-6  #: nodes that do as much but for this share are taken in their order
STRAIGHT = 0.8  #: of that along a body: smallest distance in a straight line of two nodes of a set
SHARED = 1.0, 0.5, 0.0  #: powers of how many a set has that what it takes along is divided by: the best one counts
AS_GOOD = 1.25  #: times what is left to swing: sets that mirror each other may leave so much more
SOFT = 1.0e-2 / 3.0  #: how much a fixed node gives way, as a share of the largest swing, both squared


def farthest_nodes(nodes: Vec, tets: Index, mass: Vec, motion: Vec, count: int, pinned: Index,
                   chosen: Index, least: int | None = None) -> Index:
    """Return `count` nodes in the order of choice, each the one that leaves the least motion when it is at rest.

    nodes: (k, 3) [m]; tets: (e, 4); mass: (k,) [kg]; motion: of nodes in each mode, (k, 3, s); pinned: not to be
    picked; chosen: dynamic already. A fixed node takes its three rows out of all others' (the body then moves in
    the modes that leave it at rest), so each is as far as can be from those before it in the motion of
    the whole body and not in its own: a thin tip moves most and takes nothing along. Nodes inside are picked, as by
    handles, those of the boundary where none is inside. What mirrors itself gets as many in sets that do so too where
    these leave no more to swing but for a little: what lands would be turned by others. Raises BadInput where no node
    is left that is not too close to another, along the body, and fewer than `least` are found, `count` where it is left
    out.
    """
    usable = _usable(nodes, tets, pinned)
    usable[chosen] = False
    graph = edge_graph(nodes, tets)
    room, edge = np.cbrt(float(tet_volumes(nodes, tets).sum()) / (count + len(chosen))), float(graph.data.mean())
    start = _Swing(graph, mass, max(SPACING * room, EDGES * edge), usable, np.sqrt(mass)[:, None, None] * motion)
    start = start.fixing(chosen)

    at, found = start, np.zeros(0, dtype=np.int32)
    while len(found) < count:
        node = at.best(np.flatnonzero(at.usable)[:, None])
        if not len(node) and len(found) >= (count if least is None else least):
            break
        if not len(node):
            raise BadInput(f"it has room for {len(found)} dynamic nodes that are not too close to others, "
                           f"not for {count}", "Ask for fewer, or lower the edge length")
        at, found = at.fixing(node), np.concatenate([found, node])
    if len(chosen) or len(found) == 1:  # the centre of a free body mirrors itself, and shows little
        return found
    for twins in images(nodes, mass, motion, edge):
        sets = [_in_sets(start, nodes, twins, len(found), shared) for shared in SHARED if len(twins) > 1]
        rest, mirrored = min(sets, key=lambda one: one[0], default=(np.inf, found))
        if rest <= AS_GOOD * at.rest:
            return mirrored
    return found


def _in_sets(start: _Swing, nodes: Vec, twins: Index, count: int, shared: float) -> tuple[float, Index]:
    """Return the motion left when `count` nodes in sets that mirror each other are at rest, and these, (count,);
    infinite where there are none. twins: images of each node, (g, k). shared: as in `_Swing.best`."""
    at, found = start, np.zeros(0, dtype=np.int32)
    while len(found) < count:
        node = at.best(whole_sets(nodes, twins, at.usable, STRAIGHT * at.spacing, count - len(found)), shared)
        if not len(node):
            return np.inf, found
        at, found = at.fixing(node), np.concatenate([found, node])
    return at.rest, found


@dataclass(frozen=True)
class _Swing:
    """Modal motion of a body that is left when the nodes chosen so far are at rest."""

    graph: csr_matrix  #: lengths of edges [m], (k, k)
    mass: Vec  #: (k,) [kg]
    spacing: float  #: smallest distance of chosen nodes along the body [m]
    usable: Mask  #: (k,)
    left: Vec  #: motion of nodes in each mode by the root of their mass, (k, 3, s)

    @property
    def rest(self) -> float:
        """Sum of its squares."""
        return float(np.einsum("kcs,kcs->", self.left, self.left))

    def best(self, sets: Index, shared: float = 0.0) -> Index:
        """The nodes of the set, of (c, m), that takes most along, (n,), none where there is no set. shared: 0 counts a
        set as a whole, 1 by its nodes."""
        if not len(sets):
            return np.zeros(0, dtype=np.int32)
        taking = self._taken_along(sets) / (1 + (np.diff(np.sort(sets, axis=1), axis=1) > 0).sum(axis=1)) ** shared
        # equal but for rounding, as on both sides of a symmetric body: the first one, whatever the machine
        first = np.flatnonzero(taking >= (1.0 - ROUNDING) * taking.max())[0]
        found: Index = np.unique(sets[first]).astype(np.int32)
        return found

    def fixing(self, nodes: Index) -> _Swing:
        """Return the motion left when these nodes are at rest too."""
        left, usable = self.left, self.usable.copy()
        for node in nodes.tolist():
            left = _fixed(left, self.mass, node)
            usable &= dijkstra(self.graph, directed=False, indices=node, limit=self.spacing) >= self.spacing
        return replace(self, left=left, usable=usable)

    def _taken_along(self, sets: Index) -> Vec:
        """Return how much of all swing goes when a set is fixed, (c,): tr (R Rᵀ)⁻¹ R W Rᵀ of its rows R, W = Σ RᵀR."""
        rows = self.left[sets] / np.sqrt(self.mass[sets])[:, :, None, None]
        rows = rows.reshape(len(sets), -1, rows.shape[-1])
        whole = np.einsum("kcs,kct->st", self.left, self.left)
        own = rows @ rows.transpose(0, 2, 1) + _give(self.left, self.mass) * np.eye(rows.shape[1])
        taken: Vec = np.trace(np.linalg.solve(own, rows @ whole @ rows.transpose(0, 2, 1)), axis1=1, axis2=2)
        return taken


def _fixed(left: Vec, mass: Vec, node: int) -> Vec:
    """Return the motion left when a node is at rest, (k, 3, s): less along its rows, none where it moves by far more
    than its compliance."""
    _, size, across = np.linalg.svd(left[node] / np.sqrt(mass[node]), full_matrices=False)
    give = _give(left, mass)
    less = np.sqrt(give / (size**2 + give)) - 1.0
    remaining: Vec = left + ((left @ across.T) * less) @ across
    return remaining


def _give(left: Vec, mass: Vec) -> float:
    """Return how much a node that is fixed still moves, its own tetrahedra being soft; a square, as tr R Rᵀ."""
    most = float((np.einsum("kcs,kcs->k", left, left) / mass).max())
    return SOFT * most + float(np.finfo(float).tiny)  # never nothing: a body of one piece may have no swing left


def equal_energy_motion(shapes: Vec, stiffness: Vec) -> Vec:
    """Return motion of nodes in modes of equal energy, (k, 3, s): X / √λ, so that slow modes count most.

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
