"""Triangles whose corners lie on a line, as Blender cuts them from faces with vertices along their sides.

They have no area and so no normals: surfaces that contain them are not simplified, and fTetWild does not terminate.
"""

from __future__ import annotations

import numpy as np

from ..state import Index, Mask, Vec

LINE = 1.0e-3  #: sine of the angle at a corner that lies on the opposite edge


def without_slivers(vertices: Vec, triangles: Index) -> Index:
    """Return the triangles of a surface, (m, 3), without any of which one corner lies on the opposite edge, where two
    triangles meet.

    vertices: (n, 3); triangles: (m, 3), not changed. The edge of such a triangle and its neighbour is swapped for the
    other diagonal: no vertex moves, the number of triangles is unchanged, and a closed surface is still closed.
    """
    triangles = triangles.copy()
    for _ in range(len(triangles)):  # a row of vertices along one side takes a round each
        flat, longest = _on_a_line(vertices, triangles)
        if not flat.any() or not _swap(vertices, triangles, flat.nonzero()[0], longest):
            break
    return triangles


def _on_a_line(vertices: Vec, triangles: Index) -> tuple[Mask, Index]:
    """Return which triangles have a corner on the opposite edge, (m,), and the longest edge of each, (m,): edge i is
    from corner i to the next one."""
    at = vertices[triangles]
    along = np.roll(at, -1, axis=1) - at  # edge i goes from corner i to the next one
    length = np.linalg.norm(along, axis=2)
    longest: Index = length.argmax(axis=1)
    rows = np.arange(len(triangles))
    second, third = (longest + 1) % 3, (longest + 2) % 3
    area = np.linalg.norm(np.cross(along[rows, second], along[rows, third]), axis=1)
    flat: Mask = (area <= LINE * length[rows, second] * length[rows, third]) & (
        np.einsum("mi,mi->m", along[rows, second], along[rows, third]) > 0.0)
    return flat, longest


def _swap(vertices: Vec, triangles: Index, flat: Index, longest: Index) -> bool:
    """Swap the longest edges of the triangles `flat` that may be, in `triangles`, and return whether any was swapped.
    """
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64), axis=1)
    key = edges[:, 0] << 32 | edges[:, 1]
    order = np.argsort(key, kind="stable")
    ordered, done, any_swapped = key[order], np.zeros(len(triangles), dtype=bool), False
    for triangle in flat.tolist():
        first = int(longest[triangle])
        i, j, k = (int(triangles[triangle, (first + step) % 3]) for step in range(3))
        low, high = np.searchsorted(ordered, [key[3 * triangle + first], key[3 * triangle + first] + 1])
        if high - low != 2:
            continue
        other = int(order[low]) // 3 + int(order[low + 1]) // 3 - triangle
        if done[triangle] or done[other] or triangle == other:
            continue
        d = int(triangles[other].sum()) - i - j
        across = min(d, k) << 32 | max(d, k)
        at = np.searchsorted(ordered, across)
        if d == k or (at < len(ordered) and ordered[at] == across):
            continue
        made = np.array([[k, i, d], [d, j, k]], dtype=triangles.dtype)
        if _height(vertices, made).min() > _height(vertices, triangles[[triangle, other]]).min():
            triangles[[triangle, other]] = made
            done[triangle] = done[other] = any_swapped = True
    return any_swapped


def _height(vertices: Vec, triangles: Index) -> Vec:
    """Return the height over the longest edge as a fraction of the length of that edge, (k,)."""
    a, b, c = (vertices[triangles[:, corner]] for corner in range(3))
    longest = np.maximum(np.maximum(((b - a) ** 2).sum(axis=1), ((c - b) ** 2).sum(axis=1)), ((a - c) ** 2).sum(axis=1))
    height: Vec = np.linalg.norm(np.cross(b - a, c - a), axis=1) / np.maximum(longest, 1e-300)
    return height
