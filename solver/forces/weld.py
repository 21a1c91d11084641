"""Welds: two bodies stick together where they are near each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.spatial import cKDTree

from ..errors import BadScene
from ..meshing.closest import closest_weights
from ..state import Index, Mask, Vec
from .multipliers import WithMultipliers
from .stencils import ElasticBody, Stencils
from .weld_kernels import weld

STICKS = 0.01  #: painted weights below it do not stick, such as interpolated ones beside the paint
BONDED, OFF = 1.0, 2.0  #: states of a point: sticking, and come off; 0 before it sticks
WIDTH = 9  #: stored numbers of a point that sticks later
SOON = 1.0e-9  #: rounding of times [s]


@dataclass(frozen=True)
class Bonds:
    """Points that stick, each to a position relative to a triangle."""

    nodes: Index  #: the point and the corners of its triangle, (s, 4)
    weights: Vec  #: of the corners at the foot of the point, (s, 3)
    gaps: Vec  #: height of the point above its foot [m], (s,)
    stiffness: Vec  #: k of each [N/m], (s,)
    bears: Vec  #: strength: force at which each comes off [N], (s,)

    def select(self, which: Mask) -> Bonds:
        """Return the bonds of a mask `which`, (s,)."""
        return Bonds(*(np.ascontiguousarray(getattr(self, field.name)[which]) for field in fields(self)))


class Weld(WithMultipliers):
    """Force that ties each point of the first body's skin near the second body to a position over the triangle below
    it.

    The position rotates with the triangle, so welded bodies move as one, and each force has its reaction: linear and
    angular momentum are conserved. [Notes, Penalty Forces]
    """

    def __init__(self, bodies: Sequence[ElasticBody], rest: Vec, params: Mapping[str, float]) -> None:
        """bodies: two. rest: (n, 3) [m]. params: `distance` [m] within which points are welded; `stiffness` [N/m³], per
        m² of skin; `lasts` [s], time at which the weld ends, 0 for never; `breaks` [Pa], stress above which a point
        comes off, 0 for never; `begins` [s], time at which near points stick. Painted weights of the first body are
        factors of `breaks`.

        Raises BadScene where there are not two bodies, or none of their points are near each other.
        """
        if len(bodies) != 2:
            raise BadScene("a weld joins two bodies", "Name the two soft bodies that stick together")
        self._glued, self._base = bodies
        self._rest, self._distance, self._breaks = rest, params["distance"], params["breaks"] or np.inf
        self._whole = areas(self._glued.skin, rest) + patches(self._glued.wires, rest)  #: of each node [m²], (n,)
        self._stiffness = params["stiffness"]
        self._begins, self._lasts = params["begins"], params["lasts"] or np.inf
        self._none = np.zeros((0, 4), np.int32)
        self._first = self._bonds(rest, 0.0) if self._begins <= 0.0 else None  #: from the start on
        self._points = find_painted_points(self._glued)
        refuse_unpainted(self._glued, self._base)
        self.recall(None)

    def _bonds(self, x: Vec, time: float) -> Bonds:
        """Return the bonds of near points at positions x (n, 3) [m] and a time [s]. Raises BadScene where none is
        near."""
        points, triangles, weights, gaps = find_near_points(self._glued, self._base, x, self._distance)
        refuse_distant(self._glued, self._base, points, self._distance, time)
        # the area of triangles whose corners all stick; of a point without any, its whole area
        inside = self._glued.skin[np.isin(self._glued.skin, points).all(axis=1)]
        stuck = (areas(inside, self._rest) + patches(self._glued.wires, self._rest))[points]
        bears = self._breaks * np.where(stuck > 0.0, stuck, self._whole[points])
        if self._glued.weights is not None:
            bears *= self._glued.weights[points - self._glued.nodes.start]
        return Bonds(np.ascontiguousarray(np.column_stack([points, triangles]), dtype=np.int32),
                     np.ascontiguousarray(weights), np.ascontiguousarray(gaps), self._stiffness * self._whole[points],
                     bears)

    @property
    def remembers(self) -> int:
        """Return the number of stored values: one for each point, or `WIDTH` for each point of a weld that begins
        later."""
        return len(self._first.nodes) if self._first is not None else len(self._points) * WIDTH

    def recall(self, multipliers: Vec | None) -> None:
        """Set the state of the points from `multipliers` (`remembers`,), as returned by that method; None: none has
        come off."""
        # what has come off is no element any more: a factor that is reused while elements are the same is refactored
        if self._first is not None:
            self._sticks = np.ones(self.remembers, dtype=bool) if multipliers is None else multipliers < 0.5
            self._acting = self._first.select(self._sticks)
            return
        self._table = np.zeros((len(self._points), WIDTH)) if multipliers is None else multipliers.reshape(-1, WIDTH)
        self._sticks = self._table[:, 0] == BONDED
        table = self._table[self._sticks]
        points = self._points[self._sticks]
        self._acting = Bonds(np.ascontiguousarray(np.column_stack([points, table[:, 1:4]]), dtype=np.int32),
                             np.ascontiguousarray(table[:, 4:7]), np.ascontiguousarray(table[:, 7]),
                             self._stiffness * self._whole[points], np.ascontiguousarray(table[:, 8]))

    def multipliers(self, x: Vec, time: float) -> Vec:
        """Return the state of the points at positions x (n, 3) [m] and `time` [s], (`remembers`,): 1 for each that has
        come off.

        A point comes off where its force exceeds its strength. Of a weld that begins later: the state of each point,
        the corners of its triangle, their weights, the gap and the strength. Raises BadScene where no point is near as
        it begins.
        """
        table = self._evaluate(x, time, False)
        comes_off = np.zeros(len(self._sticks), dtype=bool)
        if len(table.nodes):
            comes_off[self._sticks] = np.linalg.norm(table.forces[:, 0], axis=1) > self._acting.bears
        if self._first is not None:
            return np.asarray(~self._sticks | comes_off, dtype=float)
        out = self._table.copy()
        out[comes_off, 0] = OFF
        if not out[:, 0].any() and time >= self._begins - SOON:
            bonds = self._bonds(x, time)
            out[:, 0] = OFF
            out[np.searchsorted(self._points, bonds.nodes[:, 0])] = np.column_stack(
                [np.full(len(bonds.nodes), BONDED), bonds.nodes[:, 1:], bonds.weights, bonds.gaps, bonds.bears])
        return out.ravel()

    def _evaluate(self, x: Vec, time: float, with_blocks: bool) -> Stencils:
        """Return forces, energy and stiffness at positions x (n, 3) [m]; nothing once the weld has ended at `time` [s].
        """
        nodes = self._acting.nodes
        if time >= self._lasts or not len(nodes):
            return Stencils(self._none, np.zeros((0, 4, 3)), np.zeros((0, 6, 9)), 0.0)
        forces, blocks = np.empty((len(nodes), 4, 3)), np.empty((len(nodes) if with_blocks else 0, 6, 9))
        energy = weld(nodes, self._acting.weights, self._acting.gaps, self._acting.stiffness, x, forces, blocks)
        return Stencils(nodes, forces, blocks, energy)

    def measure(self, x: Vec, time: float) -> Stencils:
        """Return forces and energy at positions x (n, 3) [m] and `time` [s], without blocks."""
        return self._evaluate(x, time, False)

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Return forces, energy and blocks of K = ∂f/∂x at positions x (n, 3) [m] and `time` [s].

        K is negative semi-definite whatever `project`.
        """
        return self._evaluate(x, time, True)

    def damp(self, x: Vec, v: Vec, time: float) -> Stencils | None:
        """Return None: a weld, as stiff as steps can follow, has no damping."""
        return None


