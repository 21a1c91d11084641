"""Surfaces keep apart: a barrier against the distance of every pair of their pieces, found anew at any positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...forces.stencils import Stencils
from ...state import Index, Vec
from ...threads import share
from ..find.distance_kernels import SQUARE, WAY, WORK
from ..find.ground import mixed
from ..find.mesh import NearPairs, Surfaces
from .barrier_kernels import push, resisting, stiffen
from .interface import LoadsOnCloth
from .sliding import Sliding

#: of a mean edge: how far nodes may go before near pairs are looked for again; farther than an edge is long nearly all
#: that is found is a surface's own neighbourhood
ROOM = 0.2
CHUNK = 64  #: pairs that a thread takes at once


@dataclass(frozen=True)
class PushingPairs:
    """Pairs that push each other, and what their forces are."""

    nodes: Index  #: (k, 4)
    points: int  #: that many of a point and a triangle stand first
    stiffness: Vec  #: κ [N/m], (k,)
    rest: Vec  #: of edges: |u × v|² below which they push less [m⁴], (k,)
    thickness: Vec  #: how near they may not come [m], (k,)
    activation: Vec  #: δ [m], (k,)
    work: Vec  #: weights, way and square of the distance of each, see distance_kernels, (k, 17)
    forces: Vec  #: (k, 4, 3) [N]
    energy: float  #: [J]


class Barrier:
    """W = Σ κ δ² m b((d² − t²)/(δ² + 2 t δ)) over pairs nearer than t + δ: there is none there and no end of it at t.

    t is how thick both sides are together; those of one body are not.
    κ of a pair is that of its softer side, which an obstacle never is; of cloth with what may lie on it at least what
    stops that in a step: a log barrier far too soft for its load ends so near to t that each iteration goes a little.
    [Ascher 31-33, changed: of squared distances, as ipctk has it]
    """

    def __init__(self, surfaces: Surfaces, rest: Vec, stiffness: Vec, friction: Vec, activation: float | Vec,
                 params: Mapping[str, float], thickness: Vec, loads: LoadsOnCloth | None = None) -> None:
        """rest: of all nodes, (n, 3) [m]. stiffness: κ of each [N/m], infinite where it is an obstacle's, (n,).
        friction: μ of each, (n,). activation: δ [m], of all pairs or of two bodies each, (b, b). params: creep_speed,
        ε. thickness: how far each stands out of the surface [m], (n,). loads: on cloth, if there are any."""
        self._thickness, self._thickest = thickness, 2.0 * float(thickness.max(initial=0.0))
        self.surfaces, self._creep = surfaces, params["creep_speed"]
        self.activation = float(np.max(activation))  #: the largest δ [m]
        self._activations = np.asarray(activation, dtype=float)
        self._rest, self._stiffness, self._friction = rest, stiffness, friction
        nothing = np.zeros(len(rest))
        self._area, self._behind = (nothing, nothing) if loads is None else (loads.area, loads.behind)
        ends = rest[surfaces.nodes[surfaces.edges]]
        is_body = np.isfinite(stiffness[surfaces.nodes[surfaces.edges]]).all(axis=1)
        self.edge = float(np.linalg.norm(ends[is_body, 0] - ends[is_body, 1], axis=1).mean())
        self._last: list[tuple[Vec, PushingPairs]] = []  #: where it was asked last, and before

    def begin(self, x: Vec, time: float) -> None:
        """It is the same in all steps."""

    def largest_step(self, start: Vec, end: Vec) -> float:
        """The largest share of a straight move between positions (n, 3) [m], in [0, 1], in which nothing meets."""
        share = self.surfaces.largest_step(start, end)
        if not self._thickest or self._is_apart(start + share * (end - start)) or not self._is_apart(start):
            return share
        while not self._is_apart(start + share * (end - start)):
            share *= 0.5
        return share

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """The same of each node, (n,), those of one number `alike` (n,) the same."""
        shares = self.surfaces.largest_steps(start, end, alike)
        if self._thickest and not self._is_apart(start + shares[:, None] * (end - start)):
            return np.full(len(shares), self.largest_step(start, end))
        return shares

    def _is_apart(self, x: Vec) -> bool:
        """Whether no two sides are nearer to each other than they are thick."""
        return self.nearest(x) is None

    def nearest(self, x: Vec) -> Index | None:
        """The pair, (4,) nodes, that is nearest of those nearer to each other than they are thick; None where none is.
        """
        near = self._found_near(x)
        inside = near.square - self._apart(near) ** 2
        return near.nodes[int(inside.argmin())] if inside.min(initial=np.inf) <= 0.0 else None

    def measure(self, x: Vec, time: float) -> Stencils:
        """Forces and energy at positions (n, 3) [m]; no blocks."""
        found = self.touching(x)
        return Stencils(found.nodes, found.forces, np.zeros((0, 6, 9)), found.energy)

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """The same with blocks; K = ∂f/∂x is negative semi-definite if `project`."""
        found = self.touching(x)
        blocks = np.empty((len(found.nodes), 6, 9))
        _share(stiffen, len(blocks), x, found.nodes, found.points, found.stiffness, found.rest, found.thickness,
               found.activation, project, found.work, blocks)
        return Stencils(found.nodes, found.forces, blocks, found.energy)

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """It does not."""

    def bounds(self, begun: Vec) -> None:
        """None: it pushes by forces."""

    @property
    def is_rough(self) -> bool:
        """Whether there is friction anywhere."""
        return bool(self._friction.any())

    def sliding(self, x: Vec, base: Vec, seconds: float) -> Sliding | None:
        """Friction of a stage, with loads and normals as they are at positions x (n, 3) [m]; None where none is.

        base: positions of all nodes at v = 0, (n, 3) [m]. seconds: from there to the stage's end.
        """
        if not self.is_rough:
            return None
        found = self.touching(x)
        rough = mixed(self._friction[found.nodes[:, 0]], self._friction[found.nodes[:, 3]])
        # all that one side is pushed, which is along the way between the two nearest points
        load = rough * np.linalg.norm(_on_first_side(found), axis=1)
        rubs = np.flatnonzero(load)
        if not len(rubs):
            return None
        way = found.work[rubs, WAY : WAY + 3]
        return Sliding(found.nodes[rubs], found.work[rubs, :4].copy(), way / np.linalg.norm(way, axis=1)[:, None],
                       load[rubs], self._creep, base, seconds)

    def touching(self, x: Vec) -> PushingPairs:
        """Pairs nearer than δ at positions (n, 3) [m], always in the same order."""
        for there, known in self._last:
            if np.array_equal(x, there):
                return known
        near = self._found_near(x)
        apart, activation = self._apart(near), self._activation_of(near)
        active = np.flatnonzero(near.square < (activation + apart) ** 2)
        nodes, points = near.nodes[active], int(np.searchsorted(active, near.points))
        stiffness, rest = self._resisting(nodes, points)
        apart, activation = apart[active], activation[active]
        forces, energy, work = np.empty((len(nodes), 4, 3)), np.empty(len(nodes)), np.empty((len(nodes), WORK))
        _share(push, len(nodes), x, nodes, points, stiffness, rest, apart, activation, forces, energy, work)
        found = PushingPairs(nodes, points, stiffness, rest, apart, activation, work, forces, float(energy.sum()))
        # a stage asks for forces, blocks and loads at one place, a round where it began and where it ends
        self._last = [(x.copy(), found), *self._last[:1]]
        return found

    def paired(self, x: Vec, times: float) -> Index:
        """Nodes of both sides of each pair nearer than t + so many times δ at positions (n, 3) [m], (k, 2)."""
        near = self._found_near(x, times)
        nodes: Index = near.nodes[near.square < (times * self._activation_of(near) + self._apart(near)) ** 2]
        return nodes[:, [0, 3]]

    def told(self, x: Vec) -> Vec:
        """Of each pair that pushes at positions (n, 3) [m]: the middle between its nearest points [m], the force on the
        first side, which the other one feels the other way [N], and how near they are [m]; (k, 7)."""
        found = self.touching(x)
        middle = 0.5 * np.einsum("kc,kci->ki", np.abs(found.work[:, :4]), x[found.nodes])
        return np.column_stack([middle, _on_first_side(found), np.sqrt(found.work[:, SQUARE])])

    def _found_near(self, x: Vec, times: float = 1.0) -> NearPairs:
        """Pairs among which all are that push at positions (n, 3), or would if they did from so many times δ on."""
        return self.surfaces.near(x, times * self.activation + self._thickest, ROOM * self.edge)

    def _activation_of(self, near: NearPairs) -> Vec:
        """δ of pairs, (k,) [m]."""
        of_bodies = self._activations if not self._activations.ndim else self._activations[tuple(near.bodies.T)]
        return np.broadcast_to(of_bodies, len(near.nodes))

    def _apart(self, near: NearPairs) -> Vec:
        """How thick both sides of pairs are together, (k,) [m]."""
        thick: Vec = np.where(near.is_self, 0.0, self._thickness[near.nodes[:, 0]] + self._thickness[near.nodes[:, 3]])
        return thick

    def _resisting(self, nodes: Index, points: int) -> tuple[Vec, Vec]:
        """κ of pairs (k, 4), of which so many are of a point and a triangle, (k,) [N/m]; and below which |u × v|² edges
        push less, (k,) [m⁴]."""
        kappa, rest = np.empty(len(nodes)), np.empty(len(nodes))
        resisting(nodes, points, self._stiffness, self._area, self._behind, self._rest, kappa, rest)
        return kappa, rest


def _on_first_side(found: PushingPairs) -> Vec:
    """The whole force on the point, or on the first edge, of each pair, (k, 3) [N]."""
    with np.errstate(invalid="ignore"):  # a step that fails may have led where there is no end of them
        both = found.forces[:, 0] + found.forces[:, 1]
    force: Vec = np.where(np.arange(len(found.nodes))[:, None] < found.points, found.forces[:, 0], both)
    return force


def _share(kernel, count, *arguments) -> None:  # type: ignore[no-untyped-def]
    """kernel(start, stop, …) over so many pairs; each writes rows of its own."""
    if count <= 4 * CHUNK:
        kernel(0, count, *arguments)
    else:
        share(kernel, count, *arguments)
