"""What a vertex may do that sits on something sharp: rows on ẋ and Ẋ. [Thesis Alg. 2.2]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...contact.find.features import Features, steep_normals
from ...linear.constrained.rows import MOST, VertexRows
from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Mask, Vec

#: how far the faces of a vertex turn against each other [rad], on an edge and on a point: below it what it does in the
#: world and what it does in its material cannot be told apart
FLAT_EDGE, FLAT_POINT = 0.1, 0.5
UNFOLD = 1.5  #: a vertex that was flat is so until its faces turn this many times as far: it does not flicker
ROWS = 16  #: names of rows of one vertex


@dataclass(frozen=True)
class Cone:
    """Rows of the vertices on features."""

    rows: VertexRows
    vertices: Index  #: those that sit on something, (k,)
    flat: Mask  #: whose cloth does not fold there, (k,)
    places: Vec  #: of the features under them [m], (k, 3)
    velocity: Vec  #: of those [m/s], (k, 3)
    along: Vec  #: unit directions of edges, zero at points, (k, 3)
    fold: Vec  #: by how much the cloth folds there [rad], (k,)


@dataclass(frozen=True)
class Standing:
    """What vertices stand on: points first, then edges, as `on` has them."""

    at_point: Mask  #: (k,)
    places: Vec  #: (k, 3) [m]
    velocity: Vec  #: (k, 3) [m/s]
    along: Vec  #: unit directions of edges, zero at points, (k, 3)
    normals: Vec  #: outward, zero where there are fewer, (k, K, 3)

    @classmethod
    def of(cls, x: Vec, on: Index, features: Features, outward: Vec) -> Standing:
        """x: (k, 3). on: (k,). outward: the cloth's normals there, away from what it lies on, (k, 3)."""
        count = len(features.points)
        at_point = on < count
        place, velocity, along = np.empty((len(on), 3)), np.empty((len(on), 3)), np.zeros((len(on), 3))
        most = max(features.point_normals.shape[1], 4)
        normals = np.zeros((len(on), most, 3))

        point = on[at_point]
        place[at_point], velocity[at_point] = features.points[point], features.velocity[point]
        normals[at_point, : features.point_normals.shape[1]] = features.point_normals[point]
        bare = np.flatnonzero(at_point)[features.point_counts[point] == 0]
        if len(bare):
            normals[bare, :4] = steep_normals(outward[bare])

        edge = on[~at_point] - count
        place[~at_point], velocity[~at_point] = features.on_edges(edge, x[~at_point])
        along[~at_point] = features.along[edge]
        normals[~at_point, :2] = features.edge_normals[edge]
        thin = np.flatnonzero(~at_point)[features.thin[edge]]
        if len(thin):
            normals[thin, :2] = steep_normals(outward[thin], along[thin])
        return cls(at_point, place, velocity, along, normals)


def cone(mesh: SheetMesh, features: Features, was_flat: Mask, h: float) -> Cone:
    """Rows for a step of h seconds. was_flat: of all vertices, at the last step, (n,)."""
    vertices = np.flatnonzero(mesh.on >= 0).astype(np.int32)
    place = np.full(len(mesh.x), -1)
    place[vertices] = np.arange(len(vertices))
    x, on = mesh.x[vertices], mesh.on[vertices]
    cloth_normal = _normals_at(mesh, place, len(vertices))
    standing = Standing.of(x, on, features, cloth_normal)
    mean_out = standing.normals.sum(axis=1)
    turned = np.einsum("ki,ki->k", mean_out, cloth_normal) < 0.0
    cloth_normal[turned] *= -1.0

    border = mesh.border[vertices]
    tangent = np.where(border[:, None], _perpendicular(mesh.border_tangents[vertices]),
                       _along_in_material(mesh, place, standing))
    held = border | ~standing.at_point  # whose Ẋ may go one way only
    fold = _fold(mesh, place, tangent, held)
    flat = fold < np.where(standing.at_point, FLAT_POINT, FLAT_EDGE) * np.where(
        was_flat[vertices], UNFOLD, 1.0)

    sharp_normals = np.where(flat[:, None, None], 0.0, standing.normals)
    across = _crossed(standing.along, cloth_normal)
    some = np.einsum("ki,ki->k", across, across) > 0.25
    second = np.zeros_like(across)
    if not some.all():
        across[~some], second[~some] = _tangents(cloth_normal[~some])
    directions = np.concatenate([sharp_normals, np.where(flat[:, None], cloth_normal, 0.0)[:, None],
                                 np.where(flat[:, None], across, 0.0)[:, None],
                                 np.where(flat[:, None], second, 0.0)[:, None]], axis=1)
    k, r = np.nonzero(np.einsum("kri,kri->kr", directions, directions) > 0.25)
    normals = directions[k, r]
    gap = np.einsum("ri,ri->r", normals, (x - standing.places)[k])
    target = np.einsum("ri,ri->r", normals, standing.velocity[k]) - gap / h
    equal = r > sharp_normals.shape[1]
    factor = np.concatenate([normals, np.zeros((len(k), 2))], axis=1)

    only = np.flatnonzero(held)
    factor = np.concatenate([factor, np.concatenate([np.zeros((len(only), 3)), tangent[only]], axis=1)])
    rows = VertexRows(
        vertices[np.concatenate([k, only])], np.ascontiguousarray(factor.reshape(-1, MOST)),
        np.concatenate([target, np.zeros(len(only))]), np.concatenate([equal, np.ones(len(only), bool)]),
        np.concatenate([ROWS * vertices[k].astype(np.int64) + r, ROWS * vertices[only].astype(np.int64) + ROWS - 1]))
    return Cone(rows, vertices, flat, standing.places, standing.velocity, standing.along, fold)