def refuse_unpainted(glued: ElasticBody, base: ElasticBody) -> None:
    """Raise BadScene where the second body of a weld has no faces, or no point of the first is painted."""
    if not len(base.skin):
        raise BadScene(f'"{glued.name}" is to stick to "{base.name}", which is a rope and has no faces',
                       f'Weld "{base.name}" to "{glued.name}" instead')
    if not len(find_painted_points(glued)):
        raise BadScene(f'"{glued.name}" is to stick to "{base.name}" where it is painted, and nothing of it is',
                       "Paint what sticks, or choose no map")


def refuse_distant(glued: ElasticBody, base: ElasticBody, points: Index, distance: float, time: float = 0.0) -> None:
    """Raise BadScene where a weld has no points (k,) at `time` [s]. distance: of the weld [m]."""
    refuse_unpainted(glued, base)
    if not len(points):
        painted = "" if glued.weights is None else "painted "
        when = f" {time:.4g} s after the start, when it is to stick" if time else ""
        raise BadScene(f'"{glued.name}" and "{base.name}" are welded, but no {painted}point of "{glued.name}" is '
                       f'within {distance:g} m of "{base.name}"{when}',
                       "Raise the weld's distance, or move them closer")


def find_painted_points(glued: ElasticBody) -> Index:
    """Return the nodes of a body's skin and wires whose painted weight is above `STICKS`, ascending, (p,)."""
    points: Index = np.union1d(glued.skin, glued.wires)
    return points if glued.weights is None else points[glued.weights[points - glued.nodes.start] > STICKS]


