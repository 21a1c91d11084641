"""Barrier potential on the distances of surface primitives, whose pairs are detected at any positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...forces.stencils import Stencils
from ...state import Index, Mask, Vec
from ...threads import parallel_for
from ..find.distance_kernels import SQUARE, WORK
from ..find.mesh import NearPairs, Surfaces
from ..find.neighbours import CLOSING
from ..find.taking_kernels import cannot_touch, reach_of_pairs
from .alike_kernels import limit_friction, take_alike, take_loaded
from .alike_pairs import AlikePairs, alike_pairs
from .barrier_kernels import barrier_forces, barrier_stiffness, pair_stiffness
from .interface import LoadsOnCloth
from .lagged_friction import LaggedFriction
from .lagged_friction_kernels import couple_weights

#: margin of the Verlet list of near pairs, relative to a mean edge: beyond an edge's length nearly all pairs would be
#: of a surface's own neighbourhood
SKIN = 0.2
CHUNK = 64  #: pairs in a chunk of one thread


@dataclass(frozen=True)
class ActivePairs:
    """All pairs within the activation distance at given positions, with their barrier forces."""

    nodes: Index  #: (k, 4)
    points: int  #: number of point-triangle pairs, which come first
    stiffness: Vec  #: κ [N/m], (k,)
    rest: Vec  #: of edges: |u × v|² below which the barrier is mollified [m⁴], (k,)
    thickness: Vec  #: sum of both thicknesses, the smallest distance [m], (k,)
    activation: Vec  #: δ [m], (k,)
    work: Vec  #: weights, difference vector and squared distance, see distance_kernels, (k, 17)
    forces: Vec  #: (k, 4, 3) [N]
    energy: float  #: [J]

    def one_for(self, alike: AlikePairs) -> ActivePairs:
        """Return one pair for each group of `alike`: the first one, with the total stiffness and forces of its
        group."""
        which, stiffness = alike.which, alike.sums(self.stiffness)
        count = len(which)
        pairs = ActivePairs(np.empty((count, 4), np.int32), int(np.searchsorted(which, self.points)), stiffness,
                            np.empty(count), np.empty(count), np.empty(count), np.empty((count, WORK)),
                            np.empty((count, 4, 3)), self.energy)
        _for_pairs(take_alike, count, which, stiffness, self.nodes, self.stiffness, self.rest, self.thickness,
                   self.activation, self.work, self.forces, pairs.nodes, pairs.rest, pairs.thickness, pairs.activation,
                   pairs.work, pairs.forces)
        return pairs


class Barrier:
    """Barrier potential W = Σ κ δ² m b((d² − t²)/(δ² + 2 t δ)) over pairs: zero from d = t + δ on, infinite at d = t.

    d is the distance of a pair and t the sum of the thicknesses of both sides, zero within one body. κ of a pair is
    that of its softer side, obstacles excepted; for loaded cloth it is large enough to stop the load in a step: a log
    barrier that is far too soft for its load lets the sides approach t so closely that each iteration makes little
    progress. [Ascher 31-33, changed: of squared distances, as ipctk has it]
    """

    def __init__(self, surfaces: Surfaces, rest: Vec, stiffness: Vec, friction: Vec, activation: float | Vec,
                 params: Mapping[str, float], thickness: Vec, loads: LoadsOnCloth | None = None) -> None:
        """rest: rest positions of all nodes, (n, 3) [m]. stiffness: κ of each node [N/m], infinite for obstacles, (n,).
        friction: μ of each node, (n,). activation: δ [m], of all pairs or of each two bodies, (b, b). params:
        creep_speed, ε. thickness: distance from each node to the outer surface [m], (n,). loads: on cloth, if there are
        any."""
        self._thickness = np.ascontiguousarray(thickness, dtype=float)
        self._thickest = 2.0 * float(thickness.max(initial=0.0))
        self.surfaces, self.creep_speed = surfaces, params["creep_speed"]
        self.activation = float(np.max(activation))  #: the largest δ [m]
        self._least_activation = float(np.min(activation))
        self._activations = np.ascontiguousarray(np.atleast_2d(np.asarray(activation, dtype=float)))
        self._rest, self._stiffness = rest, stiffness
        self._friction = np.ascontiguousarray(friction, dtype=float)
        nothing = np.zeros(len(rest))
        self._area, self._areal_mass = (nothing, nothing) if loads is None else (loads.area, loads.areal_mass)
        ends = rest[surfaces.nodes[surfaces.edges]]
        is_body = np.isfinite(stiffness[surfaces.nodes[surfaces.edges]]).all(axis=1)
        self.edge = float(np.linalg.norm(ends[is_body, 0] - ends[is_body, 1], axis=1).mean())
        self._last: list[tuple[Vec, ActivePairs]] = []  #: the last two positions and their pairs
        #: the last pairs that were linearised, their groups, and one pair for each group
        self._grouped: tuple[ActivePairs, AlikePairs, ActivePairs] | None = None
        self._filled: tuple[ActivePairs, bool, Vec] | None = None  #: the last such pairs, whether projected, blocks

    def begin(self, x: Vec, time: float) -> None:
        """Do nothing: the law does not change from step to step."""

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the contact-free fraction, in [0, 1], of straight displacements between positions start and end,
        (n, 3) [m]; if all pairs exceed their thickness at the start, they do so at the end of this fraction."""
        fraction = 1.0 if self._cannot_touch(start, end) else self.surfaces.largest_step(start, end)
        if not self._thickest or self._is_separated(start + fraction * (end - start)) or not self._is_separated(start):
            return fraction
        while not self._is_separated(start + fraction * (end - start)):
            fraction *= 0.5
        return fraction

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """Return the contact-free fraction of the displacement of each node, in [0, 1], (n,).

        start, end: positions, (n, 3) [m]. alike: group of each node, (n,); a group has one fraction.
        """
        if self._cannot_touch(start, end):
            fractions = np.ones(len(alike))
        else:
            fractions = self.surfaces.largest_steps(start, end, alike)
        if self._thickest and not self._is_separated(start + fractions[:, None] * (end - start)):
            return np.full(len(fractions), self.largest_step(start, end))
        return fractions

    def _cannot_touch(self, start: Vec, end: Vec) -> bool:
        """Return whether the active pairs at the start are known, and straight displacements to the end, (n, 3) [m]
        each, are so short that no pair can come into contact: then no bound needs to be computed."""
        for positions, known in self._last:
            if np.array_equal(start, positions):
                return bool(cannot_touch(start, end, self.surfaces.nodes, known.nodes, known.points,
                                         np.ascontiguousarray(known.work[:, SQUARE]), self._least_activation, CLOSING))
        return False

    def _is_separated(self, x: Vec) -> bool:
        """Return whether the distances of all pairs exceed their thickness at positions x, (n, 3) [m]."""
        return self.nearest(x) is None

    def nearest(self, x: Vec) -> Index | None:
        """Return the nodes, (4,), of the pair farthest below its thickness; None if all pairs exceed it.

        x: positions of all nodes, (n, 3) [m].
        """
        near = self._find_near_pairs(x)
        inside = near.square - self._pair_thickness(near) ** 2
        return near.nodes[int(inside.argmin())] if inside.min(initial=np.inf) <= 0.0 else None

    def measure(self, x: Vec, time: float) -> Stencils:
        """Return barrier forces [N] and energy [J] at positions x, (n, 3) [m], without blocks."""
        pairs = self.find_active_pairs(x)
        return Stencils(pairs.nodes, pairs.forces, np.zeros((0, 6, 9)), pairs.energy)

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Return barrier forces [N], energy [J] and blocks of K = ∂f/∂x [N/m] at positions x, (n, 3) [m].

        K is negative semi-definite if `project`.
        """
        pairs = self._distinct_pairs(x)[2]
        # a factor that turns out to reuse no front of the last one is made from the same blocks
        if self._filled is None or self._filled[0] is not pairs or self._filled[1] != project:
            blocks = np.empty((len(pairs.nodes), 6, 9))
            _for_pairs(barrier_stiffness, len(blocks), x, pairs.nodes, pairs.points, pairs.stiffness, pairs.rest,
                       pairs.thickness, pairs.activation, project, pairs.work, blocks)
            self._filled = pairs, project, blocks
        return Stencils(pairs.nodes, pairs.forces, self._filled[2], pairs.energy)

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """Do nothing: the barrier has no damping."""

    def bounds(self, step_start: Vec) -> None:
        """Return None: contact is enforced by forces."""

    @property
    def has_friction(self) -> bool:
        """Whether any node has friction."""
        return bool(self._friction.any())

    def lag_friction(self, x: Vec, base: Vec, seconds: float) -> LaggedFriction | None:
        """Return the friction of a stage with the normal forces and normals at positions x, (n, 3) [m]; None if no pair
        has friction.

        base: positions of all nodes at v = 0, (n, 3) [m]. seconds: time from base to the stage's end [s].
        """
        if not self.has_friction:
            return None
        every, alike, pairs = self._distinct_pairs(x)
        limits = np.empty(len(every.nodes))
        _for_pairs(limit_friction, len(limits), every.nodes, every.points, every.forces, self._friction, limits)
        load = alike.sums(limits)
        loaded = np.flatnonzero(load)
        count = len(loaded)
        if not count:
            return None
        nodes, weights, couples = np.empty((count, 4), np.int32), np.empty((count, 4)), np.empty((count, 4, 3))
        normal, gap = np.empty((count, 3)), np.empty(count)
        _for_pairs(take_loaded, count, loaded, pairs.nodes, pairs.work, nodes, weights, normal, gap)
        _for_pairs(couple_weights, count, x, nodes, int(np.searchsorted(loaded, pairs.points)), normal, gap, couples)
        # prescribed surfaces take any angular momentum, and stages that press bodies on them converge better without
        couples[self.surfaces.is_prescribed[nodes].any(axis=1)] = 0.0
        return LaggedFriction(nodes, weights, couples, normal, load[loaded], self.creep_speed, base, seconds)

    def find_active_pairs(self, x: Vec) -> ActivePairs:
        """Return the pairs nearer than t + δ at positions x, (n, 3) [m], in a deterministic order."""
        for positions, known in self._last:
            if np.array_equal(x, positions):
                return known
        near = self._find_near_pairs(x)
        is_active, pair_thickness, activation = self._reach(near, 1.0)
        active = np.flatnonzero(is_active)
        nodes, points = near.nodes[active], int(np.searchsorted(active, near.points))
        stiffness, rest = self._pair_stiffness(nodes, points)
        pair_thickness, activation = pair_thickness[active], activation[active]
        forces, energy, work = np.empty((len(nodes), 4, 3)), np.empty(len(nodes)), np.empty((len(nodes), WORK))
        _for_pairs(barrier_forces, len(nodes), x, nodes, points, stiffness, rest, pair_thickness, activation, forces,
                   energy, work)
        pairs = ActivePairs(nodes, points, stiffness, rest, pair_thickness, activation, work, forces,
                            float(energy.sum()))
        # a stage needs forces, blocks and normal forces at the same positions, and a bound those of both its ends
        self._last = [(x.copy(), pairs), *self._last[:1]]
        return pairs

    def _distinct_pairs(self, x: Vec) -> tuple[ActivePairs, AlikePairs, ActivePairs]:
        """Return the active pairs at positions x, (n, 3) [m], their groups with the same nearest points, and one pair
        for each group."""
        pairs = self.find_active_pairs(x)
        if self._grouped is None or self._grouped[0] is not pairs:
            alike = alike_pairs(x, pairs.nodes, pairs.points, pairs.rest, pairs.work)
            self._grouped = pairs, alike, pairs.one_for(alike)
        return self._grouped

    def node_pairs_within(self, x: Vec, times: float) -> Index:
        """Return one node of each side of all pairs nearer than t + `times` δ at positions x, (n, 3) [m], (k, 2)."""
        near = self._find_near_pairs(x, times)
        nodes: Index = near.nodes[self._reach(near, times)[0]]
        return nodes[:, [0, 3]]

    def point_pairs(self, x: Vec) -> tuple[Index, Vec, Vec]:
        """Return nodes (k, 4), absolute weights (k, 4) and thicknesses (k,) [m] of the active point-triangle pairs.

        x: positions of all nodes, (n, 3) [m].
        """
        pairs = self.find_active_pairs(x)
        return pairs.nodes[: pairs.points], np.abs(pairs.work[: pairs.points, :4]), pairs.thickness[: pairs.points]

    def slips(self, x: Vec, v: Vec) -> tuple[Index, Vec]:
        """Return one node of each side of the active point-triangle pairs, (k, 2), and the slips, (k, 3) [m/s].

        The slip is the tangential velocity of the point relative to the triangle. x, v: positions and velocities of all
        nodes, (n, 3) [m, m/s].
        """
        pairs = self.find_active_pairs(x)
        nodes, weights = pairs.nodes[: pairs.points], pairs.work[: pairs.points, :4]
        between, rate = (np.einsum("kc,kci->ki", weights, of[nodes]) for of in (x, v))
        normal = between / np.linalg.norm(between, axis=1, keepdims=True)
        return nodes[:, [0, 3]], rate - np.einsum("ki,ki->k", rate, normal)[:, None] * normal

    def contact_forces(self, x: Vec) -> Vec:
        """Return the midpoint [m], force on the first side [N] and distance [m] of each active pair, (k, 7).

        The midpoint is that of the closest points; the force on the second side is opposite. x: positions of all nodes,
        (n, 3) [m].
        """
        pairs = self.find_active_pairs(x)
        middle = 0.5 * np.einsum("kc,kci->ki", np.abs(pairs.work[:, :4]), x[pairs.nodes])
        return np.column_stack([middle, _on_first_side(pairs), np.sqrt(pairs.work[:, SQUARE])])

    def _find_near_pairs(self, x: Vec, times: float = 1.0) -> NearPairs:
        """Return candidates that include all pairs nearer than t + `times` δ at positions x, (n, 3) [m]."""
        return self.surfaces.find_near_pairs(x, times * self.activation + self._thickest, SKIN * self.edge)

    def _reach(self, near: NearPairs, times: float) -> tuple[Mask, Vec, Vec]:
        """Return which pairs are nearer than t + `times` δ, (k,), and t and δ of each pair, (k,) [m]."""
        count = len(near.nodes)
        thick, activation, is_near = np.empty(count), np.empty(count), np.empty(count, dtype=bool)
        parallel_for(reach_of_pairs, count, near.nodes, near.bodies, near.square, self._activations, self._thickness,
                     times, activation, thick, is_near)
        return is_near, thick, activation

    def _pair_thickness(self, near: NearPairs) -> Vec:
        """Return the sum of the thicknesses of both sides of pairs, (k,) [m]."""
        thick: Vec = np.where(near.is_self, 0.0, self._thickness[near.nodes[:, 0]] + self._thickness[near.nodes[:, 3]])
        return thick

    def _pair_stiffness(self, nodes: Index, points: int) -> tuple[Vec, Vec]:
        """Return κ of each pair, (k,) [N/m], and |u × v|² below which the barrier of two edges is mollified, (k,) [m⁴].

        nodes: (k, 4), the first `points` pairs are of a point and a triangle.
        """
        kappa, rest = np.empty(len(nodes)), np.empty(len(nodes))
        _for_pairs(pair_stiffness, len(nodes), nodes, points, self._stiffness, self._area,
                   self._areal_mass, self._rest, kappa, rest)
        return kappa, rest


def _on_first_side(pairs: ActivePairs) -> Vec:
    """Return the resultant on the point, or on the first edge, of each pair, (k, 3) [N]."""
    with np.errstate(invalid="ignore"):  # a trial point that is rejected may have infinite forces
        both = pairs.forces[:, 0] + pairs.forces[:, 1]
    force: Vec = np.where(np.arange(len(pairs.nodes))[:, None] < pairs.points, pairs.forces[:, 0], both)
    return force


def _for_pairs(kernel, count, *arguments) -> None:  # type: ignore[no-untyped-def]
    """Run kernel(start, stop, …) on chunks of `count` pairs, in parallel if they are many; a chunk writes its own
    rows."""
    if count <= 4 * CHUNK:
        kernel(0, count, *arguments)
    else:
        parallel_for(kernel, count, *arguments)