def _corners(mesh: SheetMesh, place: Index) -> tuple[Index, Index]:
    """Faces around vertices on features, and the number of the vertex among these; as many each."""
    face, corner = np.nonzero(place[mesh.faces] >= 0)
    return face, place[mesh.faces[face, corner]]


def _normals_at(mesh: SheetMesh, place: Index, count: int) -> Vec:
    """Of the cloth at vertices on features, unit length, (k, 3)."""
    face, vertex = _corners(mesh, place)
    normal: Vec = np.zeros((count, 3))
    np.add.at(normal, vertex, mesh.areas[face, None] * mesh.normals[face])
    unit: Vec = normal / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    return unit


def _along_in_material(mesh: SheetMesh, place: Index, standing: Standing) -> Vec:
    """t̄, the unit direction of a feature's edge in the material under it, (k, 2): of the cloth's edges that lie on it,
    or where it has none, by F."""
    way: Vec = np.zeros((len(standing.along), 2))
    ends = mesh.edges
    both = (place[ends] >= 0).all(axis=1)
    for a, b in ((0, 1), (1, 0)):
        i, j = ends[both, a], ends[both, b]
        step = mesh.x[j] - mesh.x[i]
        lies = np.einsum("ei,ei->e", step, standing.along[place[i]])
        # of edges to other vertices on features those that run along this one
        straight = np.abs(lies) > 0.999 * np.linalg.norm(step, axis=1)
        np.add.at(way, place[i[straight]], np.sign(lies[straight])[:, None]
                  * (mesh.material[j] - mesh.material[i])[straight])
    vertices = np.flatnonzero(place >= 0)
    F = mesh.mean_gradients[vertices]
    C, right = np.einsum("kia,kib->kab", F, F), np.einsum("kia,ki->ka", F, standing.along)
    # but for its length, which counts nothing
    by_F = np.stack([C[:, 1, 1] * right[:, 0] - C[:, 0, 1] * right[:, 1],
                     C[:, 0, 0] * right[:, 1] - C[:, 0, 1] * right[:, 0]], axis=1)
    size = np.linalg.norm(way, axis=1)
    way = np.where((size > 0.0)[:, None], way, by_F)
    unit: Vec = way / np.maximum(np.linalg.norm(way, axis=1), 1e-300)[:, None]
    return unit


def _fold(mesh: SheetMesh, place: Index, tangent: Vec, held: Mask) -> Vec:
    """By how much the faces of each vertex on a feature turn against each other, as two faces would, (k,) [rad]: across
    the tangent where it is held, else in the direction in which they do least."""
    face, vertex = _corners(mesh, place)
    count, weight = len(tangent), mesh.areas[face]
    around = np.bincount(vertex, weight, count)
    F = mesh.gradients[face]
    mean = np.zeros((count, 3, 2))
    np.add.at(mean, vertex, weight[:, None, None] * F)
    mean /= around[:, None, None]
    away = F - mean[vertex]
    square, size = np.zeros((count, 2, 2)), np.zeros((count, 2, 2))
    np.add.at(square, vertex, weight[:, None, None] * np.einsum("pia,pib->pab", away, away))
    np.add.at(size, vertex, weight[:, None, None] * np.einsum("pia,pib->pab", F, F))
    across = _perpendicular(tangent)
    whole = np.einsum("ka,kab,kb->k", across, size, across)
    one = np.einsum("ka,kab,kb->k", across, square, across) / np.where(whole > 0.0, whole, 1.0)
    share = np.clip(np.where(held, one, _least(square, size)), 0.0, 1.0)
    angle: Vec = 2.0 * np.arcsin(np.sqrt(share))
    return angle


def _least(square: Vec, size: Vec) -> Vec:
    """The smallest λ of square − λ size, symmetric matrices (k, 2, 2) of which the second is definite, (k,)."""
    of_size, of_square = (one[:, 0, 0] * one[:, 1, 1] - one[:, 0, 1] ** 2 for one in (size, square))
    half = 0.5 * (size[:, 0, 0] * square[:, 1, 1] + size[:, 1, 1] * square[:, 0, 0]
                  - 2.0 * size[:, 0, 1] * square[:, 0, 1]) / of_size
    least: Vec = half - np.sqrt(np.maximum(half**2 - of_square / of_size, 0.0))
    return least


def _perpendicular(vectors: Vec) -> Vec:
    """A quarter turn of vectors (k, 2)."""
    turned: Vec = np.stack([-vectors[:, 1], vectors[:, 0]], axis=1)
    return turned


def _tangents(normal: Vec) -> tuple[Vec, Vec]:
    """Two unit vectors at right angles to unit normals and each other, (k, 3)."""
    least = np.zeros_like(normal)
    least[np.arange(len(normal)), np.abs(normal).argmin(axis=1)] = 1.0
    first = _crossed(normal, least)
    first /= np.maximum(np.linalg.norm(first, axis=1), 1e-300)[:, None]
    return first, _crossed(normal, first)


def _crossed(a: Vec, b: Vec) -> Vec:
    """a × b, (k, 3) each; numpy's own takes ten times as long for a few."""
    out = np.empty_like(a)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[:, i] = a[:, j] * b[:, k] - a[:, k] * b[:, j]
    return out