def find_near_points(glued: ElasticBody, base: ElasticBody, rest: Vec,
                     distance: float) -> tuple[Index, Index, Vec, Vec]:
    """Return the painted nodes (k,) of one body's skin within `distance` [m] of another's, and the position of each.

    The position of a node: the corners of the nearest triangle (k, 3), the weights of the point in its plane below the
    node (k, 3), and the height of the node above it along the normal (k,) [m]. rest: positions of all nodes, (n, 3)
    [m].
    """
    points, corners = find_painted_points(glued), rest[base.skin]
    if not len(corners):
        return np.zeros(0, np.int32), np.zeros((0, 3), np.int32), np.zeros((0, 3)), np.zeros(0)
    middle = corners.mean(axis=1)
    reach = distance + float(np.linalg.norm(corners - middle[:, None], axis=2).max())
    candidates = cKDTree(middle).query_ball_point(rest[points], reach)
    counts = np.array([len(candidate) for candidate in candidates], dtype=np.int64)
    owner = np.repeat(np.arange(len(points)), counts)
    if not len(owner):
        empty = np.zeros(0, np.int32)
        return empty, np.zeros((0, 3), np.int32), np.zeros((0, 3)), np.zeros(0)
    triangle = np.concatenate([np.sort(candidate) for candidate in candidates if candidate]).astype(np.int64)
    weights = closest_weights(rest[points[owner]], corners[triangle])
    away = rest[points[owner]] - np.einsum("ki,kij->kj", weights, corners[triangle])
    distances = np.linalg.norm(away, axis=1)
    # the nearest triangle of each point, the first of those that are as near
    order = np.lexsort((triangle, distances, owner))
    first = order[np.unique(owner[order], return_index=True)[1]]
    first = first[distances[first] <= distance]
    chosen = corners[triangle[first]]
    normal = np.cross(chosen[:, 1] - chosen[:, 0], chosen[:, 2] - chosen[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    gaps = np.einsum("kj,kj->k", away[first], normal)
    # a node beside the triangle stays beside it: its foot is the point in the plane right below
    foot = rest[points[owner[first]]] - gaps[:, None] * normal
    return (points[owner[first]].astype(np.int32), base.skin[triangle[first]].astype(np.int32),
            in_plane(foot, chosen), gaps)


def in_plane(points: Vec, corners: Vec) -> Vec:
    """Return the barycentric weights (k, 3) of points (k, 3) in the planes of triangles (k, 3, 3), outside of these
    too."""
    a, first, second = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    across = np.cross(first, second)
    area2 = np.maximum(np.einsum("kj,kj->k", across, across), 1e-300)
    v = np.einsum("kj,kj->k", np.cross(points - a, second), across) / area2
    w = np.einsum("kj,kj->k", np.cross(first, points - a), across) / area2
    return np.column_stack([1.0 - v - w, v, w])


def areas(skin: Index, rest: Vec) -> Vec:
    """Return the area of skin of each node, (n,) [m²]: a third of its triangles'. skin: (t, 3). rest: (n, 3) [m]."""
    a, b, c = (rest[skin[:, i]] for i in range(3))
    third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    return np.asarray(np.bincount(skin.ravel(), np.repeat(third, 3), len(rest)), float)


def patches(wires: Index, rest: Vec) -> Vec:
    """Return the area of links' ends at each node, (n,) [m²]: a square of half a link each. wires: (k, 2). rest: (n, 3)
    [m]."""
    half = 0.5 * np.linalg.norm(rest[wires[:, 1]] - rest[wires[:, 0]], axis=1)
    return np.asarray(np.bincount(wires.ravel(), np.repeat(half**2, 2), len(rest)), float)
