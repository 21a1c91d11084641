"""Two bodies stick together where they are near each other at the start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.spatial import cKDTree

from ..errors import BadScene
from ..meshing.closest import closest_weights
from ..state import Index, Vec
from .multipliers import WithMultipliers
from .stencils import ElasticBody, Stencils
from .weld_kernels import weld

STICKS = 0.01  #: painted weights below it do not stick: what fades out between vertices is no paint


class Weld(WithMultipliers):
    """Each point of the first body's skin that is near the second one's keeps its place over the triangle below it.

    The place turns with that triangle, so bodies that are welded move as one, and each force has its reaction: linear
    and angular momentum stay. [Notes, Penalty Forces]
    """

    def __init__(self, bodies: Sequence[ElasticBody], rest: Vec, params: Mapping[str, float]) -> None:
        """params: `distance` [m] within which points are welded; `stiffness` [N/m³], for each m² of skin; `lasts` [s],
        for how long, 0 for ever; `breaks` [Pa], the pull above which a point comes off, 0 for never. Raises BadScene
        where it is not about two bodies, or none of them is near the other. Weights of the first body are shares of
        `breaks`.
        """
        if len(bodies) != 2:
            raise BadScene("a weld joins two bodies", "Name the two soft bodies that stick together")
        glued, base = bodies
        points, triangles, weights, gaps = near(glued, base, rest, params["distance"])
        refuse_apart(glued, base, points, params["distance"])
        self._nodes = np.ascontiguousarray(np.column_stack([points, triangles]), dtype=np.int32)
        self._weights, self._gaps = np.ascontiguousarray(weights), np.ascontiguousarray(gaps)
        whole = (areas(glued.skin, rest) + patches(glued.wires, rest))[points]
        # what sticks is triangles that are welded as a whole; beside them a point sticks with all of its own
        stuck = (areas(glued.skin[np.isin(glued.skin, points).all(axis=1)], rest) + patches(glued.wires, rest))[points]
        self._bears = (params["breaks"] or np.inf) * np.where(stuck > 0.0, stuck, whole)  #: of each point [N], (s,)
        if glued.weights is not None:
            self._bears *= glued.weights[points - glued.nodes.start]
        self._stiffness = params["stiffness"] * whole  #: k of each point [N/m], (s,)
        self._none = np.zeros((0, 4), np.int32)
        self._lasts = params["lasts"] or np.inf
        self.recall(None)

    @property
    def remembers(self) -> int:
        """Return the number of points."""
        return len(self._nodes)

    def recall(self, multipliers: Vec | None) -> None:
        """From now on these have come off, 1 each, (`remembers`,); None: none has."""
        self._sticks = np.ones(len(self._nodes), dtype=bool) if multipliers is None else multipliers < 0.5
        # what has come off is no element any more: a factor that is reused while elements are the same is refactored
        self._acting = tuple(np.ascontiguousarray(one[self._sticks])
                             for one in (self._nodes, self._weights, self._gaps, self._stiffness))

    def multipliers(self, x: Vec, time: float) -> Vec:
        """Return which points have come off, 1 each, at positions (n, 3) [m] and a time [s], (`remembers`,): those
        that had, and those at which more pulls than they bear."""
        gone = ~self._sticks
        table = self._evaluate(x, time, False)
        if len(table.nodes):
            gone[self._sticks] = np.linalg.norm(table.forces[:, 0], axis=1) > self._bears[self._sticks]
        return np.asarray(gone, dtype=float)

    def _evaluate(self, x: Vec, time: float, with_blocks: bool) -> Stencils:
        nodes, weights, gaps, stiffness = self._acting
        if time >= self._lasts or not len(nodes):
            return Stencils(self._none, np.zeros((0, 4, 3)), np.zeros((0, 6, 9)), 0.0)
        forces, blocks = np.empty((len(nodes), 4, 3)), np.empty((len(nodes) if with_blocks else 0, 6, 9))
        energy = weld(nodes, weights, gaps, stiffness, x, forces, blocks)
        return Stencils(nodes, forces, blocks, energy)

    def measure(self, x: Vec, time: float) -> Stencils:
        """Forces and energy at positions (n, 3) [m] and a time [s], without blocks."""
        return self._evaluate(x, time, False)

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Forces, energy and blocks of K = ∂f/∂x, negative semi-definite whatever `project` says."""
        return self._evaluate(x, time, True)

    def damp(self, x: Vec, v: Vec, time: float) -> Stencils | None:
        """None: a weld is as stiff as steps can follow and does not swing by itself."""
        return None


