"""Kernels: which faces are around a vertex, and which one is beyond an edge."""

from __future__ import annotations

import numpy as np

from ..threads import kernel


@kernel("Tuple((i8[::1], i8[::1]))(i8, i8, i4[:,::1])")
def faces_around(vertices, count, faces):  # type: ignore[no-untyped-def]
    """Write where the faces of each vertex start among all, (n + 1,), and these, rising, (3 m,), of so many faces (m,
    3)."""
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
    """Write across (m, 3) and at (n,) of so many faces (m, 3) that are manifold."""
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
