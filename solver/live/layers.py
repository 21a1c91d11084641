"""Sheets that meet: half-spaces that keep vertices of cloth on their side of other cloth, and of its own folds.

Each two vertices that face each other are kept apart by a plane half way between them, across the mean of both normals,
on the side where each is when a step begins. What passes between vertices in a step is not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.spatial import cKDTree

from ..meshing.normals import area_vectors
from ..parts.projective.body import TargetRows
from ..state import Index, Mask, Vec

FACING = 0.75  #: of an edge: how far aside vertices may be that face each other
WITHIN = 2.0  #: thicknesses at a step's end, within which two get a plane


@dataclass(frozen=True)
class Layer:
    """One sheet at the start of a step."""

    near: Index  #: pairs that bend instead of touching, as `neighbours` has them
    triangles: Index  #: (t, 3); without any nothing meets it
    edge: float  #: mean length [m]
    thickness: float  #: from its middle to where others stay [m]
    x: Vec  #: [m], (n, 3)
    v: Vec  #: [m/s], (n, 3)
    friction: float  #: Coulomb's coefficient

    @property
    def normals(self) -> Vec:
        """Return unit normals at its vertices, (n, 3), zero where it has none."""
        around = area_vectors(self.x, self.triangles)
        found = np.zeros_like(self.x)
        for corner in range(3):
            for axis in range(3):
                found[:, axis] += np.bincount(self.triangles[:, corner], around[:, axis], len(self.x))
        unit: Vec = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1.0e-300)
        return unit


def neighbours(triangles: Index, count: int) -> Index:
    """Return the pairs of vertices at most two edges apart, ascending, each as first times `count` plus second."""
    a, b = triangles.ravel(), np.roll(triangles, 1, axis=1).ravel()
    graph = coo_matrix((np.ones(2 * len(a), np.int32), (np.r_[a, b], np.r_[b, a])), shape=(count, count)).tocsr()
    pairs = (graph @ graph + graph).tocoo()
    found: Index = np.unique(pairs.row.astype(np.int64) * count + pairs.col)
    return found


def planes_between(layers: Sequence[Layer], meet: Mask, h: float) -> list[TargetRows]:
    """Return the half-spaces of each sheet's vertices in a step of h seconds, whose weights are 1.

    meet: whether two of them do, symmetric, (s, s); on the diagonal whether folds of one do.
    """
    none = TargetRows.held(np.zeros(0, np.int32), 0.0, np.zeros((0, 3)))
    sheets = [k for k, one in enumerate(layers) if len(one.triangles) and meet[k].any()]
    if not sheets:
        return [none for _ in layers]
    sizes = [len(layers[k].x) for k in sheets]
    whose, first = np.repeat(sheets, sizes), np.concatenate([[0], np.cumsum(sizes)])
    x, v, normals = (np.concatenate([getattr(layers[k], name) for k in sheets]) for name in ("x", "v", "normals"))
    edge, thickness, rough = (np.repeat([getattr(layers[k], name) for k in sheets], sizes)
                              for name in ("edge", "thickness", "friction"))
    reach = float(max(layers[k].edge + 2.0 * layers[k].thickness for k in sheets))
    i, j = cKDTree(x).query_pairs(reach, output_type="ndarray").T
    some = meet[whose[i], whose[j]]
    i, j = i[some], j[some]
    for place, k in enumerate(sheets):
        start, count = first[place], sizes[place]
        own = (i >= start) & (i < start + count) & (j >= start) & (j < start + count)
        bends = own & np.isin((i - start) * count + j - start, layers[k].near, kind="sort")
        i, j = i[~bends], j[~bends]
    # from j to i, across both sheets
    along = np.sign(np.einsum("ij,ij->i", normals[i], normals[j]))[:, None]
    normal = normals[j] + np.where(along == 0.0, 1.0, along) * normals[i]
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1.0e-300)
    away = x[i] - x[j]
    height = np.einsum("ij,ij->i", away, normal)
    normal[height < 0.0] *= -1.0
    height = abs(height)
    aside = np.linalg.norm(away - height[:, None] * normal, axis=1)
    gap = np.maximum(thickness[i], thickness[j])
    end = height + h * np.einsum("ij,ij->i", v[i] - v[j], normal)
    some = (aside < FACING * np.minimum(edge[i], edge[j])) & (end < WITHIN * gap) & (normal.any(axis=1))
    i, j, normal, half = i[some], j[some], normal[some], 0.5 * gap[some, None]
    middle = 0.5 * (x[i] + x[j]) + 0.5 * h * (v[i] + v[j])
    friction = np.sqrt(rough[i] * rough[j])
    nodes, other = np.concatenate([i, j]), np.concatenate([j, i])
    rows = TargetRows.touching(nodes, 1.0, np.concatenate([middle + half * normal, middle - half * normal]),
                               np.concatenate([normal, -normal]), np.concatenate([friction, friction]), v[other])
    found = [none for _ in layers]
    for place, k in enumerate(sheets):
        own = (nodes >= first[place]) & (nodes < first[place + 1])
        found[k] = rows.of(own, -int(first[place]))
    return found
