"""Separation by springs, over a given time, of bodies that intersect at the start.

From then on contact prevents intersections.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import StepFailed
from ...forces.stencils import Stencils
from ...meshing.winding import winding_numbers
from ...state import Index, Mask, Vec
from ..find.distance_kernels import SQUARE, WORK, nearest_in_triangle, squares
from ..find.mesh import Surfaces
from .interface import Bounds, ContactLaw


@dataclass(frozen=True)
class IntersectingBodies:
    """Bodies that intersect at the start, and the time in which they are separated."""

    surfaces: Surfaces  #: for pairs of intersecting bodies only
    names: list[str]  #: of all bodies
    owner: Index  #: of each node, (n,)
    intersects: Mask  #: which bodies intersect, (b, b)
    triangles: list[Index]  #: of each body, (t, 3)
    is_closed: list[bool]  #: open ones are solid on the inner side of their faces
    seconds: float  #: time to separate them
    gap: Vec  #: distance of two bodies at the end of that time, (b, b) [m]
    stiffness: Vec  #: contact stiffness of a node [N/m], (n,)
    start_positions: Vec  #: positions at the start, (n, 3) [m]


@dataclass(frozen=True)
class _Springs:
    """Springs between points and the triangles through which they leave, along normals that are constant in a step."""

    nodes: Index  #: (k, 4)
    weights: Vec  #: of the point less those of the closest point in the triangle, (k, 4)
    normal: Vec  #: out of the surface, (k, 3)
    pair: Index  #: which bodies, (k, 2)
    stiffness: Vec  #: [N/m], (k,)

    def out(self, x: Vec) -> Vec:
        """Return the signed distance of each point from its triangle at positions x, (n, 3) [m], (k,) [m]."""
        far: Vec = np.einsum("kc,kci,ki->k", self.weights, x[self.nodes], self.normal)
        return far


class SeparateIntersections:
    """A contact law with springs between intersecting bodies; once nothing intersects, the law of all bodies alone.

    A point in another body, or nearer to it than it should be, is pulled out along the direction to the closest face.
    The admissible depth decreases from the largest depth at the start, and more slowly towards the end of the given
    time. Dashpots along the same directions, stiff relative to the masses, dissipate the energy of the springs, so
    bodies leave about as slowly as they emerge and gain no speed.
    """

    on_face = 1.0e-9  #: [m]: distance from a face below which its normal is the exit direction
    exit_cosine = 0.7  #: cosine of the angle to that direction: faces at a larger angle are no exit
    #: mean exit direction relative to the depths: a larger one is the exit direction of the whole body
    common_direction = 0.3
    time_limit = 2.0  #: relative to the given time: bodies that intersect by then are not separated
    spring_ratio = 30.0  #: relative to the contact stiffness: springs move their bodies most of the way in a step
    exit_time = 0.75  #: relative to the given time: all bodies are separated after it and decelerate in the rest
    dashpot_time = 0.05  #: relative to the given time: time constant of the dashpots by which bodies lag their springs
    search_margin = 1.5  #: relative to the largest depth: search distance for faces

    def __init__(self, separated_law: ContactLaw, complete_law: ContactLaw, intersecting: IntersectingBodies) -> None:
        """separated_law: between bodies that do not intersect at the start. complete_law: between all bodies."""
        self._separated_law, self._complete_law, self._intersecting = separated_law, complete_law, intersecting
        self._separated_since = np.inf
        self._springs: _Springs | None = None
        self.edge, self.activation = complete_law.edge, complete_law.activation
        self.creep_speed = complete_law.creep_speed
        count = len(intersecting.gap)
        self._exit_directions, self._deepest = np.zeros((count, count, 3)), np.zeros((count, count))
        self._depth = float(np.ptp(intersecting.start_positions, axis=0).max())
        # the exit direction of most points of a body is that of all of them, also near its sides
        springs, gap = self._find_near_springs(intersecting.start_positions)
        depth = np.maximum(-gap, 0.0)
        direction, size = np.zeros_like(self._exit_directions), np.zeros((count, count))
        np.add.at(direction, tuple(springs.pair.T), (depth**2)[:, None] * springs.normal)
        np.add.at(size, tuple(springs.pair.T), depth**2)
        direction, size = direction - direction.transpose(1, 0, 2), size + size.T
        length = np.linalg.norm(direction, axis=2)
        agrees = length > self.common_direction * size
        self._exit_directions[agrees] = direction[agrees] / length[agrees, None]
        springs, gap = self._find_near_springs(intersecting.start_positions)
        np.maximum.at(self._deepest, tuple(springs.pair.T), -gap)
        self._deepest = np.maximum(self._deepest, self._deepest.T)
        self._depth = self.search_margin * float((self._deepest + intersecting.gap).max())
        self._step_time, self._distance_at_start = 0.0, np.zeros(0)
        self.begin(intersecting.start_positions, 0.0)

    @property
    def surfaces(self) -> Surfaces:
        """Return the surfaces of the law that is active at present."""
        surfaces: Surfaces = self._current.surfaces  # type: ignore[attr-defined]
        return surfaces

    @property
    def _current(self) -> ContactLaw:
        """Return the law of contact at present: without the intersecting pairs while springs separate them."""
        return self._complete_law if self._springs is None else self._separated_law

    def begin(self, x: Vec, time: float) -> None:
        """Prepare for a step that starts at `time` [s] from positions x of all nodes, (n, 3) [m]. Raises StepFailed
        where bodies still intersect after the time limit."""
        if time >= self._separated_since:
            self._springs = None
            return
        case = self._intersecting
        intersecting = case.surfaces.intersection(x)
        near = self._complete_law.nearest(x) if intersecting is None else None
        if intersecting is None and near is None and time >= case.seconds:  # before that bodies may still be too fast
            self._separated_since, self._springs = time, None
            return
        if time > self.time_limit * case.seconds:
            first, second = (intersecting[0][0], intersecting[1][0]) if intersecting is not None else (near[0], near[3])  # type: ignore[index]
            where = ", ".join(f"{c:.4g}" for c in x[second])
            raise StepFailed(f'it is not pushed apart from "{case.names[case.owner[second]]}" after {time:.3g} s, near '
                             f"({where}) m", case.names[case.owner[first]],
                             "Give it more frames, move them apart by hand, or let them not collide with each other")
        self._springs = self._find_near_springs(x)[0]
        self._step_time, self._distance_at_start = time, self._springs.out(x)

    def measure(self, x: Vec, time: float) -> Stencils:
        """Return forces [N] and energy [J] of contacts and springs at positions x, (n, 3) [m], and `time` [s]."""
        return self._with_springs(self._current.measure(x, time), x, time, False)

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Return forces [N], energy [J] and blocks [N/m] of contacts and springs at positions x, (n, 3) [m].

        K is negative semi-definite if `project`.
        """
        return self._with_springs(self._current.fill(x, time, project), x, time, True)

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """Do nothing: dashpots are part of the forces of springs."""

    def nearest(self, x: Vec) -> Index | None:
        """Return the nodes, (4,), of a pair nearer than its thickness by the present law; None without such a pair.

        x: positions of all nodes, (n, 3) [m].
        """
        return self._current.nearest(x)

    def node_pairs_within(self, x: Vec, times: float) -> Index:
        """Return one node of each side of all springs and of pairs nearer than `times` the activation distance, (k, 2).

        x: positions of all nodes, (n, 3) [m].
        """
        near = self._current.node_pairs_within(x, times)
        return near if self._springs is None else np.concatenate([near, self._springs.nodes[:, [0, 3]]])

    def point_pairs(self, x: Vec) -> tuple[Index, Vec, Vec]:
        """Return nodes (k, 4), absolute weights (k, 4) and thicknesses (k,) [m] of active point-triangle pairs, without
        springs. x: positions of all nodes, (n, 3) [m]."""
        return self._current.point_pairs(x)

    def slips(self, x: Vec, v: Vec) -> tuple[Index, Vec]:
        """Return a node of each side, (k, 2), and slips, (k, 3) [m/s], of active point-triangle pairs, without springs.

        x, v: positions and velocities of all nodes, (n, 3) [m, m/s].
        """
        return self._current.slips(x, v)

    def contact_forces(self, x: Vec) -> Vec:
        """Return midpoint [m], force on the first side [N] and distance [m] of active pairs, without springs, (k, 7).

        x: positions of all nodes, (n, 3) [m].
        """
        return self._current.contact_forces(x)

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the contact-free fraction, in [0, 1], of straight displacements between positions start and end,
        (n, 3) [m], for the surfaces of the present law."""
        return self._current.largest_step(start, end)

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """Return the contact-free fraction of each node, in [0, 1], (n,), for the surfaces of the present law.

        start, end: positions, (n, 3) [m]. alike: group of each node, (n,); a group has one fraction.
        """
        return self._current.largest_steps(start, end, alike)

    def bounds(self, step_start: Vec) -> Bounds | None:
        """Return the gap constraints of a stage that starts at positions `step_start`, (n, 3) [m]; None where forces
        enforce contact."""
        return self._current.bounds(step_start)

    @property
    def has_friction(self) -> bool:
        """Whether any node has friction."""
        return self._complete_law.has_friction

    def find_active_pairs(self, x: Vec):  # type: ignore[no-untyped-def]
        """Return the active pairs of the present law at positions x, (n, 3) [m]."""
        return self._current.find_active_pairs(x)  # type: ignore[attr-defined]

    def lag_friction(self, x: Vec, base: Vec, seconds: float):  # type: ignore[no-untyped-def]
        """Return the friction of a stage with the normal forces of the present law at positions x, (n, 3) [m]; or None.

        base: positions of all nodes at v = 0, (n, 3) [m]. seconds: time from base to the stage's end [s].
        """
        return self._current.lag_friction(x, base, seconds)

    def _with_springs(self, table: Stencils, x: Vec, time: float, with_blocks: bool) -> Stencils:
        """Return a table of contact forces with the springs that separate intersecting bodies at positions x (n, 3) [m]
        and `time` [s]."""
        springs, case = self._springs, self._intersecting
        if springs is None:
            return table
        elapsed = time / case.seconds
        # smooth at both ends, and continuing after the given time where weight resists the separation
        fraction = min(elapsed / self.exit_time, 1.0)
        eased = fraction * fraction * (3.0 - 2.0 * fraction) + max(elapsed - 1.0, 0.0) ** 2
        goal = elapsed * case.gap[tuple(springs.pair.T)] - (1.0 - eased) * self._deepest[tuple(springs.pair.T)]
        out = springs.out(x)
        shortfall = np.maximum(goal - out, 0.0)
        # a dashpot of `dashpot_time` · seconds · k where bodies are not separated, whose force is constant over the
        # elapsed step
        late = time - self._step_time
        is_damped = (self._distance_at_start < case.gap[tuple(springs.pair.T)]) & (late > 0.0)
        dashpot = np.where(
            is_damped, springs.stiffness * self.dashpot_time * case.seconds / max(late, self.on_face), 0.0)
        moved = out - self._distance_at_start
        normal_force = springs.stiffness * shortfall - dashpot * moved
        forces = (springs.weights * normal_force[:, None])[:, :, None] * springs.normal[:, None, :]
        energy = 0.5 * float(springs.stiffness @ shortfall**2 + dashpot @ moved**2)
        blocks = np.zeros((0, 6, 9))
        if with_blocks:
            rows, columns = np.tril_indices(4, -1)
            curved = np.where(shortfall > 0.0, -springs.stiffness, 0.0) - dashpot
            pairs = springs.weights[:, rows] * springs.weights[:, columns] * curved[:, None]
            across = np.einsum("ki,kj->kij", springs.normal, springs.normal).reshape(-1, 1, 9)
            blocks = np.concatenate([table.blocks, pairs[:, :, None] * across])
        return Stencils(np.concatenate([table.nodes, springs.nodes]).astype(np.int32),
                        np.concatenate([table.forces, forces]), blocks, table.energy + energy)

    def _find_near_springs(self, x: Vec) -> tuple[_Springs, Vec]:
        """Return a spring for each point near an intersecting body's surface, and the signed distances, (k,) [m]."""
        case = self._intersecting
        near = case.surfaces.find_near_pairs(x, self._depth)
        bodies, nodes = near.bodies[: near.points], near.nodes[: near.points]
        out, face = self._exit_directions[tuple(bodies.T)], _normals(x[nodes[:, 1:]])
        faces_it = (np.einsum("ki,ki->k", out, face) > self.exit_cosine) | ~out.any(axis=1)
        bodies, nodes = bodies[faces_it], nodes[faces_it]
        square = np.empty(len(nodes))
        squares(0, len(nodes), x, nodes, len(nodes), square)
        # the closest triangle of each body for each point
        order = np.lexsort((square, bodies[:, 1], nodes[:, 0]))
        first = np.ones(len(order), dtype=bool)
        first[1:] = ((nodes[order[1:], 0] != nodes[order[:-1], 0])
                     | (bodies[order[1:], 1] != bodies[order[:-1], 1]))
        nodes, bodies = nodes[order[first]], bodies[order[first]]
        work = np.empty((len(nodes), WORK))
        for row, nearest in zip(nodes, work):
            nearest_in_triangle(x, row, nearest)
        face = _normals(x[nodes[:, 1:]])
        far = np.sqrt(work[:, SQUARE])
        away = np.einsum("kc,kci->ki", work[:, :4], x[nodes])
        is_inside = np.einsum("ki,ki->k", away, face) < 0.0
        for body, (triangles, is_closed) in enumerate(zip(case.triangles, case.is_closed)):
            rows = np.flatnonzero(bodies[:, 1] == body)
            if is_closed and len(rows):
                is_inside[rows] = winding_numbers(x[nodes[rows, 0]], x, triangles) > 0.5
        sign = np.where(is_inside, -1.0, 1.0)
        outward = sign[:, None] * away / np.maximum(far, self.on_face)[:, None]
        normal = np.where((far > self.on_face)[:, None], outward, face)
        each = case.stiffness[nodes]
        stiffness = self.spring_ratio * np.minimum(each[:, 0], each[:, 1:].mean(axis=1))
        return _Springs(nodes, np.ascontiguousarray(work[:, :4]), normal, bodies, stiffness), sign * far


def _normals(corners: Vec) -> Vec:
    """Return unit normals, (k, 3), of triangles with corners (k, 3, 3) [m]."""
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    out: Vec = face / np.maximum(np.linalg.norm(face, axis=1, keepdims=True), np.finfo(float).tiny)
    return out
