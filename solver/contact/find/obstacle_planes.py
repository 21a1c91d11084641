"""Contact planes of obstacles for drafts and previews: one for each point near an obstacle.

Edges and faces between the points are not tested, and a fast point may pass through a thin obstacle in one step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from ...coordinates.prescribed import OverTime
from ...meshing.closest_kernels import nearest_candidates
from ...meshing.normals import unit_normals
from ...meshing.sheets import border_edges
from ...state import Index, Mask, Vec
from .candidate_cells import CandidateCells


@dataclass(frozen=True)
class ObstaclePlanes:
    """Half-spaces normal · (x − position) ≥ 0 that constrain some points at the end of a step."""

    points: Index  #: numbers of the points, (k,)
    positions: Vec  #: positions on the obstacle [m], (k, 3)
    normals: Vec  #: unit, out of the obstacle, (k, 3)
    velocities: Vec  #: of the obstacle at these positions [m/s], (k, 3)
    corners: Index  #: vertices of the obstacle's triangle at each position, (k, 3)
    weights: Vec  #: of these vertices, (k, 3)


@dataclass(frozen=True)
class _Placed:
    """An obstacle's mesh at one time, with its search structures."""

    x: Vec  #: vertices [m], (n, 3)
    tree: cKDTree  #: of the sampled positions
    cells: CandidateCells | None  #: None for a mesh that moves
    normals: Vec  #: of the triangles, (t, 3)
    reach: Vec  #: of each triangle from its first corner, and a little more [m], (t,)


@dataclass(frozen=True)
class _Nearest:
    """The nearest triangle of each point; −1 where none is near enough."""

    triangles: Index  #: (k,)
    weights: Vec  #: of its corners, (k, 3)
    outward: Vec  #: normal of the surface there, of any length, (k, 3)

    @property
    def is_near(self) -> Mask:
        """Return which points have a nearest triangle, (k,)."""
        mask: Mask = self.triangles >= 0
        return mask

    def of(self, rows: Index) -> _Nearest:
        """Return the nearest triangles of some of the points, given by rows (r,)."""
        return _Nearest(self.triangles[rows], self.weights[rows], self.outward[rows])


