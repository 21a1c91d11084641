"""Test of points of a cloth for being inside closed obstacles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...meshing.winding import winding_numbers
from ...rows.names import Names
from ...state import Index, Mask, Vec
from .obstacles import FeatureObstacles
from .touching_kernels import distances

ON_SURFACE = 2.0e-6  #: [m]: a point that is nearer to a surface is neither inside nor outside


@dataclass(frozen=True)
class SampledPairs:
    """Samples of near pairs of cloth and obstacles: points of the cloth in each."""

    positions: Vec  #: of the nearest point, and of points along its edge [m], (k, p, 3)
    name: Names  #: of the cloth's vertex or edge, or of the obstacle's vertex, (k,)
    obstacle: Index  #: (k,)


@dataclass(frozen=True)
class InsideObstacles:
    """Test of points of a cloth for being inside its obstacles."""

    parts_of_edge = 8  #: of an edge of the cloth, at whose ends it is tested for being inside an obstacle

    obstacles: FeatureObstacles
    count: int  #: number of the cloth's vertices, which are the first nodes

    def of_vertices(self, pairs: Index, x: Vec) -> SampledPairs:
        """Return samples of pairs of a vertex of the cloth and the number of an obstacle's face, (k, 2), where nodes
        are at x, (n, 3) [m]."""
        return SampledPairs(x[pairs[:, 0], None], pairs[:, 0].astype(np.int64), self.obstacles.of_triangle[pairs[:, 1]])

    def of_pairs(self, nodes: Index, weights: Vec, x: Vec) -> SampledPairs:
        """Return samples of pairs of nodes with weights, both (k, 4) with k > 0, where nodes are at x, (n, 3) [m]."""
        hard = nodes >= self.count
        soft = np.where(hard, 0.0, weights)
        point = np.einsum("ka,kai->ki", soft, x[nodes]) / np.maximum(np.abs(soft.sum(axis=1)), 1e-300)[:, None]
        name = np.where(hard[:, 0], nodes[:, 0].astype(np.int64), nodes[:, 0].astype(np.int64) << 32 | nodes[:, 1])
        owned = np.take_along_axis(nodes, hard.argmax(axis=1)[:, None], 1)[:, 0]
        obstacle = self.obstacles.of_vertex[owned - self.count]
        positions = point[:, None]
        if not hard[0, 0]:
            fractions = np.arange(1, self.parts_of_edge)[:, None] / self.parts_of_edge
            along = x[nodes[:, 0], None] + fractions * (x[nodes[:, 1]] - x[nodes[:, 0]])[:, None]
            positions = np.concatenate([positions, along], axis=1)
        return SampledPairs(positions, name, obstacle)

    def contain(self, pairs: SampledPairs, x: Vec, depth_limit: float = ON_SURFACE) -> Mask:
        """Return a mask of the pairs, (k,), with a sample inside their obstacle by more than a limit [m], where nodes
        are at x, (n, 3) [m]. Only closed obstacles have an inside, and samples on the surface are not inside."""
        is_inside = np.zeros(pairs.positions.shape[:2], dtype=bool)
        of_closed = self.obstacles.is_closed[pairs.obstacle]
        vertices = x[self.count:]
        for which in np.unique(pairs.obstacle[of_closed]).tolist():
            rows = (pairs.obstacle == which).nonzero()[0]
            triangles = self.obstacles.triangles[self.obstacles.of_triangle == which]
            at = pairs.positions[rows].reshape(-1, 3)
            depth = np.empty(len(at))
            distances(np.concatenate([at, vertices]), len(at), triangles + np.int32(len(at)), depth)
            inner = depth > max(depth_limit, ON_SURFACE)
            inner[inner] = winding_numbers(at[inner], vertices, triangles) > 0.5
            is_inside[rows] = inner.reshape(len(rows), -1)
        any_of: Mask = is_inside.any(axis=1)
        return any_of

    def contain_nearest(self, pairs: SampledPairs, x: Vec, gap: Vec) -> Mask:
        """Return a mask, (k,), of the pairs with a sample inside a closed obstacle; for each vertex or edge of the
        cloth and each obstacle the nearest alone, since further ones are on the other side. x: (n, 3) [m]. gap:
        distances, (k,) [m]."""
        k, (name, obstacle) = self.contain(pairs, x).nonzero()[0], (pairs.name, pairs.obstacle)
        order = k[np.lexsort((-gap[k], obstacle[k], name[k]))]
        first = np.ones(len(order), dtype=bool)
        first[1:] = (name[order[1:]] != name[order[:-1]]) | (obstacle[order[1:]] != obstacle[order[:-1]])
        is_inside = np.zeros(len(gap), dtype=bool)
        is_inside[order[first]] = True
        return is_inside
