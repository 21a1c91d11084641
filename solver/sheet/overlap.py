"""Test for faces that overlap in material space."""

from __future__ import annotations

import numpy as np

from ..state import Index, Vec

TOUCH = 1.0e-9  #: relative to their size: triangles with a smaller overlap only touch


def overlapping_faces(material: Vec, faces: Index) -> tuple[int, int] | None:
    """Return the numbers of two faces whose interiors overlap, None if there are none.

    material: (n, 2) [m]. faces: (m, 3), positively oriented.
    """
    corners = material[faces]
    low, high = corners.min(axis=1), corners.max(axis=1)
    size = np.median(high - low, axis=0).max()
    for first, second in _find_overlapping(low, high, size):
        separated = np.zeros(len(first), dtype=bool)
        for triangle, other in ((corners[first], corners[second]), (corners[second], corners[first])):
            for k in range(3):
                a, along = triangle[:, k], triangle[:, (k + 1) % 3] - triangle[:, k]
                off = other - a[:, None]
                side = along[:, 0, None] * off[..., 1] - along[:, 1, None] * off[..., 0]
                separated |= (side <= TOUCH * size * np.linalg.norm(along, axis=1)[:, None]).all(axis=1)
        if not separated.all():
            where = int(np.argmax(~separated))
            return int(first[where]), int(second[where])
    return None


def _find_overlapping(low: Vec, high: Vec, size: float) -> list[tuple[Index, Index]]:
    """Return pairs of overlapping boxes, in several arrays, by a sweep along the first axis. low, high: (m, 2) [m]."""
    order = np.argsort(low[:, 0], kind="stable")
    end = np.searchsorted(low[order, 0], high[order, 0] - TOUCH * size, side="left")
    pairs = []
    for offset in range(1, max(2, int((end - np.arange(len(order))).max()))):
        one = np.flatnonzero(end > np.arange(len(order)) + offset)
        if not len(one):
            break
        first, second = order[one], order[one + offset]
        overlapping = (low[first, 1] < high[second, 1]) & (low[second, 1] < high[first, 1])
        if overlapping.any():
            pairs.append((np.minimum(first, second)[overlapping], np.maximum(first, second)[overlapping]))
    return pairs
