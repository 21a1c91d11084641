"""Rows of points, edges or triangles that are near each other, or that may meet on their ways."""

from __future__ import annotations

import numpy as np

from ...state import Index, Mask, Vec
from .near_kernels import all_pairs, boxes, columns, near_pairs

BRUTE = 200_000  #: pairs of rows: fewer of them are all looked at sooner than a grid is set up
WIDE = 2.0  #: of a box's mean width: a column of the grid


def near_rows(x: Vec, corners: Index, points: int, group: Index, distance: float, room: int = 1024,
              moved: Mask | None = None, apart: int = 0) -> Index:
    """Rows of corners that are within a distance of each other, (k, 2), in one order wherever they are.

    x: (n, 3) [m]. corners: nodes of each row, (m, c). points: that many rows are points, each its node thrice, and pair
    with the triangles of the other rows; 0 where all are edges. group: of each node, −1 is none; nodes of one do not
    touch each other. distance: [m]. room: for so many pairs at first. moved: nodes of which a row has one in each pair
    that is asked for, (n,); None: any pair. apart: so many rows of edges are of one group and the others of another,
    0 where nothing is known.
    """
    box = np.empty((len(corners), 6))
    boxes(x, x, corners, 0.5 * distance, box)
    first = points if points else apart
    many = first * (len(corners) - first) if first else len(corners) ** 2 // 2
    if moved is None and many <= BRUTE:
        return _all_found(box, x, corners, points, first, group, distance, room)
    found = _of_moved(box, x, corners, points, group, distance, room, moved)
    ordered: Index = found[np.lexsort((found[:, 1], found[:, 0]))]
    return ordered


def _all_found(box: Vec, x: Vec, corners: Index, points: int, first: int, group: Index, distance: float, room: int
               ) -> Index:
    """The same of few rows: each with each, or the first ones with the others."""
    while True:
        found = np.empty((room, 2), dtype=np.int32)
        count = int(all_pairs(box, points, first, x, corners, group, distance, found))
        if count <= room:
            return found[:count]
        room = count


def crossing_rows(x: Vec, end: Vec, corners: Index, points: int, group: Index, room: int = 1024) -> Index:
    """Rows whose boxes along straight ways to `end`, (n, 3) [m], overlap, (k, 2); the rest as above."""
    box = np.empty((len(corners), 6))
    boxes(x, end, corners, 0.0, box)
    return _of_moved(box, x, corners, points, group, np.inf, room, (x != end).any(axis=1))


def _of_moved(box: Vec, x: Vec, corners: Index, points: int, group: Index, distance: float, room: int,
              moved: Mask | None) -> Index:
    """Pairs of rows whose boxes, (m, 6), overlap, one of which has a node that moved, (n,); of any where that is None.
    """
    if moved is None or moved.all():
        return _overlapping(box, x, corners, points, group, distance, room)
    has_moved = moved[corners[:, 0]]  # column by column: numpy is slow along short rows
    for c in range(1, corners.shape[1]):
        has_moved = has_moved | moved[corners[:, c]]
    if not has_moved.any():
        return np.empty((0, 2), dtype=np.int32)
    of_moved, overlaps = box[has_moved], np.ones(len(box), dtype=bool)
    for a in range(3):
        overlaps &= (box[:, a] <= of_moved[:, 3 + a].max()) & (box[:, 3 + a] >= of_moved[:, a].min())
    beside = np.flatnonzero(overlaps)
    found = _overlapping(box[beside], x, np.ascontiguousarray(corners[beside]), int(np.searchsorted(beside, points)),
                         group, distance, room) if len(beside) else np.empty((0, 2), dtype=np.int32)
    rows = beside[found].astype(np.int32)
    moving: Index = rows[has_moved[rows].any(axis=1)]
    return moving


def _overlapping(box: Vec, x: Vec, corners: Index, points: int, group: Index, distance: float, room: int) -> Index:
    """Pairs of rows whose boxes, (m, 6), overlap, and that are within a distance of each other."""
    low = np.array([box[:, a].min() for a in range(3)])
    size = np.array([max(float(box[:, a].max()), float(box[:, a + 3].max())) for a in range(3)]) - low
    axis = int(np.argmax(size))
    order = np.argsort(box[:, axis], kind="stable")
    box = box[order]
    across = (axis + 1) % 3, (axis + 2) % 3
    most = int(np.sqrt(len(box))) + 1
    width = [max(WIDE * float((box[:, a + 3] - box[:, a]).mean()), float(size[a]) / most) for a in across]
    is_wide = [0.0 < w < np.inf for w in width]  # a step that fails may have led to no number
    shape = np.array([int(size[a] / w) + 1 if fits else 1 for a, w, fits in zip(across, width, is_wide)])
    grid = low[list(across)], np.array([1.0 / w if fits else 0.0 for w, fits in zip(width, is_wide)]), shape
    start = np.zeros(int(shape.prod()) + 1, dtype=np.int64)
    columns(box, *across, *grid, start, np.empty(0, dtype=np.int32))
    np.cumsum(start, out=start)
    entry = np.empty(int(start[-1]), dtype=np.int32)
    if len(entry):
        columns(box, *across, *grid, start, entry)
    while True:
        found = np.empty((room, 2), dtype=np.int32)
        count = int(near_pairs(box, order, axis, *grid, start, entry, points, x, corners, group, distance, found))
        if count <= room:
            return found[:count]
        room = 2 * count
