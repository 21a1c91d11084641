"""Normals of triangles."""

from __future__ import annotations

import numpy as np

from ..state import Index, Vec
from ..threads import kernel

FARTHEST = 2.0  #: how far a vertex goes for all of its faces to go by one
SHORT = 1e-6  #: relative weight of a short way where the faces of a vertex leave a direction free


def unit_normals(x: Vec, triangles: Index) -> Vec:
    """Return unit normals of triangles (m, 3) between positions x (n, 3), (m, 3); zero where one has no area."""
    out: Vec = np.empty((len(triangles), 3))
    write_normals(np.require(x, float, ["C", "W"]), np.require(triangles, np.int32, ["C", "W"]), True, out)
    return out


def area_vectors(x: Vec, triangles: Index) -> Vec:
    """Return normals of triangles (m, 3) between positions x (n, 3) [m], as long as twice their areas [m²], (m, 3)."""
    out: Vec = np.empty((len(triangles), 3))
    write_normals(np.require(x, float, ["C", "W"]), np.require(triangles, np.int32, ["C", "W"]), False, out)
    return out


def out_of_all(positions: Vec, triangles: Index) -> Vec:
    """Return the displacements of vertices (n, 3) with which each of their faces moves by one along its normal, (n, 3):
    longer than one at corners, independent of the sizes and numbers of faces, and limited at spikes."""
    faces = unit_normals(positions, triangles)
    corners = triangles.ravel()
    products, sums = np.zeros((len(positions), 3, 3)), np.zeros((len(positions), 3))
    np.add.at(products, corners, np.repeat(np.einsum("ti,tj->tij", faces, faces), 3, axis=0))
    np.add.at(sums, corners, np.repeat(faces, 3, axis=0))
    # least squares of n · d = 1 over the faces of a vertex, the shortest d where they leave a direction free
    count = np.einsum("nii->n", products)
    regular = products + np.maximum(SHORT * count, SHORT)[:, None, None] * np.eye(3)
    out = np.linalg.solve(regular, sums[:, :, None])[:, :, 0]
    least = np.ones(len(positions))
    np.minimum.at(least, triangles, np.einsum("ti,tki->tk", faces, out[triangles]))
    out /= np.maximum(least, 1.0 / FARTHEST)[:, None]
    out /= np.maximum(np.linalg.norm(out, axis=1) / FARTHEST, 1.0)[:, None]
    return out


@kernel("void(f8[:,::1], i4[:,::1], b1, f8[:,::1])")
def write_normals(x, triangles, unit, out):  # type: ignore[no-untyped-def]
    """Write the normals of triangles (m, 3) between positions x (n, 3) [m] into out (m, 3), of unit length if `unit`,
    else as long as twice their areas [m²]."""
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        u0, u1, u2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        v0, v1, v2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
        size = 1.0
        if unit:
            size = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
            if size == 0.0:
                size = 1.0
        out[t, 0], out[t, 1], out[t, 2] = n0 / size, n1 / size, n2 / size
