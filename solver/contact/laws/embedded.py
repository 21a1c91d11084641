"""Surfaces of vertices that nodes carry: what touches is the artist's mesh, and what is pushed are its tetrahedra.

A law between surfaces sees all nodes and, behind them, the carried vertices, p = W x. Forces go back by Wᵀ, stiffness
is Wᵀ K W. What is straight in x is straight in p, so a bound of what vertices may move bounds nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ...forces.stencils import StencilForce, Stencils
from ...state import Index, Vec
from .interface import Bounds, ContactLaw, Gaps

ROUNDS = 4  #: in which nodes are held up by what they carry, before all are held up alike
PAIRS = np.array([[1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2]])  #: of a stencil's nodes, as its blocks stand


@dataclass(frozen=True)
class Riding:
    """Vertices that nodes carry, behind the nodes."""

    corners: Index  #: four nodes of each, (v, 4)
    weights: Vec  #: (v, 4), the sum of each row is 1
    nodes: int  #: how many there are

    def places(self, x: Vec) -> Vec:
        """Of nodes and then vertices, (n + v, 3), for those of the nodes, (n, 3); or any (n, c)."""
        return np.concatenate([x, np.einsum("vc,vci->vi", self.weights, x[self.corners])])

    @cached_property
    def matrix(self) -> sp.csr_matrix:
        """W with the nodes' own rows before it, (n + v, n)."""
        count, riding = self.nodes, len(self.corners)
        starts = np.concatenate([np.arange(count), count + 4 * np.arange(riding + 1)])
        return sp.csr_matrix((np.concatenate([np.ones(count), self.weights.ravel()]),
                              np.concatenate([np.arange(count), self.corners.ravel()]), starts),
                             shape=(count + riding, count))

    @cached_property
    def by_axis(self) -> sp.csr_matrix:
        """The same of coordinates, (3 n + 3 v, 3 n)."""
        return sp.kron(self.matrix, sp.identity(3), format="csr")