class ObstacleMesh:
    """An obstacle's triangle mesh at rest or in prescribed motion."""

    candidates = 8  #: nearest samples of a point, whose triangles may be nearest
    samples_of_diagonal = 30.0  #: samples along the diagonal of a mesh
    depth = 0.15  #: relative to the diagonal: a point that is deeper inside is not found
    on_surface = 1.0e-9  #: relative to the diagonal: nearer points are on the surface

    def __init__(self, triangles: Index, motion: OverTime) -> None:
        """triangles: (t, 3). motion: positions of the vertices over time, (n, 3) [m]."""
        self.triangles, self._motion = np.ascontiguousarray(triangles, dtype=np.int32), motion
        rest = motion.at(0.0)
        self.diagonal = max(float(np.linalg.norm(np.ptp(rest[self.triangles.ravel()], axis=0))), 1.0e-300)
        self._spacing = self.diagonal / self.samples_of_diagonal
        self._sampled_triangles, self._sampled = _sample(rest, self.triangles, self._spacing)
        ends, of = border_edges(self.triangles)
        #: whether the side opposite each corner has no other triangle, (t, 3)
        self._border = np.zeros((len(self.triangles), 3), dtype=bool)
        rows, corner = np.nonzero((self.triangles[of][:, :, None] != ends[:, None, :]).all(axis=2))
        self._border[of[rows], corner] = True
        self._is_closed = not self._border.any()
        self._placed: dict[float, _Placed] = {}

    def side_of(self, points: Vec) -> float:
        """Return on which side most points, (k, 3) [m], are at the start: 1 where the normals point, else −1."""
        placed = self._at(0.0)
        near = self._nearest(placed, points, np.inf)
        on_border = self._on_border(near)
        counts = near.is_near & (~on_border | on_border.all())
        away = points - self._positions(placed, near)
        above = np.einsum("ij,ij->i", away, near.outward)[counts]
        return 1.0 if (above >= 0.0).sum() >= (above < 0.0).sum() else -1.0

    def planes(self, start: Vec, end: Vec, time: float, h: float, side: float, margin: float,
               clear: Vec | None = None) -> ObstaclePlanes | None:
        """Return planes of the points that are inside or nearer than `margin` [m] at a step's end; None if none is.

        start, end: points at the step's start and at its end without contact, (k, 3) [m]. time, h: start and length of
        the step [s]. side: of the points, see `side_of`. Each plane is tangent where the obstacle is nearest to the
        point at the start, so that a point that has passed through returns where it entered. clear: lower bounds of the
        distances from the obstacle at the step's start, (k,) [m], which are updated for the points that are tested.
        """
        before, after = self._at(time), self._at(time + h)
        moves = 0.0 if before is after else float(np.sqrt(((after.x - before.x) ** 2).sum(axis=1).max()))
        displacements = end - start
        lengths = np.sqrt(np.einsum("ij,ij->i", displacements, displacements))
        reach = float(lengths.max(initial=0.0)) + moves + margin + self._spacing + self.depth * self.diagonal
        off = _off_box(start, *(edge(before.x, axis=0) for edge in (np.min, np.max)))
        # no point outside the box of a closed mesh is inside the mesh
        is_near = off < (margin + lengths + moves if self._is_closed and side > 0.0 else reach)
        if clear is not None:
            is_near &= clear < margin + lengths + moves
            if self._is_closed and side > 0.0:
                np.maximum(clear, off, out=clear)
        some = np.flatnonzero(is_near)
        if not len(some):
            return None
        start, end = start[some], end[some]
        near = self._nearest(before, start, reach)
        away = start - self._positions(before, near)
        normals = self._normals(away, near, side)
        above = np.einsum("ij,ij->i", away, normals)
        if clear is not None:
            clear[some] = np.where(near.is_near, np.maximum(above, 0.0), self.depth * self.diagonal)
        # a point farther away than point and obstacle move in the step is not constrained
        rows = np.flatnonzero(near.is_near & (above < margin + lengths[some] + moves))
        if not len(rows):
            return None
        some, end, near, normals, above = some[rows], end[rows], near.of(rows), normals[rows], above[rows]
        later, positions = self._nearest(after, end, reach), self._positions(after, near)
        # the end position does not decide on points in contact already, which other forces may drive in again
        is_within = above < margin
        if moves:
            normals = _rotate(normals, before.normals[near.triangles], after.normals[near.triangles])
        gaps = np.einsum("ij,ij->i", end - positions, normals)
        beyond, outward = end - self._positions(after, later), side * later.outward
        is_inside = np.einsum("ij,ij->i", beyond, outward) < 0.0
        goes_through = (np.einsum("ij,ij->i", normals, outward) < 0.0) & (gaps < 0.0)
        by_end = ~is_inside & ~goes_through  # points that have come around an edge, or remain far away
        positions[by_end], normals[by_end] = (end - beyond)[by_end], self._normals(beyond, later, side)[by_end]
        gaps[by_end] = np.linalg.norm(beyond[by_end], axis=1)
        on_border = self._on_border(near) | self._on_border(later)
        rows = np.flatnonzero(later.is_near & (is_within | (gaps < margin)) & ~on_border)
        if not len(rows):
            return None
        last = np.where(by_end, later.triangles, near.triangles)[rows]
        weights = np.where(by_end[:, None], later.weights, near.weights)[rows]
        corners = self.triangles[last]
        velocities = np.einsum("kc,kcd->kd", weights, (after.x - before.x)[corners]) / h
        return ObstaclePlanes(some[rows].astype(np.int32), positions[rows], normals[rows], velocities, corners, weights)

    def _normals(self, away: Vec, near: _Nearest, side: float) -> Vec:
        """Return unit normals at the nearest positions, (k, 3). away: vectors from these to points, (k, 3) [m]."""
        distance = np.linalg.norm(away, axis=1)
        outward = side * near.outward
        normals = np.where((np.einsum("ij,ij->i", away, outward) >= 0.0)[:, None], away, -away)
        on = distance <= self.on_surface * self.diagonal
        normals[on] = outward[on]
        unit: Vec = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1.0e-300)
        return unit

    def _at(self, time: float) -> _Placed:
        """Return the mesh at a time [s]; the last two are cached, as a step begins where the last one has ended."""
        key = time if self._motion.moves else 0.0
        placed = self._placed.pop(key, None)
        if placed is None:
            x = np.require(self._motion.at(key), float, ["C", "W"])
            samples = np.einsum("pc,pcd->pd", self._sampled, x[self.triangles[self._sampled_triangles]])
            tree = cKDTree(samples, balanced_tree=False, compact_nodes=False)
            sides = x[self.triangles[:, 1:]] - x[self.triangles[:, :1]]
            reach = (1.0 + self.on_surface) * np.sqrt((sides**2).sum(axis=2).max(axis=1))
            cells = None if self._motion.moves else CandidateCells(tree, x, self.triangles, reach, self._spacing,
                                                                   self.depth * self.diagonal)
            placed = _Placed(x, tree, cells, unit_normals(x, self.triangles), reach)
        self._placed[key] = placed
        while len(self._placed) > 2:
            self._placed.pop(next(iter(self._placed)))
        return placed

    def _nearest(self, placed: _Placed, points: Vec, reach: float) -> _Nearest:
        """Return the nearest triangles of points, (k, 3) [m], with samples within `reach` [m], else −1."""
        triangles, weights = np.empty(len(points), dtype=np.int32), np.zeros((len(points), 3))
        outward = np.zeros((len(points), 3))
        candidates = self._candidates(placed, points, reach)
        nearest_candidates(np.ascontiguousarray(points), candidates, self.triangles, placed.x, placed.reach,
                           placed.normals, (self.on_surface * self.diagonal) ** 2, reach**2,
                           np.empty(candidates.shape[1]), triangles, weights, outward)
        return _Nearest(triangles, weights, outward)

    def _candidates(self, placed: _Placed, points: Vec, reach: float) -> Index:
        """Return triangles that may be nearest to each point, (k, c); −1 where none is within `reach` [m]."""
        if placed.cells is None:
            return self._find_near_triangles(placed, points, reach)
        is_known, known = placed.cells.of(points)
        if is_known.all():
            return known
        others = self._find_near_triangles(placed, points[~is_known], reach)
        candidates: Index = np.full((len(points), max(known.shape[1], others.shape[1])), -1, np.int32)
        candidates[np.flatnonzero(is_known), :known.shape[1]] = known
        candidates[np.flatnonzero(~is_known), :others.shape[1]] = others
        return candidates

    def _find_near_triangles(self, placed: _Placed, points: Vec, reach: float) -> Index:
        """Return the triangles of the samples nearest to each point, (k, c); −1 where none is within `reach` [m]."""
        count = min(self.candidates, len(self._sampled_triangles))
        _, which = placed.tree.query(points, k=count, distance_upper_bound=reach)
        candidates: Index = np.append(self._sampled_triangles, np.int32(-1))[which.reshape(len(points), count)]
        return candidates

    def _positions(self, placed: _Placed, near: _Nearest) -> Vec:
        """Return the nearest positions on the surface, moved along with it, (k, 3) [m]."""
        positions: Vec = np.einsum("kc,kcd->kd", near.weights, placed.x[self.triangles[near.triangles]])
        return positions

    def _on_border(self, near: _Nearest) -> Mask:
        """Return whether the nearest positions are on a border of the mesh, (k,)."""
        mask: Mask = ((near.weights <= self.on_surface) & self._border[near.triangles]).any(axis=1)
        return mask


