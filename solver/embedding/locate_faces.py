"""Search of the faces in material space that contain points: a grid of cells, each with the faces whose boxes touch it.
"""

from __future__ import annotations

import numpy as np

from ..state import Index, Vec
from ..threads import inline, kernel

OUTSIDE = -1.0e-9  #: smallest barycentric weight that still counts as inside


def containing_faces(points: Vec, material: Vec, faces: Index) -> Index:
    """Return the face in which the smallest weight of each point is largest, (p,): the one that contains the point, or
    for a point outside of all the one that it is least outside of.

    points: (p, 2). material: (n, 2). faces: (m, 3), each with area.
    """
    containing = np.full(len(points), -1, dtype=np.int32)
    _locate(np.ascontiguousarray(points, dtype=float), np.ascontiguousarray(material, dtype=float),
            np.ascontiguousarray(faces, dtype=np.int32), containing)
    return containing


def barycentric_weights(points: Vec, material: Vec, corners: Index) -> Vec:
    """Return the barycentric weights of points (p, 2) in faces with these corners, (p, 3) each; they sum to 1.
    material: (n, 2)."""
    a, b, c = material[corners[:, 0]], material[corners[:, 1]], material[corners[:, 2]]
    twice = _cross(b - a, c - a)
    second, third = _cross(points - a, c - a) / twice, _cross(b - a, points - a) / twice
    return np.stack([1.0 - second - third, second, third], axis=1)


def _cross(a: Vec, b: Vec) -> Vec:
    crossed: Vec = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return crossed


@inline
def depth(x, y, material, faces, f):  # type: ignore[no-untyped-def]
    """Return the smallest of the three barycentric weights of a point in face f."""
    ax, ay = material[faces[f, 0], 0], material[faces[f, 0], 1]
    ux, uy = material[faces[f, 1], 0] - ax, material[faces[f, 1], 1] - ay
    vx, vy = material[faces[f, 2], 0] - ax, material[faces[f, 2], 1] - ay
    twice = ux * vy - uy * vx
    second, third = ((x - ax) * vy - (y - ay) * vx) / twice, (ux * (y - ay) - uy * (x - ax)) / twice
    return min(1.0 - second - third, min(second, third))


@kernel("void(f8[:,::1], f8[:,::1], i4[:,::1], i4[::1])")
def _locate(points, material, faces, containing):  # type: ignore[no-untyped-def]
    many = faces.shape[0]
    low, high = np.empty((many, 2)), np.empty((many, 2))
    least, most = np.array([np.inf, np.inf]), np.array([-np.inf, -np.inf])
    for f in range(many):
        for k in range(2):
            a, b, c = material[faces[f, 0], k], material[faces[f, 1], k], material[faces[f, 2], k]
            low[f, k], high[f, k] = min(a, min(b, c)), max(a, max(b, c))
            least[k], most[k] = min(least[k], low[f, k]), max(most[k], high[f, k])
    # about one cell a face
    size = max(np.sqrt((most[0] - least[0]) * (most[1] - least[1]) / many), 1.0e-300)
    wide = min(int((most[0] - least[0]) / size) + 1, many + 1)
    tall = min(int((most[1] - least[1]) / size) + 1, many + 1)
    first, at, entries = np.zeros(wide * tall + 1, np.int64), np.empty(0, np.int64), np.empty(0, np.int32)
    for sweep in range(2):
        for f in range(many):
            left, right = int((low[f, 0] - least[0]) / size), int((high[f, 0] - least[0]) / size)
            bottom, top = int((low[f, 1] - least[1]) / size), int((high[f, 1] - least[1]) / size)
            for i in range(min(left, wide - 1), min(right, wide - 1) + 1):
                for j in range(min(bottom, tall - 1), min(top, tall - 1) + 1):
                    cell = i * tall + j
                    if sweep == 0:
                        first[cell + 1] += 1
                    else:
                        entries[at[cell]] = f
                        at[cell] += 1
        if sweep == 0:
            for cell in range(wide * tall):
                first[cell + 1] += first[cell]
            at, entries = first[:-1].copy(), np.empty(first[-1], np.int32)
    for p in range(points.shape[0]):
        x, y = points[p, 0], points[p, 1]
        i = min(max(int((x - least[0]) / size), 0), wide - 1)
        j = min(max(int((y - least[1]) / size), 0), tall - 1)
        best, which = -np.inf, -1
        for entry in range(first[i * tall + j], first[i * tall + j + 1]):
            inside = depth(x, y, material, faces, entries[entry])
            if inside > best:
                best, which = inside, entries[entry]
        if best < OUTSIDE:
            for f in range(many):
                inside = depth(x, y, material, faces, f)
                if inside > best:
                    best, which = inside, f
        containing[p] = which
