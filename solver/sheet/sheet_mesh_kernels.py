"""Kernels of the areas, gradients, edges and border of a sheet of triangles."""

from __future__ import annotations

import numpy as np

from ..threads import kernel


@kernel("void(f8[:,::1], i4[:,::1], f8[::1])")
def areas_of(material, faces, out):  # type: ignore[no-untyped-def]
    """Write the signed areas of faces, (m, 3), in material space, (n, 2) [m], to `out`, (m,) [m²]."""
    for f in range(faces.shape[0]):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        out[f] = 0.5 * ((material[b, 0] - material[a, 0]) * (material[c, 1] - material[a, 1])
                        - (material[c, 0] - material[a, 0]) * (material[b, 1] - material[a, 1]))


@kernel("void(f8[:,::1], f8[:,::1], i4[:,::1], f8[:,:,::1])")
def gradients_of(values, material, faces, out):  # type: ignore[no-untyped-def]
    """Write the gradients of values at the vertices, (n, d), with respect to material space, (n, 2) [m], to `out`.

    faces: (m, 3). out: one gradient for each face, (m, d, 2).
    """
    for f in range(faces.shape[0]):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        p0, p1 = material[b, 0] - material[a, 0], material[b, 1] - material[a, 1]
        q0, q1 = material[c, 0] - material[a, 0], material[c, 1] - material[a, 1]
        twice = p0 * q1 - q0 * p1
        for i in range(values.shape[1]):
            p, q = values[b, i] - values[a, i], values[c, i] - values[a, i]
            out[f, i, 0] = p * (q1 / twice) + q * (-p1 / twice)
            out[f, i, 1] = p * (-q0 / twice) + q * (p0 / twice)


@kernel("void(i4[:,::1], f8[::1], f8[:,:,::1], f8[:,:,::1])")
def mean_around(faces, areas, of_faces, out):  # type: ignore[no-untyped-def]
    """Write the mean of values of faces, (m, a, b), around each vertex, weighted by areas, (m,), to `out`, (n, a, b).

    The mean is zero at a vertex without faces.
    """
    whole = np.zeros(out.shape[0])
    out[:] = 0.0
    for f in range(faces.shape[0]):
        for k in range(3):
            v = faces[f, k]
            whole[v] += areas[f]
            for i in range(out.shape[1]):
                for j in range(out.shape[2]):
                    out[v, i, j] += areas[f] * of_faces[f, i, j]
    for v in range(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                out[v, i, j] /= max(whole[v], 1e-300)


@kernel("i8(i4[:,::1], i4[:,::1], i4[:,::1])")
def edges_of(faces, across, ends):  # type: ignore[no-untyped-def]
    """Write the ends of each edge once, in the orientation of its first face, to `ends`, (e, 2); return their number.

    faces, across: (m, 3), see `mesh_kernels`.
    """
    count = 0
    for f in range(faces.shape[0]):
        for k in range(3):
            if across[f, k] < 0 or f < across[f, k]:
                ends[count, 0], ends[count, 1] = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
                count += 1
    return count


@kernel("i8(i4[:,::1], i4[:,::1], i4[:,::1])")
def border_edges_of(faces, across, ends):  # type: ignore[no-untyped-def]
    """Write the border's edges, those of one face, to `ends`, (b, 2); return their number.

    faces, across: (m, 3), see `mesh_kernels`.
    """
    count = 0
    for f in range(faces.shape[0]):
        for k in range(3):
            if across[f, k] < 0:
                ends[count, 0], ends[count, 1] = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
                count += 1
    return count


@kernel("void(f8[:,::1], i4[:,::1], f8[:,::1])")
def tangents_of(material, border, out):  # type: ignore[no-untyped-def]
    """Write unit vectors along the border at its vertices, means of both edges, to `out`, (n, 2), initially zero.

    material: (n, 2) [m]. border: the border's edges, (b, 2).
    """
    for side in range(2):
        for e in range(border.shape[0]):
            a, b = border[e, 0], border[e, 1]
            for i in range(2):
                out[border[e, side], i] += material[b, i] - material[a, i]
    for v in range(out.shape[0]):
        size = np.sqrt(out[v, 0] * out[v, 0] + out[v, 1] * out[v, 1])
        if size > 0.0:
            out[v, 0] /= size
            out[v, 1] /= size