def _off_box(points: Vec, low: Vec, high: Vec) -> Vec:
    """Return the largest distance along an axis of points (k, 3) [m] from a box, (k,) [m], negative inside.

    low, high: corners of the box, (3,) [m].
    """
    off: Vec = np.maximum.reduce([*(low - points).T, *(points - high).T])
    return off


def _rotate(normals: Vec, before: Vec, after: Vec) -> Vec:
    """Return unit vectors, (k, 3), rotated by the smallest rotations from unit normals `before` to `after`, (k, 3)."""
    axis = np.cross(before, after)
    cosine = np.einsum("ij,ij->i", before, after)[:, None]
    once = np.cross(axis, normals)
    rotated: Vec = normals + once + np.cross(axis, once) / np.maximum(1.0 + cosine, 1.0e-6)
    return rotated


def _sample(x: Vec, triangles: Index, spacing: float) -> tuple[Index, Vec]:
    """Return samples on all triangles, at most about `spacing` [m] apart: triangle (p,) and weights (p, 3) of each.

    Triangles are bisected across their longest side until all sides are shorter than that.
    """
    triangle, pieces = np.arange(len(triangles), dtype=np.int32), np.tile(np.eye(3), (len(triangles), 1, 1))
    samples: list[tuple[Index, Vec]] = []
    while len(triangle):
        corners = np.einsum("pkc,pcd->pkd", pieces, x[triangles[triangle]])
        sides = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2)
        is_long = sides.max(axis=1) > spacing
        samples.append((triangle[~is_long], pieces[~is_long].mean(axis=1)))
        triangle, pieces, longest = triangle[is_long], pieces[is_long], sides[is_long].argmax(axis=1)
        row = np.arange(len(triangle))
        a, b, c = (pieces[row, (longest + k) % 3] for k in range(3))
        middle = 0.5 * (a + b)
        pieces = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
        triangle = np.concatenate([triangle, triangle])
    return np.concatenate([index for index, _ in samples]), np.concatenate([weights for _, weights in samples])
