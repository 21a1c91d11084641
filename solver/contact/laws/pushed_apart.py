"""Surfaces that cross at the start are pushed apart by springs, over a while; from then on they keep apart for good."""

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

FIRM = 30.0  #: of what a contact resists with: so springs move what they hold most of the way in a step
LATE = 2.0  #: of the while: what is not apart by then does not come apart
OUT = 0.75  #: of the while: by then all is out, and the rest is for slowing down
LAGS = 0.05  #: of the while: by how much what is pushed comes after where its springs lead, damped all the way
AGREED = 0.3  #: of what points are deep: where their ways out have so much in common it is the way of all
ALONG = 0.7  #: cosine to that way: faces that look otherwise are no way out
MARGIN = 1.5  #: of the largest depth: faces so far away are looked at
ROUNDING = 1.0e-9  #: [m]: nearer to a face its own normal says which way is out


@dataclass(frozen=True)
class Crossing:
    """Bodies that cross others at the start."""

    surfaces: Surfaces  #: in which these alone meet
    names: list[str]  #: of all bodies
    owner: Index  #: of each node, (n,)
    meets: Mask  #: which cross, (b, b)
    triangles: list[Index]  #: of each body, (t, 3)
    is_closed: list[bool]  #: others count as solid behind their faces
    seconds: float  #: the while
    gap: Vec  #: how far apart two bodies are to be by then, (b, b) [m]
    stiffness: Vec  #: what a node's contact resists with [N/m], (n,)
    from_now: Vec  #: positions at the start, (n, 3) [m]


@dataclass(frozen=True)
class _Springs:
    """Points and the triangles that they are to come out of, along normals that stay for a step."""

    nodes: Index  #: (k, 4)
    weights: Vec  #: of the point less those of the nearest one in the triangle, (k, 4)
    normal: Vec  #: out of the surface, (k, 3)
    pair: Index  #: which bodies, (k, 2)
    stiffness: Vec  #: [N/m], (k,)

    def out(self, x: Vec) -> Vec:
        """How far each point is out of its triangle [m], (k,)."""
        far: Vec = np.einsum("kc,kci,ki->k", self.weights, x[self.nodes], self.normal)
        return far


