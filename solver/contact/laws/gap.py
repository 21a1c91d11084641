"""Surfaces keep a gap as constraints of each stage: an active set of pushes, each as hard as its gap takes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from ...forces.stencils import Stencils
from ...state import Index, Vec
from ..find.distance_kernels import SQUARE, WAY, WORK, nearest_in_triangle, nearest_on_edges
from ..find.mesh import Surfaces
from .barrier import Barrier
from .interface import Gaps, LoadsOnCloth

OPEN = 0.5  #: of how near pairs are that are looked at: what is kept open
SAME_PLACE = 1.0e-9  #: of an edge: nodes that are so near to where a stage ended are there
NO_BLOCKS = np.zeros((0, 6, 9))


class Gap:
    """d(x¹) − t ≥ δ/2 of every pair at the end of each stage, found and made linear anew in each iteration.

    d is the distance of two pieces of surfaces, t how thick both sides are together, and δ how near pairs are that are
    looked at. Nothing pushes before a gap is down to δ/2, no stiffness is chosen, and nothing rubs.
    [Ascher 28a, changed: d has no sign, so the way there is bounded as well]
    """

    linear_at_start = False  #: whether gaps are linear about where a stage begins, and not about where it is by then

    def __init__(self, surfaces: Surfaces, rest: Vec, stiffness: Vec, friction: Vec, activation: float | Vec,
                 params: Mapping[str, float], thickness: Vec, loads: LoadsOnCloth | None = None) -> None:
        """rest: of all nodes, (n, 3) [m]. stiffness: of each, finite where it is a body's, (n,). friction: none is
        felt. activation: δ [m], of all pairs or of two bodies each, (b, b). thickness: (n,) [m]. loads: pushes are as
        hard as gaps take."""
        self.surfaces = surfaces
        #: who is near, and how far all may go: as of a barrier that begins at δ, whose forces are not asked for
        self.near = Barrier(surfaces, rest, stiffness, np.zeros_like(friction), activation, {"creep_speed": 1.0},
                            thickness)
        self.edge, self.activation = self.near.edge, self.near.activation
        self._last: tuple[Index, Vec, Vec] | None = None

    def begin(self, x: Vec, time: float) -> None:
        """It is the same in all steps."""

    def bounds(self, begun: Vec) -> GapBounds:
        """What a stage that stands at positions (n, 3) [m] has to keep open."""
        return GapBounds(self, begun if self.linear_at_start else None)

    def measure(self, x: Vec, time: float) -> Stencils:
        """Who is near at positions (n, 3) [m]; there are no forces of positions."""
        nodes = self.near.touching(x).nodes
        return Stencils(nodes, np.zeros((len(nodes), 4, 3)), NO_BLOCKS, 0.0)

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Nothing: constraints have no stiffness."""
        return Stencils(np.zeros((0, 4), dtype=np.int32), np.zeros((0, 4, 3)), NO_BLOCKS, 0.0)

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """It does not."""

    def nearest(self, x: Vec) -> Index | None:
        """The pair, (4,) nodes, that is nearest of those nearer to each other than they are thick; None where none is.
        """
        return self.near.nearest(x)

    def largest_step(self, start: Vec, end: Vec) -> float:
        """The largest share of a straight move between positions (n, 3) [m], in [0, 1], in which nothing meets."""
        return self.near.largest_step(start, end)

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """The same of each node, (n,), those of one number `alike` (n,) the same."""
        return self.near.largest_steps(start, end, alike)

    @property
    def is_rough(self) -> bool:
        """It has no friction."""
        return False

    def sliding(self, x: Vec, base: Vec, seconds: float) -> None:
        """None: nothing rubs."""

    def touching(self, x: Vec):  # type: ignore[no-untyped-def]
        """Pairs that are near at positions (n, 3) [m], as a barrier has them; what holds them is not in it."""
        return self.near.touching(x)

    def hold(self, nodes: Index, places: Vec, said: Vec) -> None:
        """What `told` says where nodes stand as they do at a stage's end: pairs (k, 4), their places (k, 4, 3) [m] and
        rows (k, 7)."""
        self._last = nodes, places, said

    def paired(self, x: Vec, times: float) -> Index:
        """Nodes of both sides of each pair nearer than so many times δ at positions (n, 3) [m], (k, 2)."""
        return self.near.paired(x, times)

    def told(self, x: Vec) -> Vec:
        """Of each pair that is held at positions (n, 3) [m], where the last stage ended: the middle between its nearest
        points [m], the force on the first side [N], and how near they are [m]; (k, 7). Nothing anywhere else."""
        if self._last is None:
            return np.zeros((0, 7))
        nodes, places, said = self._last
        is_there = np.abs(x[nodes] - places).max(initial=0.0) <= SAME_PLACE * self.edge
        return said if is_there else np.zeros((0, 7))


