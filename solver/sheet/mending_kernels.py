"""Kernel that finds triangles at features that are too short or too thin."""

from __future__ import annotations

from ..threads import kernel
from .mesh_kernels import FACES, MESH, sharpness


@kernel(f"i8({MESH}, i8, f8, f8, f8, f8, i4[::1])")
def find_thin_at_features(mesh, points, h, shortest, ill, predicted, out):  # type: ignore[no-untyped-def]
    """Write the faces at features that are too short or too thin in material space to `out`; return their number.

    They have a vertex on a feature, and an edge shorter than `shortest` [m], an angle whose tan is below `ill`, or
    below `predicted` after h [s] of sliding, or all three vertices on one run. Features from `points` on are runs.
    """
    X, slide, on, faces, counts = mesh[1], mesh[3], mesh[5], mesh[7], mesh[10]
    count = 0
    for f in range(counts[FACES]):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        if a < 0 or (on[a] < 0 and on[b] < 0 and on[c] < 0):
            continue
        bad = on[a] == on[b] and on[b] == on[c] and on[a] >= points
        for k in range(3):
            p, q = faces[f, k], faces[f, (k + 1) % 3]
            bad |= (X[p, 0] - X[q, 0]) ** 2 + (X[p, 1] - X[q, 1]) ** 2 < shortest * shortest
        bad |= sharpness(X[a, 0], X[a, 1], X[b, 0], X[b, 1], X[c, 0], X[c, 1]) < ill
        bad |= sharpness(X[a, 0] + h * slide[a, 0], X[a, 1] + h * slide[a, 1], X[b, 0] + h * slide[b, 0],
                         X[b, 1] + h * slide[b, 1], X[c, 0] + h * slide[c, 0], X[c, 1] + h * slide[c, 1]) < predicted
        if bad:
            out[count] = f
            count += 1
    return count