def refuse_apart(glued: ElasticBody, base: ElasticBody, points: Index, distance: float) -> None:
    """Raise BadScene where a weld has no points (k,), or the second body no faces. distance: of the weld [m]."""
    if not len(base.skin):
        raise BadScene(f'"{glued.name}" is to stick to "{base.name}", which is a rope and has no faces',
                       f'Weld "{base.name}" to "{glued.name}" instead')
    if glued.weights is not None and not (glued.weights > STICKS).any():
        raise BadScene(f'"{glued.name}" is to stick to "{base.name}" where it is painted, and nothing of it is',
                       "Paint what sticks, or choose no map")
    if not len(points):
        painted = "" if glued.weights is None else "painted "
        raise BadScene(f'"{glued.name}" and "{base.name}" are welded, but no {painted}point of "{glued.name}" is '
                       f'within {distance:g} m of "{base.name}"', "Raise the weld's distance, or move them closer")


def near(glued: ElasticBody, base: ElasticBody, rest: Vec, distance: float) -> tuple[Index, Index, Vec, Vec]:
    """Painted nodes of one body's skin within `distance` [m] of another's: (k,), the nearest triangle's corners (k, 3),
    the weights (k, 3) of the point below them, and how far they are above it along its normal [m], (k,).

    rest: of all nodes, (n, 3) [m].
    """
    points, corners = np.union1d(glued.skin, glued.wires), rest[base.skin]
    if glued.weights is not None:
        points = points[glued.weights[points - glued.nodes.start] > STICKS]
    if not len(corners):
        return np.zeros(0, np.int32), np.zeros((0, 3), np.int32), np.zeros((0, 3)), np.zeros(0)
    middle = corners.mean(axis=1)
    reach = distance + float(np.linalg.norm(corners - middle[:, None], axis=2).max())
    candidates = cKDTree(middle).query_ball_point(rest[points], reach)
    counts = np.array([len(one) for one in candidates], dtype=np.int64)
    owner = np.repeat(np.arange(len(points)), counts)
    if not len(owner):
        empty = np.zeros(0, np.int32)
        return empty, np.zeros((0, 3), np.int32), np.zeros((0, 3)), np.zeros(0)
    triangle = np.concatenate([np.sort(one) for one in candidates if one]).astype(np.int64)
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
    # what is beside the triangle's plane stays beside it: the place in the plane that is right below
    foot = rest[points[owner[first]]] - gaps[:, None] * normal
    return (points[owner[first]].astype(np.int32), base.skin[triangle[first]].astype(np.int32),
            in_plane(foot, chosen), gaps)


def in_plane(points: Vec, corners: Vec) -> Vec:
    """Weights (k, 3) of points (k, 3) in the planes of triangles (k, 3, 3), outside of these too."""
    a, first, second = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    across = np.cross(first, second)
    area2 = np.maximum(np.einsum("kj,kj->k", across, across), 1e-300)
    v = np.einsum("kj,kj->k", np.cross(points - a, second), across) / area2
    w = np.einsum("kj,kj->k", np.cross(first, points - a), across) / area2
    return np.column_stack([1.0 - v - w, v, w])


def areas(skin: Index, rest: Vec) -> Vec:
    """Area of skin that belongs to each node [m²], (n,): a third of its triangles'. rest: (n, 3) [m]."""
    a, b, c = (rest[skin[:, i]] for i in range(3))
    third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    return np.asarray(np.bincount(skin.ravel(), np.repeat(third, 3), len(rest)), float)


def patches(wires: Index, rest: Vec) -> Vec:
    """Area that stands for the end of each link at its node [m²], (n,): a square of its half. wires: (k, 2)."""
    half = 0.5 * np.linalg.norm(rest[wires[:, 1]] - rest[wires[:, 0]], axis=1)
    return np.asarray(np.bincount(wires.ravel(), np.repeat(half**2, 2), len(rest)), float)
