"""Parts of a mesh that face each other across air and share tetrahedra, so that they move as one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import cKDTree

from ..meshing.closest import vertex_normals
from ..meshing.surface import measure_enclosed_volumes
from ..state import Index, Vec
from .bind import Embedding

ROOM = 1.0  #: of a tetrahedron's edge: across so much air at most
OPPOSED = -0.7  #: cosine of normals of what faces each other
FAR = 4.0  #: of an edge: what is farther apart along the mesh is of two sheets
CELLS = 2.0  #: in an edge: one vertex of each, and of each side that it looks to, is looked at
MOST = 300  #: pairs that are looked at along the mesh


def find_fused_pairs(embedding: Embedding, vertices: Vec, triangles: NDArray, edge: float) -> Index:
    """Return pairs of vertices that are of two sheets with air between them and carried by tetrahedra with a common
    node, (k, 2).

    vertices: (n, 3) [m]; triangles: (t, 3); edge: length of edges of the tetrahedra [m].
    """
    links = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    length = np.maximum(np.linalg.norm(vertices[links[:, 0]] - vertices[links[:, 1]], axis=1), 1e-9 * edge)
    graph: csr_matrix = coo_matrix((length, links.T), shape=(len(vertices),) * 2).tocsr()
    normals = _outwards(vertices, triangles, graph)
    chosen = _spread(vertices, normals, edge / CELLS)
    pairs = chosen[cKDTree(vertices[chosen]).query_pairs(ROOM * edge, output_type="ndarray")]
    one, other = pairs.T
    between = vertices[other] - vertices[one]
    across = ((np.einsum("ki,ki->k", normals[one], normals[other]) < OPPOSED)
              & (np.einsum("ki,ki->k", between, normals[one]) > 0.0)
              & (np.einsum("ki,ki->k", between, normals[other]) < 0.0))
    pairs = pairs[across]
    corners = embedding.corners[pairs]
    pairs = pairs[(corners[:, 0, :, None] == corners[:, 1, None, :]).any(axis=(1, 2))]
    pairs = pairs[:: 1 + len(pairs) // MOST]
    if not len(pairs):
        return np.zeros((0, 2), dtype=np.int32)
    from_one, row = np.unique(pairs[:, 0], return_inverse=True)
    along = dijkstra(graph, directed=False, indices=from_one, limit=FAR * edge)
    fused_pairs: Index = pairs[~np.isfinite(along[row, pairs[:, 1]])].astype(np.int32)
    return fused_pairs


def _outwards(vertices: Vec, triangles: NDArray, graph: csr_matrix) -> Vec:
    """Return unit normals (n, 3) that point out of the volume enclosed by each connected part of the mesh."""
    part = connected_components(graph, directed=False)[1]
    enclosed = np.bincount(part[triangles[:, 0]], measure_enclosed_volumes(vertices - vertices.mean(axis=0), triangles),
                           minlength=int(part.max()) + 1)
    normals: Vec = vertex_normals(vertices, triangles) * np.where(enclosed < 0.0, -1.0, 1.0)[part, None]
    return normals


def _spread(vertices: Vec, normals: Vec, spacing: float) -> Index:
    """Return one vertex of each cell and of each of six directions of its normal, ascending, (c,)."""
    axis = np.abs(normals).argmax(axis=1)
    side = 2 * axis + (np.take_along_axis(normals, axis[:, None], axis=1)[:, 0] > 0.0)
    cell = np.floor((vertices - vertices.min(axis=0)) / spacing).astype(np.int64)
    first = np.unique(np.column_stack([cell, side]), axis=0, return_index=True)[1]
    chosen: Index = np.sort(first).astype(np.int32)
    return chosen
