"""Greedy choice of dynamic nodes: each is the node that removes most of the modal motion left by those before it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from ..errors import BadInput
from ..meshing.edge_graph import edge_graph
from ..meshing.volume import boundary_faces, tet_volumes
from ..state import Index, Mask, Vec
from .mirrored import find_mirrored_sets, images

SPACING = 0.5  #: smallest distance of two nodes, of the side of a cube of the volume per node
EDGES = 2.0  #: smallest distance of two nodes, in mean edge lengths
FREE = 1.0e-6  #: of the stiffest mode: softer modes are rigid
ROUNDING = 1.0e-6  #: relative tolerance of equally good nodes, which are chosen in their order
STRAIGHT = 0.8  #: smallest straight distance of two nodes of a set, of that along the body
SHARED = 1.0, 0.5, 0.0  #: powers of a set's size that divide the motion that it removes: the best one counts
AS_GOOD = 1.25  #: ratio of the motion that symmetric sets may leave to that of other nodes
SOFT = 1.0e-2 / 3.0  #: residual motion of a fixed node, of the largest motion, both squared


def farthest_nodes(nodes: Vec, tets: Index, mass: Vec, motion: Vec, count: int, pinned: Index,
                   chosen: Index, least: int | None = None) -> Index:
    """Return `count` nodes in the order of choice, (count,), each the node whose fixing leaves the least modal motion.

    nodes: (k, 3) [m]. tets: (e, 4). mass: (k,) [kg]. motion: of nodes in each mode, (k, 3, s). pinned: not to be
    picked. chosen: dynamic already. A fixed node removes its three rows from those of all others (the body then moves
    in the modes that leave the node at rest), so each is far from those before it in the motion of the whole body and
    not in its own: a thin tip moves most, but fixing it removes little. Interior nodes are picked, boundary nodes where
    there are none. A symmetric body gets nodes in symmetric sets where these leave hardly more motion, since other
    nodes would make it rotate on impact.

    Raises BadInput where no node is left that is far enough from others along the body, and fewer than `least` are
    found, default `count`.
    """
    usable = _usable(nodes, tets, pinned)
    usable[chosen] = False
    graph = edge_graph(nodes, tets)
    spacing, edge = np.cbrt(float(tet_volumes(nodes, tets).sum()) / (count + len(chosen))), float(graph.data.mean())
    start = _ModalMotion(graph, mass, max(SPACING * spacing, EDGES * edge), usable,
                         np.sqrt(mass)[:, None, None] * motion)
    start = start.fixing(chosen)

    at, added = start, np.zeros(0, dtype=np.int32)
    while len(added) < count:
        node = at.best(np.flatnonzero(at.usable)[:, None])
        if not len(node) and len(added) >= (count if least is None else least):
            break
        if not len(node):
            raise BadInput(f"it has room for {len(added)} dynamic nodes that are not too close to others, "
                           f"not for {count}", "Ask for fewer, or lower the edge length")
        at, added = at.fixing(node), np.concatenate([added, node])
    if len(chosen) or len(added) == 1:  # the centre of a free body is its own image, and has little motion
        return added
    for twins in images(nodes, mass, motion, edge):
        sets = [_in_sets(start, nodes, twins, len(added), shared) for shared in SHARED if len(twins) > 1]
        rest, mirrored = min(sets, key=lambda one: one[0], default=(np.inf, added))
        if rest <= AS_GOOD * at.rest:
            return mirrored
    return added


def _in_sets(start: _ModalMotion, nodes: Vec, twins: Index, count: int, shared: float) -> tuple[float, Index]:
    """Return the motion left when `count` nodes in symmetric sets are at rest, and these nodes, (count,).

    The motion is infinite where there are no such sets. twins: images of each node, (g, k). shared: as in
    `_Swing.best`.
    """
    at, added = start, np.zeros(0, dtype=np.int32)
    while len(added) < count:
        node = at.best(find_mirrored_sets(nodes, twins, at.usable, STRAIGHT * at.spacing, count - len(added)), shared)
        if not len(node):
            return np.inf, added
        at, added = at.fixing(node), np.concatenate([added, node])
    return at.rest, added


@dataclass(frozen=True)
class _ModalMotion:
    """Modal motion of a body that is left when the nodes chosen so far are at rest."""

    graph: csr_matrix  #: lengths of edges [m], (k, k)
    mass: Vec  #: (k,) [kg]
    spacing: float  #: smallest distance of chosen nodes along the body [m]
    usable: Mask  #: (k,)
    left: Vec  #: motion of nodes in each mode by the root of their mass, (k, 3, s)

    @property
    def rest(self) -> float:
        """Return the sum of squares of the motion left."""
        return float(np.einsum("kcs,kcs->", self.left, self.left))

    def best(self, sets: Index, shared: float = 0.0) -> Index:
        """Return the nodes of the set, of (c, m), that removes most motion, (n,), none where there is no set.

        shared: 0 counts a set as a whole, 1 by its nodes.
        """
        if not len(sets):
            return np.zeros(0, dtype=np.int32)
        repeats = 1 + (np.diff(np.sort(sets, axis=1), axis=1) > 0).sum(axis=1)
        taking = self._compute_removed_motion(sets) / repeats ** shared
        # equal but for rounding, as on both sides of a symmetric body: the first one, on any machine
        first = np.flatnonzero(taking >= (1.0 - ROUNDING) * taking.max())[0]
        best: Index = np.unique(sets[first]).astype(np.int32)
        return best

    def fixing(self, nodes: Index) -> _ModalMotion:
        """Return the motion left when these nodes are at rest too."""
        left, usable = self.left, self.usable.copy()
        for node in nodes.tolist():
            left = _fix_node(left, self.mass, node)
            usable &= dijkstra(self.graph, directed=False, indices=node, limit=self.spacing) >= self.spacing
        return replace(self, left=left, usable=usable)

    def _compute_removed_motion(self, sets: Index) -> Vec:
        """Return the motion removed when a set is fixed, (c,): tr (R Rᵀ)⁻¹ R W Rᵀ of its rows R, W = Σ RᵀR."""
        rows = self.left[sets] / np.sqrt(self.mass[sets])[:, :, None, None]
        rows = rows.reshape(len(sets), -1, rows.shape[-1])
        whole = np.einsum("kcs,kct->st", self.left, self.left)
        own = rows @ rows.transpose(0, 2, 1) + _compliance(self.left, self.mass) * np.eye(rows.shape[1])
        taken: Vec = np.trace(np.linalg.solve(own, rows @ whole @ rows.transpose(0, 2, 1)), axis1=1, axis2=2)
        return taken


def _fix_node(left: Vec, mass: Vec, node: int) -> Vec:
    """Return the motion left when a node is at rest, (k, 3, s): reduced along its rows, the more it exceeds the
    compliance."""
    _, size, across = np.linalg.svd(left[node] / np.sqrt(mass[node]), full_matrices=False)
    compliance = _compliance(left, mass)
    less = np.sqrt(compliance / (size**2 + compliance)) - 1.0
    remaining: Vec = left + ((left @ across.T) * less) @ across
    return remaining


def _compliance(left: Vec, mass: Vec) -> float:
    """Return the square of the residual motion of a fixed node, whose own tetrahedra are soft; comparable to tr R
    Rᵀ."""
    most = float((np.einsum("kcs,kcs->k", left, left) / mass).max())
    return SOFT * most + float(np.finfo(float).tiny)  # never zero: a body may have no motion left


def scale_to_equal_energy(shapes: Vec, stiffness: Vec) -> Vec:
    """Return the motion of nodes in modes of equal energy, (k, 3, s): X / √λ, so that slow modes count most.

    shapes: X at the nodes, (k, 3, s). stiffness: λ of each mode, (s,) [1/s²]. Rigid modes count as the slowest
    deforming mode: rotation separates both ends of a free body, which bending may not.
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
