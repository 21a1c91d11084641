"""Embedding of the artist's mesh: the tetrahedron that carries each vertex, and the weights of its corners."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ..meshing.closest import triangle_distances, vertex_normals
from ..meshing.volume import boundary_faces, face_parts
from ..state import Index, Vec
from .locate import containing_tets
from .tears import mend_tears, nearest_of

NEAR = 0.25  #: of the median edge: closer than this a vertex may have slipped through the wrong side
CHUNK = 400_000  # pairs of point and face at a time
FEW, MANY = 16, 256  #: boundary faces to look at, and when none of these faces the right way


@dataclass(frozen=True)
class Embedding:
    """The render mesh in the volume: each vertex is a fixed affine combination of one tetrahedron's corners."""

    tet: Index  #: tetrahedron of each vertex, (n,)
    corners: Index  #: its nodes, (n, 4)
    weights: Vec  #: barycentric, (n, 4), each row sums to 1; negative where the vertex lies outside
    nodes: int  #: how many nodes the volume has

    @cached_property
    def matrix(self) -> csr_matrix:
        """Return the matrix (n, nodes) with which vertices = matrix @ node positions."""
        starts = np.arange(len(self.corners) + 1, dtype=np.int32) * 4
        return csr_matrix((self.weights.ravel(), self.corners.ravel(), starts), shape=(len(self.corners), self.nodes))

    def apply(self, x: Vec) -> Vec:
        """Return vertex positions [m], (n, 3), for node positions x [m], (nodes, 3)."""
        moved: Vec = self.matrix @ x
        return moved


def bind(nodes: Vec, tets: Index, vertices: Vec, triangles: Index) -> Embedding:
    """Return the embedding of each vertex in the tetrahedron that contains it, or outside in the nearest one of the
    vertex's own part and side.

    nodes: (k, 3) [m]; tets: (e, 4); vertices: (n, 3) [m]; triangles: (m, 3), of the render mesh; it may be open,
    inconsistent or without triangles at all. A lip does not bind to the other lip: where the nearest boundary face has
    the opposite orientation of the vertex, and one with its orientation is about as near, that one carries the vertex.
    """
    centre, scale = nodes.mean(axis=0), float(np.ptp(nodes, axis=0).max())
    nodes = np.ascontiguousarray((nodes - centre) / scale)
    points = np.ascontiguousarray((np.asarray(vertices, dtype=np.float64) - centre) / scale)
    tets, triangles = np.ascontiguousarray(tets, dtype=np.int32), np.asarray(triangles).reshape(-1, 3)
    ends = nodes[tets[:, :2]]
    edge = float(np.median(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)))

    faces, tet_of_face = boundary_faces(tets)
    _, part_of_tet = face_parts(tets)
    part_of_vertex = _find_loose_parts(len(points), triangles)
    allowed = _own_parts(nodes, part_of_tet, faces, tet_of_face, points, part_of_vertex)
    inside = containing_tets(nodes, tets, part_of_tet, points, part_of_vertex, allowed)

    nearest, distance, facing, facing_distance = _nearest_faces(
        nodes, faces, part_of_tet[tet_of_face], points, triangles, part_of_vertex, allowed)
    same_side = facing_distance <= distance + edge
    tet = np.where(same_side, tet_of_face[facing], tet_of_face[nearest])
    slipped = (facing != nearest) & (facing_distance < NEAR * edge)
    tet = np.where((inside >= 0) & ~slipped, inside, tet).astype(np.int32)
    tet = mend_tears(tet, nodes, tets, faces, tet_of_face, points, triangles, 2.0 * edge)
    corners = tets[tet]
    return Embedding(tet, corners, barycentric(points, nodes[corners]), len(nodes))


def barycentric(points: Vec, corners: Vec) -> Vec:
    """Return the barycentric weights (n, 4) of points (n, 3) in tetrahedra with corners (n, 4, 3); each row sums to 1
    up to rounding."""
    edges = corners[:, 1:] - corners[:, :1]
    to_point = points - corners[:, 0]
    across = [np.cross(edges[:, (i + 1) % 3], edges[:, (i + 2) % 3]) for i in range(3)]
    six_volumes = np.einsum("ij,ij->i", edges[:, 0], across[0])
    inner = np.stack([np.einsum("ij,ij->i", to_point, normal) / six_volumes for normal in across], axis=1)
    weights: Vec = np.concatenate([1.0 - inner.sum(axis=1, keepdims=True), inner], axis=1)
    return weights