class EmbeddedForce:
    """A force on nodes and on vertices that they carry, as one on nodes alone."""

    def __init__(self, inner: StencilForce, riding: Riding) -> None:
        self._force, self._riding = inner, riding

    def measure(self, x: Vec, time: float) -> Stencils:
        """Forces and energy at positions (n, 3) [m], without blocks."""
        return self._on_nodes(self._force.measure(self._riding.places(x), time), False)

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """The same with blocks; K is negative semi-definite if `project`."""
        return self._on_nodes(self._force.fill(self._riding.places(x), time, project), True)

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """It does not."""

    def _on_nodes(self, told: Stencils, with_blocks: bool) -> Stencils:
        """Pairs of nodes, in the order of their numbers, and half of each node's force at a pair of its own."""
        count = self._riding.matrix.shape[0]
        whole = np.zeros((count, 3))
        told.add_forces(whole)
        force = self._riding.matrix.T @ whole
        pushed = np.unique(self._carriers(told.nodes))
        own = np.repeat(pushed[:, None], 2, axis=1)
        forces = np.zeros((len(pushed), 2, 3))
        forces[:, 0] = force[pushed]
        if not with_blocks or not len(told.nodes):
            return Stencils(own.astype(np.int32), forces, np.zeros((0, 1, 9)), told.energy)
        stiffness = self._riding.by_axis.T @ _stiffness(told, count) @ self._riding.by_axis
        blocks = sp.bsr_matrix(stiffness, blocksize=(3, 3))
        blocks.sort_indices()
        rows = np.repeat(np.arange(blocks.shape[0] // 3), np.diff(blocks.indptr))
        below = rows > blocks.indices
        pairs = np.column_stack([blocks.indices[below], rows[below]])
        return Stencils(np.concatenate([own, pairs]).astype(np.int32),
                        np.concatenate([forces, np.zeros((len(pairs), 2, 3))]),
                        np.concatenate([np.zeros((len(own), 1, 9)), blocks.data[below].reshape(-1, 1, 9)]), told.energy)

    def _carriers(self, nodes: Index) -> Index:
        """The nodes behind these nodes and vertices, (c,)."""
        carriers: Index = self._riding.matrix[np.unique(nodes)].indices
        return carriers


class EmbeddedBounds:
    """Gaps between surfaces of which some are made of carried vertices: N W."""

    def __init__(self, inner: Bounds, riding: Riding) -> None:
        self._bounds, self._riding = inner, riding

    def look(self, x: Vec) -> None:
        """What is near at positions (n, 3) [m] is among the gaps from now on."""
        self._bounds.look(self._riding.places(x))

    def gaps(self, x: Vec) -> Gaps:
        """About positions (n, 3) [m]."""
        found = self._bounds.gaps(self._riding.places(x))
        return Gaps(found.normals @ self._riding.by_axis, found.gap)

    def pushed(self, x: Vec, forces: Vec) -> None:
        """Call at the stage's end, with what holds each of them, (k,) [N]."""
        self._bounds.pushed(self._riding.places(x), forces)


class Embedded(EmbeddedForce):
    """A law between surfaces of which some are made of carried vertices."""

    def __init__(self, inner: ContactLaw, riding: Riding) -> None:
        """inner: of the nodes and then the vertices."""
        super().__init__(inner, riding)
        self.inner, self.riding, self.edge, self.activation = inner, riding, inner.edge, inner.activation

    def begin(self, x: Vec, time: float) -> None:
        """Call where a step starts, with positions of all nodes (n, 3) [m]. Raises StepFailed."""
        self.inner.begin(self._riding.places(x), time)

    def nearest(self, x: Vec) -> Index | None:
        """Nodes and vertices behind them, (4,), of a pair nearer than both sides are thick; None where none is."""
        return self.inner.nearest(self._riding.places(x))

    def paired(self, x: Vec, times: float) -> Index:
        """One node behind either side of each pair that is so near, (k, 2)."""
        count = self._riding.nodes
        of_bodies = np.concatenate([np.arange(count, dtype=np.int32), self._riding.corners[:, 0]])
        nodes: Index = of_bodies[self.inner.paired(self._riding.places(x), times)]
        return nodes

    def told(self, x: Vec) -> Vec:
        """Of each pair that pushes: middle, force and distance, (k, 7) [m, N, m]."""
        return self.inner.told(self._riding.places(x))

    def bounds(self, begun: Vec) -> EmbeddedBounds | None:
        """What a stage has to keep open, of nodes alone; None where forces do."""
        inner = self.inner.bounds(self._riding.places(begun))
        return None if inner is None else EmbeddedBounds(inner, self._riding)

    @property
    def is_rough(self) -> bool:
        """Whether there is friction anywhere."""
        return self.inner.is_rough

    def sliding(self, x: Vec, base: Vec, seconds: float) -> EmbeddedForce | None:
        """Friction of a stage, with loads and normals as they are at positions x (n, 3) [m]; None where none is."""
        slides = self.inner.sliding(self._riding.places(x), self._riding.places(base), seconds)
        return None if slides is None else EmbeddedForce(slides, self._riding)

    def largest_step(self, start: Vec, end: Vec) -> float:
        """The largest share of a straight move between positions (n, 3) [m], in [0, 1], in which nothing meets."""
        return self.inner.largest_step(self._riding.places(start), self._riding.places(end))

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """The same of each node, (n,), those of one number `alike` (n,) the same."""
        begun, count = self._riding.places(start), len(start)
        numbers = int(alike.max(initial=-1)) + 1
        of_all = np.concatenate([alike, numbers + np.arange(len(begun) - count)]).astype(np.int32)
        steps = np.ones(numbers)
        for _ in range(ROUNDS):
            reached = self._riding.places(start + steps[alike, None] * (end - start))
            shares = self.inner.largest_steps(begun, reached, of_all)
            if shares.min() == 1.0:
                break
            cut = np.ones(numbers)
            np.minimum.at(cut, alike, shares[:count])
            np.minimum.at(cut, alike[self._riding.corners], shares[count:, None])
            steps *= cut
        else:
            steps[:] = self.largest_step(start, end)
        each: Vec = steps[alike]
        return each


def _stiffness(told: Stencils, count: int) -> sp.csr_matrix:
    """K of a table, (3 n, 3 n)."""
    width = told.nodes.shape[1]
    pairs = PAIRS[: width * (width - 1) // 2]
    low, high = told.nodes[:, pairs[:, 0]].ravel(), told.nodes[:, pairs[:, 1]].ravel()
    blocks = told.blocks[:, : len(pairs)].reshape(-1, 3, 3)
    turned = blocks.transpose(0, 2, 1)
    rows = np.concatenate([low, high, low, high])
    columns = np.concatenate([high, low, low, high])
    values = np.concatenate([blocks, turned, -blocks, -turned])
    axis = np.arange(3)
    return sp.coo_matrix((values.ravel(), ((3 * rows[:, None, None] + axis[:, None] + 0 * axis).ravel(),
                                           (3 * columns[:, None, None] + 0 * axis[:, None] + axis).ravel())),
                         shape=(3 * count, 3 * count)).tocsr()