class PushedApart:
    """Springs between bodies that cross, and the barrier between all others; once nothing crosses, that between all.

    A point in another body, or nearer to it than it is to be, is drawn out of it along the way to the nearest face. How
    deep it may still be falls from the largest depth at the start, and slower towards the end of the while. Dashpots
    along the same ways, stiff against the masses, take what the springs give, so bodies leave about as slowly as they
    came out last and nothing is thrown.
    """

    def __init__(self, others: ContactLaw, everything: ContactLaw, crossing: Crossing) -> None:
        """others: between bodies that do not cross. everything: between all."""
        self._others, self._everything, self._crossing = others, everything, crossing
        self._apart_since = np.inf
        self._springs: _Springs | None = None
        self.edge, self.activation = everything.edge, everything.activation
        count = len(crossing.gap)
        self._out, self._deepest = np.zeros((count, count, 3)), np.zeros((count, count))
        self._depth = float(np.ptp(crossing.from_now, axis=0).max())
        # the way that most of a body comes out of another is the way of all of it, near its sides too
        springs, gap = self._found(crossing.from_now)
        depth = np.maximum(-gap, 0.0)
        way, size = np.zeros_like(self._out), np.zeros((count, count))
        np.add.at(way, tuple(springs.pair.T), (depth**2)[:, None] * springs.normal)
        np.add.at(size, tuple(springs.pair.T), depth**2)
        way, size = way - way.transpose(1, 0, 2), size + size.T
        length = np.linalg.norm(way, axis=2)
        agrees = length > AGREED * size
        self._out[agrees] = way[agrees] / length[agrees, None]
        springs, gap = self._found(crossing.from_now)
        np.maximum.at(self._deepest, tuple(springs.pair.T), -gap)
        self._deepest = np.maximum(self._deepest, self._deepest.T)
        self._depth = MARGIN * float((self._deepest + crossing.gap).max())
        self._began, self._out_then = 0.0, np.zeros(0)
        self.begin(crossing.from_now, 0.0)

    @property
    def surfaces(self) -> Surfaces:
        """Those that keep apart now."""
        found: Surfaces = self._now.surfaces  # type: ignore[attr-defined]
        return found

    @property
    def _now(self) -> ContactLaw:
        return self._everything if self._springs is None else self._others

    def begin(self, x: Vec, time: float) -> None:
        """Call where a step starts, with positions of all nodes (n, 3) [m]. Raises StepFailed where time is up."""
        if time >= self._apart_since:
            self._springs = None
            return
        one = self._crossing
        meets = one.surfaces.crossing(x)
        near = self._everything.nearest(x) if meets is None else None
        if meets is None and near is None and time >= one.seconds:  # before that it may still be too fast
            self._apart_since, self._springs = time, None
            return
        if time > LATE * one.seconds:
            first, second = (meets[0][0], meets[1][0]) if meets is not None else (near[0], near[3])  # type: ignore[index]
            place = ", ".join(f"{c:.4g}" for c in x[second])
            raise StepFailed(f'it is not pushed apart from "{one.names[one.owner[second]]}" after {time:.3g} s, near '
                             f"({place}) m", one.names[one.owner[first]],
                             "Give it more frames, move them apart by hand, or let them not touch each other")
        self._springs = self._found(x)[0]
        self._began, self._out_then = time, self._springs.out(x)

    def measure(self, x: Vec, time: float) -> Stencils:
        """Forces and energy at positions (n, 3) [m]; no blocks."""
        return self._with_springs(self._now.measure(x, time), x, time, False)

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """The same with blocks; K is negative semi-definite if `project`."""
        return self._with_springs(self._now.fill(x, time, project), x, time, True)

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """It does not."""

    def nearest(self, x: Vec) -> Index | None:
        """As of what keeps apart now."""
        return self._now.nearest(x)

    def paired(self, x: Vec, times: float) -> Index:
        """As of what keeps apart now, and what springs join, (k, 2)."""
        near = self._now.paired(x, times)
        return near if self._springs is None else np.concatenate([near, self._springs.nodes[:, [0, 3]]])

    def told(self, x: Vec) -> Vec:
        """As of what keeps apart now, (k, 7)."""
        return self._now.told(x)

    def largest_step(self, start: Vec, end: Vec) -> float:
        """As of what keeps apart now."""
        return self._now.largest_step(start, end)

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """As of what keeps apart now, (n,)."""
        return self._now.largest_steps(start, end, alike)

    def bounds(self, begun: Vec) -> Bounds | None:
        """As of what keeps apart now."""
        return self._now.bounds(begun)

    @property
    def is_rough(self) -> bool:
        """Whether there is friction anywhere."""
        return self._everything.is_rough

    def touching(self, x: Vec):  # type: ignore[no-untyped-def]
        """As of what keeps apart now."""
        return self._now.touching(x)  # type: ignore[attr-defined]

    def sliding(self, x: Vec, base: Vec, seconds: float):  # type: ignore[no-untyped-def]
        """As of what keeps apart now."""
        return self._now.sliding(x, base, seconds)

    def _with_springs(self, table: Stencils, x: Vec, time: float, with_blocks: bool) -> Stencils:
        springs, one = self._springs, self._crossing
        if springs is None:
            return table
        gone = time / one.seconds
        # without a jerk at either end; and on after the while, where weight holds up what comes out
        share = min(gone / OUT, 1.0)
        eased = share * share * (3.0 - 2.0 * share) + max(gone - 1.0, 0.0) ** 2
        goal = gone * one.gap[tuple(springs.pair.T)] - (1.0 - eased) * self._deepest[tuple(springs.pair.T)]
        out = springs.out(x)
        lacks = np.maximum(goal - out, 0.0)
        # a dashpot of LAGS · while · k where it is not apart, whose force is even over what of the step is gone
        late = time - self._began
        is_damped = (self._out_then < one.gap[tuple(springs.pair.T)]) & (late > 0.0)
        dashpot = np.where(is_damped, springs.stiffness * LAGS * one.seconds / max(late, ROUNDING), 0.0)
        moved = out - self._out_then
        push = springs.stiffness * lacks - dashpot * moved
        forces = (springs.weights * push[:, None])[:, :, None] * springs.normal[:, None, :]
        energy = 0.5 * float(springs.stiffness @ lacks**2 + dashpot @ moved**2)
        blocks = np.zeros((0, 6, 9))
        if with_blocks:
            rows, columns = np.tril_indices(4, -1)
            curved = np.where(lacks > 0.0, -springs.stiffness, 0.0) - dashpot
            pairs = springs.weights[:, rows] * springs.weights[:, columns] * curved[:, None]
            across = np.einsum("ki,kj->kij", springs.normal, springs.normal).reshape(-1, 1, 9)
            blocks = np.concatenate([table.blocks, pairs[:, :, None] * across])
        return Stencils(np.concatenate([table.nodes, springs.nodes]).astype(np.int32),
                        np.concatenate([table.forces, forces]), blocks, table.energy + energy)

    def _found(self, x: Vec) -> tuple[_Springs, Vec]:
        """A spring for each point that is near a surface that it crosses, and how far out of it that is, (k,) [m]."""
        one = self._crossing
        near = one.surfaces.near(x, self._depth)
        bodies, nodes = near.bodies[: near.points], near.nodes[: near.points]
        out, face = self._out[tuple(bodies.T)], _normals(x[nodes[:, 1:]])
        faces_it = (np.einsum("ki,ki->k", out, face) > ALONG) | ~out.any(axis=1)
        bodies, nodes = bodies[faces_it], nodes[faces_it]
        square = np.empty(len(nodes))
        squares(0, len(nodes), x, nodes, len(nodes), square)
        # the nearest triangle of each body for each point
        order = np.lexsort((square, bodies[:, 1], nodes[:, 0]))
        first = np.ones(len(order), dtype=bool)
        first[1:] = ((nodes[order[1:], 0] != nodes[order[:-1], 0])
                     | (bodies[order[1:], 1] != bodies[order[:-1], 1]))
        nodes, bodies = nodes[order[first]], bodies[order[first]]
        work = np.empty((len(nodes), WORK))
        for row, found in zip(nodes, work):
            nearest_in_triangle(x, row, found)
        face = _normals(x[nodes[:, 1:]])
        far = np.sqrt(work[:, SQUARE])
        away = np.einsum("kc,kci->ki", work[:, :4], x[nodes])
        is_inside = np.einsum("ki,ki->k", away, face) < 0.0
        for body, (triangles, is_closed) in enumerate(zip(one.triangles, one.is_closed)):
            mine = np.flatnonzero(bodies[:, 1] == body)
            if is_closed and len(mine):
                is_inside[mine] = winding_numbers(x[nodes[mine, 0]], x, triangles) > 0.5
        sign = np.where(is_inside, -1.0, 1.0)
        normal = np.where((far > ROUNDING)[:, None], sign[:, None] * away / np.maximum(far, ROUNDING)[:, None], face)
        each = one.stiffness[nodes]
        stiffness = FIRM * np.minimum(each[:, 0], each[:, 1:].mean(axis=1))
        return _Springs(nodes, np.ascontiguousarray(work[:, :4]), normal, bodies, stiffness), sign * far


def _normals(corners: Vec) -> Vec:
    """Of triangles (k, 3, 3), (k, 3)."""
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    out: Vec = face / np.maximum(np.linalg.norm(face, axis=1, keepdims=True), np.finfo(float).tiny)
    return out