class GapBounds:
    """Gaps of one stage: of all pairs that were near wherever it was looked."""

    def __init__(self, law: Gap, about: Vec | None) -> None:
        """about: positions at which gaps are made linear, (n, 3) [m]; None: those at which they are asked for."""
        self._law, self._about = law, about
        #: whether it is one of two edges, then nodes; rows in one order
        self._pairs: Index = np.zeros((0, 5), dtype=np.int32)
        self._kept = np.zeros((0, 2))  #: of each, how thick it is and what is kept open [m]
        self._ways = np.zeros((0, WORK))
        if about is not None:
            self.look(about)

    def look(self, x: Vec) -> None:
        """What is near at positions (n, 3) [m] is among the gaps from now on."""
        found = self._law.near.touching(x)
        is_edges = (np.arange(len(found.nodes)) >= found.points).astype(np.int32)
        pairs = np.concatenate([self._pairs, np.column_stack([is_edges, found.nodes])])
        kept = np.concatenate([self._kept, np.column_stack([found.thickness, OPEN * found.activation])])
        self._pairs, which = np.unique(pairs, axis=0, return_index=True)
        self._kept = kept[which]

    def gaps(self, x: Vec) -> Gaps:
        """Of what is near at positions (n, 3) [m], and of what was where it was looked before."""
        self.look(x)
        about, nodes = x if self._about is None else self._about, np.ascontiguousarray(self._pairs[:, 1:])
        self._ways = np.empty((len(nodes), WORK))
        for k, is_edges in enumerate(self._pairs[:, 0]):
            (nearest_on_edges if is_edges else nearest_in_triangle)(about, nodes[k], self._ways[k])
        distance = np.sqrt(self._ways[:, SQUARE])
        normal = self._ways[:, WAY : WAY + 3] / distance[:, None]
        values = self._ways[:, :4, None] * normal[:, None, :]
        columns = 3 * nodes[:, :, None] + np.arange(3)
        N = sp.csr_matrix((values.ravel(), columns.ravel(), 12 * np.arange(len(nodes) + 1)),
                          shape=(len(nodes), x.size))
        gap = distance - self._kept.sum(axis=1)
        return Gaps(N, gap if about is x else gap + N @ (x - about).ravel())

    def pushed(self, x: Vec, forces: Vec) -> None:
        """Call at the stage's end, with what holds each of the gaps that were asked for last, (k,) [N]."""
        held = np.flatnonzero(forces > 0.0)
        nodes, ways = self._pairs[held, 1:], self._ways[held]
        middle = 0.5 * np.einsum("kc,kci->ki", np.abs(ways[:, :4]), x[nodes])
        apart = np.linalg.norm(np.einsum("kc,kci->ki", ways[:, :4], x[nodes]), axis=1)
        normal = ways[:, WAY : WAY + 3] / np.sqrt(ways[:, SQUARE])[:, None]
        self._law.hold(nodes, x[nodes], np.column_stack([middle, forces[held, None] * normal, apart]))