def _find_loose_parts(count: int, triangles: NDArray) -> Index:
    """Return the connected part of each vertex over the triangles, (count,)."""
    links = triangles[:, [0, 1, 1, 2]].reshape(-1, 2)
    graph = coo_matrix((np.ones(len(links), dtype=np.int8), (links[:, 0], links[:, 1])), shape=(count, count))
    labels: Index = connected_components(graph, directed=False)[1].astype(np.int32)
    return labels


def _own_parts(nodes: Vec, part_of_tet: Index, faces: Index, tet_of_face: Index, points: Vec,
               part_of_vertex: Index) -> NDArray[np.bool_]:
    """Return which parts of the volume may carry which loose parts of the mesh, (loose parts, volume parts).

    A loose part may use the volume part that most of its vertices are next to, and every volume part that is mostly
    next to it: so a head and its eyes may share a volume, while two balls that touch do not.
    """
    loose, volumes = int(part_of_vertex.max()) + 1, int(part_of_tet.max()) + 1
    allowed = np.zeros((loose, volumes), dtype=bool)
    if volumes == 1:
        allowed[:] = True
        return allowed
    centres = nodes[faces].mean(axis=1)
    part_of_face = part_of_tet[tet_of_face]
    by_vertex = coo_matrix((np.ones(len(points)), (part_of_vertex, part_of_face[cKDTree(centres).query(points)[1]])),
                           shape=(loose, volumes)).tocsr()
    by_face = coo_matrix((np.ones(len(faces)), (part_of_face, part_of_vertex[cKDTree(points).query(centres)[1]])),
                         shape=(volumes, loose)).tocsr()
    allowed[np.arange(loose), np.asarray(by_vertex.argmax(axis=1)).ravel()] = True
    allowed[np.asarray(by_face.argmax(axis=1)).ravel(), np.arange(volumes)] = True
    return allowed


def _nearest_faces(nodes: Vec, faces: Index, part_of_face: Index, points: Vec, triangles: NDArray,
                   part_of_vertex: Index, allowed: NDArray[np.bool_]) -> tuple[NDArray, Vec, NDArray, Vec]:
    """Return for each point the nearest boundary face of its parts and the distance to it, then the nearest one with
    the orientation of the vertex, and that distance (infinite where there is none among many)."""
    across = np.cross(nodes[faces[:, 1]] - nodes[faces[:, 0]], nodes[faces[:, 2]] - nodes[faces[:, 0]])
    face_normal = across / np.linalg.norm(across, axis=1, keepdims=True)
    centres = nodes[faces].mean(axis=1)
    sets, which = np.unique(allowed, axis=0, return_inverse=True)
    group = which.reshape(-1)[part_of_vertex]
    own = [np.flatnonzero(parts[part_of_face]) for parts in sets]
    trees = [cKDTree(centres[rows]) for rows in own]

    def nearest(queries: NDArray, count: int) -> tuple[NDArray, Vec]:
        """Return at most `count` faces near these points, and distances to them, (q, count); infinite: none."""
        face, distance = np.zeros((len(queries), count), dtype=np.int64), np.full((len(queries), count), np.inf)
        for number, tree in enumerate(trees):
            at = np.flatnonzero(group[queries] == number)
            for chunk in np.array_split(at, 1 + len(at) * count // CHUNK):
                chunk_points = points[queries[chunk]]
                rows = own[number][tree.query(chunk_points, np.arange(1, min(count, len(own[number])) + 1))[1]]
                face[chunk, : rows.shape[1]] = rows
                distance[chunk, : rows.shape[1]] = triangle_distances(chunk_points[:, None], nodes[faces[rows]])
        return face, distance

    def agreeing(face: NDArray, distance: Vec, normal: Vec) -> Vec:
        """Return the distances to faces with the orientation of the normals, infinite for the others."""
        agrees = np.einsum("ijk,ik->ij", face_normal[face], normal) > 0.0
        return np.where(agrees, distance, np.inf)

    few, few_distance = nearest(np.arange(len(points)), FEW)
    near, near_distance = nearest_of(few, few_distance)

    # a loose part whose normals mostly look inwards was modelled inside out
    normal = vertex_normals(points, triangles)
    agreement = np.einsum("ij,ij->i", normal, face_normal[near])
    normal = np.where((np.bincount(part_of_vertex, agreement) < 0.0)[part_of_vertex, None], -normal, normal)

    facing, facing_distance = nearest_of(few, agreeing(few, few_distance, normal))
    unmatched = np.flatnonzero(np.isinf(facing_distance) & (normal != 0.0).any(axis=1))
    for chunk in np.array_split(unmatched, 1 + len(unmatched) * MANY // CHUNK):
        many, many_distance = nearest(chunk, MANY)
        facing[chunk], facing_distance[chunk] = nearest_of(many, agreeing(many, many_distance, normal[chunk]))
    return near, near_distance, facing, facing_distance
