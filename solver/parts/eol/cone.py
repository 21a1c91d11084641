"""Rows on ẋ and Ẋ of vertices on sharp edges and points. [Thesis Alg. 2.2]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...contact.find.features import Features, steep_normals
from ...rows.tables import MOST, VertexRows
from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Mask, Vec
from .cone_kernels import folds_of, locate_features, normals_at, rows_of

#: how far the faces of a vertex turn against each other [rad], on an edge and on a point: below it what it does in the
#: world and what it does in its material cannot be distinguished
FLAT_EDGE, FLAT_POINT = 0.1, 0.5
UNFOLD = 1.5  #: a vertex that was flat is so until its faces turn this many times as far: it does not flicker
ROWS = 16  #: names of rows of one vertex


@dataclass(frozen=True)
class Cone:
    """Rows of the vertices on features, and the features' motion under them."""

    rows: VertexRows
    vertices: Index  #: vertices on features, (k,)
    flat: Mask  #: whose cloth does not fold there, (k,)
    positions: Vec  #: positions of the features under them [m], (k, 3)
    velocity: Vec  #: of these features [m/s], (k, 3)
    along: Vec  #: unit directions of edges, zero at points, (k, 3)
    fold: Vec  #: angle by which the cloth folds there [rad], (k,)


@dataclass(frozen=True)
class OnFeatures:
    """Sharp features under vertices; `on` numbers points first, then edges."""

    at_point: Mask  #: (k,)
    positions: Vec  #: positions, (k, 3) [m]
    velocity: Vec  #: (k, 3) [m/s]
    along: Vec  #: unit directions of edges, zero at points, (k, 3)
    normals: Vec  #: outward, zero where there are fewer, (k, K, 3)

    @classmethod
    def of(cls, x: Vec, on: Index, features: Features, outward: Vec) -> OnFeatures:
        """Return the features under vertices. x: positions of the vertices, (k, 3) [m]. on: numbers of the features, as
        in `SheetMesh.on`, (k,). outward: normals of the cloth there, away from the obstacle, (k, 3)."""
        count = len(features.points)
        at_point = on < count
        positions, velocity, along = np.empty((len(on), 3)), np.empty((len(on), 3)), np.zeros((len(on), 3))
        normals = np.zeros((len(on), max(features.point_normals.shape[1], 4), 3))
        locate_features(np.ascontiguousarray(on), x, count, np.ascontiguousarray(features.points),
                        np.ascontiguousarray(features.velocity), np.ascontiguousarray(features.point_normals),
                        np.ascontiguousarray(features.edges), np.ascontiguousarray(features.edge_normals), positions,
                        velocity, along, normals)
        bare = at_point.nonzero()[0]
        bare = bare[features.point_counts[on[bare]] == 0]
        if len(bare):
            normals[bare, :4] = steep_normals(outward[bare])
        thin = (~at_point).nonzero()[0]
        thin = thin[features.thin[on[thin] - count]]
        if len(thin):
            normals[thin, :2] = steep_normals(outward[thin], along[thin])
        return cls(at_point, positions, velocity, along, normals)


def cone(mesh: SheetMesh, features: Features, was_flat: Mask, h: float) -> Cone:
    """Return the rows of vertices on features for a step of h seconds. was_flat: whether each vertex of the mesh was
    flat in the last step, (n,)."""
    vertices = (mesh.on >= 0).nonzero()[0].astype(np.int32)
    index: Index = np.full(len(mesh.x), -1, np.int32)
    index[vertices] = np.arange(len(vertices))
    mesh_x, faces = np.ascontiguousarray(mesh.x), np.ascontiguousarray(mesh.faces)
    cloth_normal, tangent, fold = (np.zeros((len(vertices), size)) for size in (3, 2, 1))
    normals_at(mesh_x, faces, mesh.areas, index, cloth_normal)
    outward = _out_of_the_fold(mesh_x, faces, vertices, index, mesh.on[vertices], features, cloth_normal)
    on_features = OnFeatures.of(mesh_x[vertices], mesh.on[vertices], features, outward)
    flipped = np.einsum("ki,ki->k", on_features.normals.sum(axis=1), cloth_normal) < 0.0
    cloth_normal[flipped] *= -1.0
    border, fold = mesh.border[vertices], fold[:, 0]
    folds_of(mesh_x, np.ascontiguousarray(mesh.material), faces, mesh.areas, mesh.gradients, mesh.edges, index,
             on_features.along, mesh.border_tangents[vertices], border, on_features.at_point, tangent, fold)
    flat = fold < np.where(on_features.at_point, FLAT_POINT, FLAT_EDGE) * np.where(was_flat[vertices], UNFOLD, 1.0)

    room = len(vertices) * (on_features.normals.shape[1] + 4)
    vertex, factor, target = np.empty(room, np.int32), np.zeros((room, MOST)), np.empty(room)
    is_equation, name = np.empty(room, bool), np.empty(room, np.int64)
    count = rows_of(mesh_x, vertices, on_features.normals, cloth_normal, flat, border, on_features.at_point, tangent,
                    on_features.along, on_features.positions, on_features.velocity, h, ROWS, vertex, factor, target,
                    is_equation, name)
    rows = VertexRows.hard(vertex[:count], factor[:count], target[:count], is_equation[:count], name[:count])
    return Cone(rows, vertices, flat, on_features.positions, on_features.velocity, on_features.along, fold)


def _out_of_the_fold(x: Vec, faces: Index, vertices: Index, index: Index, on: Index, features: Features,
                     normals: Vec) -> Vec:
    """Return directions out of wires for the vertices on them, normals of the cloth for others, (k, 3).

    Faces around a vertex leave a wire on both sides, in directions d and with normals n, each weighted by its angle
    there. Σ n is small and of any direction where the cloth is folded nearly shut, and changes sign where both halves
    cross; Σ d is small where it is flat. So the direction is Σ n − Σ d, with n on the side of −Σ d where Σ d is larger.
    index: number of each vertex among these, −1 of others, (n,). normals: of the cloth, (k, 3).
    """
    count = len(features.points)
    is_thin = on >= count
    is_thin[is_thin] = features.thin[on[is_thin] - count]
    if not is_thin.any():
        return normals
    ends = features.points[features.edges[np.where(is_thin, on - count, 0)]]
    along = ends[:, 1] - ends[:, 0]
    along /= np.linalg.norm(along, axis=1)[:, None]
    away, up = np.zeros_like(normals), np.zeros_like(normals)
    for corner in range(3):
        own = index[faces[:, corner]]
        of = np.flatnonzero(own >= 0)
        of = of[is_thin[own[of]]]
        k = own[of]
        p, q, r = (x[faces[of, (corner + i) % 3]] for i in range(3))
        normal = np.cross(q - p, r - p)
        angle = np.arctan2(np.linalg.norm(normal, axis=1), np.einsum("ki,ki->k", q - p, r - p))
        direction = 0.5 * (q + r) - p
        direction -= np.einsum("ki,ki->k", direction, along[k])[:, None] * along[k]
        for total, vector in ((away, direction), (up, normal)):
            np.add.at(total, k, (angle / np.maximum(np.linalg.norm(vector, axis=1), 1e-300))[:, None] * vector)
    shut = np.linalg.norm(away, axis=1) > np.linalg.norm(up, axis=1)
    up[shut & (np.einsum("ki,ki->k", up, away) > 0.0)] *= -1.0
    out: Vec = np.where(is_thin[:, None], up - away, normals)
    out /= np.maximum(np.linalg.norm(out, axis=1), 1e-300)[:, None]
    return out
