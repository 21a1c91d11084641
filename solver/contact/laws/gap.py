"""Contact as inequality constraints on the gaps of each stage, with an active set of multipliers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from ...forces.stencils import Stencils
from ...rows.names import Names
from ...state import Index, Vec
from ..find.distance_kernels import DIFFERENCE, SQUARE, WORK, nearest_in_triangle, nearest_on_edges
from ..find.mesh import Surfaces
from .barrier import Barrier
from .interface import Gaps, LoadsOnCloth

NO_BLOCKS = np.zeros((0, 6, 9))


class Gap:
    """Gap constraints d(x¹) − t ≥ δ/2 on all pairs at each stage's end, detected and linearised in each iteration.

    d is the distance of two surface primitives, t the sum of their thicknesses, and δ the distance of detection. No
    force acts before a gap closes to δ/2, no stiffness is chosen, and there is no friction. [Ascher 28a, changed: d is
    unsigned, so the path is bounded as well]
    """

    negligible_step = 1.0e-9  #: relative to an edge: smaller displacements since the stage's end are rounding
    linear_at_start = False  #: whether gaps are linearised at a stage's start, and not at the iterate

    def __init__(self, surfaces: Surfaces, rest: Vec, stiffness: Vec, friction: Vec, activation: float | Vec,
                 params: Mapping[str, float], thickness: Vec, loads: LoadsOnCloth | None = None) -> None:
        """rest: rest positions of all nodes, (n, 3) [m]. stiffness: of each node [N/m], finite for bodies, (n,).
        friction: ignored. activation: δ [m], of all pairs or of each two bodies, (b, b). thickness: (n,) [m]. loads:
        ignored, multipliers are as large as needed."""
        self.surfaces = surfaces
        #: detection and step bounds by a barrier with activation distance δ, whose forces are not used
        self.near = Barrier(surfaces, rest, stiffness, np.zeros_like(friction), activation, {"creep_speed": 1.0},
                            thickness)
        self.edge, self.activation = self.near.edge, self.near.activation
        self.creep_speed = self.near.creep_speed
        self._last: tuple[Index, Vec, Vec] | None = None

    def begin(self, x: Vec, time: float) -> None:
        """Do nothing: the law does not change from step to step."""

    def bounds(self, step_start: Vec) -> GapBounds:
        """Return the gap constraints of a stage that starts at positions `step_start`, (n, 3) [m]."""
        return GapBounds(self, step_start if self.linear_at_start else None)

    def measure(self, x: Vec, time: float) -> Stencils:
        """Return the near pairs at positions x, (n, 3) [m], with zero forces and energy."""
        nodes = self.near.find_active_pairs(x).nodes
        return Stencils(nodes, np.zeros((len(nodes), 4, 3)), NO_BLOCKS, 0.0)

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Return an empty table: constraints have no stiffness."""
        return Stencils(np.zeros((0, 4), dtype=np.int32), np.zeros((0, 4, 3)), NO_BLOCKS, 0.0)

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """Do nothing: constraints have no damping."""

    def nearest(self, x: Vec) -> Index | None:
        """Return the nodes, (4,), of the pair farthest below its thickness; None if all pairs exceed it.

        x: positions of all nodes, (n, 3) [m].
        """
        return self.near.nearest(x)

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the contact-free fraction, in [0, 1], of straight displacements from start to end, (n, 3) [m] each."""
        return self.near.largest_step(start, end)

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """Return the contact-free fraction of the displacement of each node, in [0, 1], (n,).

        start, end: positions, (n, 3) [m]. alike: group of each node, (n,); a group has one fraction.
        """
        return self.near.largest_steps(start, end, alike)

    @property
    def has_friction(self) -> bool:
        """Whether any node has friction: False, gap constraints have none."""
        return False

    def lag_friction(self, x: Vec, base: Vec, seconds: float) -> None:
        """Return None: gap constraints have no friction."""

    def find_active_pairs(self, x: Vec):  # type: ignore[no-untyped-def]
        """Return the near pairs at positions x, (n, 3) [m], with forces of a barrier in place of the multipliers."""
        return self.near.find_active_pairs(x)

    def record_contact_forces(self, nodes: Index, positions: Vec, forces: Vec) -> None:
        """Record the contact forces at a stage's end, which `contact_forces` returns.

        nodes: of pairs, (k, 4). positions: of these nodes, (k, 4, 3) [m]. forces: rows of `contact_forces`, (k, 7).
        """
        self._last = nodes, positions, forces

    def node_pairs_within(self, x: Vec, times: float) -> Index:
        """Return one node of each side of all pairs nearer than t + `times` δ at positions x, (n, 3) [m], (k, 2)."""
        return self.near.node_pairs_within(x, times)

    def point_pairs(self, x: Vec) -> tuple[Index, Vec, Vec]:
        """Return nodes (k, 4), absolute weights (k, 4) and thicknesses (k,) [m] of the near point-triangle pairs.

        x: positions of all nodes, (n, 3) [m].
        """
        return self.near.point_pairs(x)

    def slips(self, x: Vec, v: Vec) -> tuple[Index, Vec]:
        """Return one node of each side of the near point-triangle pairs, (k, 2), and the slips, (k, 3) [m/s].

        x, v: positions and velocities of all nodes, (n, 3) [m, m/s].
        """
        return self.near.slips(x, v)

    def contact_forces(self, x: Vec) -> Vec:
        """Return the midpoint [m], force on the first side [N] and distance [m] of each active pair, (k, 7).

        x: positions of all nodes, (n, 3) [m]; unless they are those of the last stage's end, there are no rows.
        """
        if self._last is None:
            return np.zeros((0, 7))
        nodes, positions, forces = self._last
        is_at_end = np.abs(x[nodes] - positions).max(initial=0.0) <= self.negligible_step * self.edge
        return forces if is_at_end else np.zeros((0, 7))


class GapBounds:
    """Gap constraints on all pairs that were detected during one stage."""

    open_fraction = 0.5  #: enforced gap relative to the distance of detection

    def __init__(self, law: Gap, about: Vec | None) -> None:
        """law: of the pairs. about: positions at which gaps are linearised, (n, 3) [m]; None for each iterate."""
        self._law, self._about = law, about
        #: 1 for two edges and 0 for a point and a triangle, then four nodes; rows sorted
        self._pairs: Index = np.zeros((0, 5), dtype=np.int32)
        self._names: Names = np.zeros(0, dtype=np.int64)  #: of each, in the order of detection
        self._required = np.zeros((0, 2))  #: thickness and required gap of each [m]
        self._distance_work = np.zeros((0, WORK))
        if about is not None:
            self.add_near_pairs(about)

    def add_near_pairs(self, x: Vec) -> None:
        """Add the pairs that are near at positions (n, 3) [m] to the gaps."""
        near = self._law.near.find_active_pairs(x)
        is_edges = (np.arange(len(near.nodes)) >= near.points).astype(np.int32)
        pairs = np.concatenate([self._pairs, np.column_stack([is_edges, near.nodes])])
        required = np.concatenate([self._required,
                                   np.column_stack([near.thickness, self.open_fraction * near.activation])])
        names = np.concatenate([self._names, len(self._names) + np.arange(len(near.nodes))])
        self._pairs, which = np.unique(pairs, axis=0, return_index=True)
        self._required = required[which]
        # names of new pairs follow each other
        is_new = which >= len(self._names)
        names[which[is_new]] = len(self._names) + np.arange(np.count_nonzero(is_new))
        self._names = names[which]

    def gaps(self, x: Vec) -> Gaps:
        """Return the linearised gaps at positions x, (n, 3) [m], of pairs that are near or were detected before."""
        self.add_near_pairs(x)
        about, nodes = x if self._about is None else self._about, np.ascontiguousarray(self._pairs[:, 1:])
        self._distance_work = np.empty((len(nodes), WORK))
        for k, is_edges in enumerate(self._pairs[:, 0]):
            (nearest_on_edges if is_edges else nearest_in_triangle)(about, nodes[k], self._distance_work[k])
        distance = np.sqrt(self._distance_work[:, SQUARE])
        normal = self._distance_work[:, DIFFERENCE : DIFFERENCE + 3] / distance[:, None]
        values = self._distance_work[:, :4, None] * normal[:, None, :]
        columns = 3 * nodes[:, :, None] + np.arange(3)
        N = sp.csr_matrix((values.ravel(), columns.ravel(), 12 * np.arange(len(nodes) + 1)),
                          shape=(len(nodes), x.size))
        gap = distance - self._required.sum(axis=1)
        return Gaps(N, gap if about is x else gap + N @ (x - about).ravel(), self._names)

    def record_forces(self, x: Vec, forces: Vec) -> None:
        """Record the contact forces, (k,) [N], of the last gaps at the stage's end, positions x (n, 3) [m]."""
        active = np.flatnonzero(forces > 0.0)
        nodes, distance_work = self._pairs[active, 1:], self._distance_work[active]
        middle = 0.5 * np.einsum("kc,kci->ki", np.abs(distance_work[:, :4]), x[nodes])
        distances = np.linalg.norm(np.einsum("kc,kci->ki", distance_work[:, :4], x[nodes]), axis=1)
        normal = distance_work[:, DIFFERENCE : DIFFERENCE + 3] / np.sqrt(distance_work[:, SQUARE])[:, None]
        self._law.record_contact_forces(nodes, x[nodes],
                                        np.column_stack([middle, forces[active, None] * normal, distances]))
