"""Kernels of mesh tables: the faces around each vertex, and the face beyond each edge."""

from __future__ import annotations

import numpy as np

from ..threads import kernel


@kernel("Tuple((i8[::1], i8[::1]))(i8, i8, i4[:,::1])")
def faces_around(vertices, count, faces):  # type: ignore[no-untyped-def]
    """Return the faces around all vertices, ascending for each vertex, (3 m,), and where those of each start, (n + 1,).

    The starts are returned first. vertices: number n. count: number m of the faces, (m, 3).
    """
    start = np.zeros(vertices + 1, np.int64)
    for f in range(count):
        for k in range(3):
            start[faces[f, k] + 1] += 1
    for i in range(vertices):
        start[i + 1] += start[i]
    filled, around = start[:-1].copy(), np.empty(3 * count, np.int64)
    for f in range(count):
        for k in range(3):
            around[filled[faces[f, k]]] = f
            filled[faces[f, k]] += 1
    return start, around


@kernel("void(i8, i8, i4[:,::1], i4[:,::1], i4[::1])")
def build_tables(vertices, count, faces, across, at):  # type: ignore[no-untyped-def]
    """Write the face beyond each edge, across (m, 3), and a face of each vertex, at (n,), for manifold faces, (m, 3).

    Both are −1 where there is none. vertices, count: numbers n and m.
    """
    start, around = faces_around(vertices, count, faces)
    for i in range(vertices):
        at[i] = around[start[i + 1] - 1] if start[i + 1] > start[i] else -1
    for f in range(count):
        for k in range(3):
            a, b = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
            across[f, k] = -1
            for g in around[start[a]:start[a + 1]]:
                for j in range(3):
                    if faces[g, j] == b and faces[g, (j + 1) % 3] == a:
                        across[f, k] = g
