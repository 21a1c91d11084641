"""Pairs of rows of points, edges or triangles that are near each other, or that may touch along displacements."""

from __future__ import annotations

import numpy as np

from ... import threads
from ...state import Index, Mask, Vec
from .near_kernels import (
    REMAINING,
    all_pairs,
    boxes,
    enter_columns,
    find_near_pairs,
    mark_near_moved,
    sort_into_columns,
)

BRUTE = 200_000  #: pairs of rows: fewer are tested faster without a grid
WIDE = 2.0  #: width of a column of the grid relative to the boxes' mean width
CAPACITY = 2  #: initial capacity: pairs for each row
FEW = 2000  #: rows whose boxes are not worth a second thread
PIECES = 16  #: of the grid's columns, one task of a thread each; they do not depend on the number of threads
NEARER = 1.01 * REMAINING / (1.0 - REMAINING)  #: relative to displacements: includes all pairs that nearly touch


def find_near_rows(x: Vec, corners: Index, points: int, group: Index, distance: float, capacity: int = 1024,
                   moved: Mask | None = None, first_group: int = 0) -> Index:
    """Return pairs of rows of `corners` within `distance` [m], (k, 2), in an order that is independent of positions.

    x: positions, (n, 3) [m]. corners: nodes of each row, (m, c). points: number of rows that are points, each its node
    three times, which pair with the triangles of the other rows; 0 where all rows are edges. group: of each node, (n,),
    −1 for none; nodes of one group do not collide. capacity: number of pairs for which memory is allocated first.
    moved: nodes of which each requested pair has one, (n,); None for all pairs. first_group: number of the first edges
    if these are one group and the others another, 0 if unknown.
    """
    box = _boxes(x, x, corners, 0.5 * distance, 0.0)
    first = points if points else first_group
    many = first * (len(corners) - first) if first else len(corners) ** 2 // 2
    if moved is None and many <= BRUTE:
        return _brute_force(box, x, corners, points, first, group, distance, capacity)
    near = _of_moved(box, x, corners, points, group, distance, capacity, moved)
    # pairs as single numbers, which are faster to sort
    first_row, second_row = np.divmod(np.sort(near[:, 0] * np.int64(len(corners)) + near[:, 1]), len(corners))
    return np.column_stack([first_row, second_row]).astype(np.int32)


def _boxes(x: Vec, end: Vec, corners: Index, grown: float, fraction: float) -> Vec:
    """Return boxes around rows of nodes on straight displacements from x to end, (n, 3) [m] each, (m, 6).

    Boxes are grown by `grown` [m] and by the fraction `fraction` of the longest displacement of their nodes.
    """
    box: Vec = np.empty((len(corners), 6))
    if len(box) <= FEW:
        boxes(0, len(box), x, end, corners, grown, fraction, box)
    else:
        threads.parallel_for(boxes, len(box), x, end, corners, grown, fraction, box)
    return box


def _brute_force(box: Vec, x: Vec, corners: Index, points: int, first: int, group: Index, distance: float, capacity: int
               ) -> Index:
    """Return near pairs of few rows, (k, 2): of each with each, or of the first ones with the others."""
    while True:
        near = np.empty((capacity, 2), dtype=np.int32)
        count = int(all_pairs(box, points, first, x, corners, group, distance, near))
        if count <= capacity:
            return near[:count]
        capacity = count


def find_swept_rows(x: Vec, end: Vec, corners: Index, points: int, group: Index, capacity: int = 1024,
                    moved: Mask | None = None) -> Index:
    """Return pairs of rows of `corners` that may nearly touch on straight displacements from x to end, (k, 2).

    x, end: positions, (n, 3) [m]. moved: nodes of which each pair has one, (n,); None for all that move. The other
    arguments are those of `find_near_rows`.
    """
    box = _boxes(x, end, corners, 0.0, NEARER)
    return _of_moved(box, x, corners, points, group, np.inf, capacity,
                     (x != end).any(axis=1) if moved is None else moved)


def overlapping_rows(x: Vec, corners: Index, edges: int, group: Index, capacity: int = 1024) -> Index:
    """Return pairs of a row of an edge and one of a triangle whose boxes overlap, (k, 2).

    x: positions, (n, 3) [m]. corners: nodes of each row, (m, 3): first edges, their second node twice, then triangles.
    edges: number of edges. group, capacity: as in `find_near_rows`.
    """
    box = _boxes(x, x, corners, 0.0, 0.0)
    return _of_moved(box, x, corners, edges, group, np.inf, capacity, None)


def _of_moved(box: Vec, x: Vec, corners: Index, points: int, group: Index, distance: float, capacity: int,
              moved: Mask | None) -> Index:
    """Return pairs of rows whose boxes, (m, 6), overlap, (k, 2), and of which one has a node that moved, (n,).

    moved: None for all pairs. The other arguments are those of `find_near_rows`.
    """
    many = points * (len(corners) - points) if points else len(corners) ** 2 // 2
    if not len(box):
        return np.empty((0, 2), dtype=np.int32)
    if many <= BRUTE:
        near = _brute_force(box, x, corners, points, points, group, distance, capacity)
        return near if moved is None else near[moved[corners[near]].any(axis=(1, 2))]
    if moved is None or moved.all():
        return _overlapping(box, np.ones(len(box), dtype=bool), x, corners, points, group, distance, capacity)
    has_moved, near_moved_row = np.empty(len(box), dtype=bool), np.empty(len(box), dtype=bool)
    mark_near_moved(box, corners, moved, has_moved, near_moved_row)
    rows = np.flatnonzero(near_moved_row)
    if not len(rows):
        return np.empty((0, 2), dtype=np.int32)
    near = _overlapping(box[rows], has_moved[rows], x, np.ascontiguousarray(corners[rows]),
                         int(np.searchsorted(rows, points)), group, distance, capacity)
    of_all: Index = rows[near].astype(np.int32)
    return of_all


def _overlapping(box: Vec, requested: Mask, x: Vec, corners: Index, points: int, group: Index, distance: float,
                 capacity: int) -> Index:
    """Return pairs of rows, (k, 2), whose boxes, (m, 6), overlap, that are within `distance` [m] of each other, and of
    which one is requested, (m,)."""
    low = np.array([box[:, a].min() for a in range(3)])
    size = np.array([max(float(box[:, a].max()), float(box[:, a + 3].max())) for a in range(3)]) - low
    axis = int(np.argmax(size))
    order = np.argsort(box[:, axis], kind="stable")
    across = (axis + 1) % 3, (axis + 2) % 3
    most = int(np.sqrt(len(box))) + 1
    width = [max(WIDE * float((box[:, a + 3] - box[:, a]).mean()), float(size[a]) / most) for a in across]
    is_wide = [0.0 < w < np.inf for w in width]  # a step that fails may have produced infinities
    shape = np.array([int(size[a] / w) + 1 if fits else 1 for a, w, fits in zip(across, width, is_wide)])
    grid = low[list(across)], np.array([1.0 / w if fits else 0.0 for w, fits in zip(width, is_wide)]), shape
    ends, cell = np.empty((len(box), 6)), np.empty((len(box), 4), dtype=np.int32)
    start = np.zeros(2 * int(shape.prod()) + 1, dtype=np.int64)
    sort_into_columns(box, order, axis, *grid, points, ends, cell, start)
    entry, after = np.empty(start[-1], dtype=np.int32), np.empty(start[-1], dtype=np.int32)
    of_group = np.empty(len(box), dtype=np.int32)
    enter_columns(order, cell, shape, points, corners, group, start, start[:-1].copy(), entry, of_group, after)
    # about as many entries in each
    borders = np.searchsorted(start[::2], np.linspace(0, start[-1], PIECES + 1))
    borders[0], borders[-1] = 0, len(start) // 2
    # memory that is not written to costs nothing, to look twice does
    capacity = max(capacity, CAPACITY * len(box)) // PIECES
    while True:
        near, counts = np.empty((PIECES, capacity, 2), dtype=np.int32), np.empty(PIECES, dtype=np.int64)
        threads.parallel_for(find_near_pairs, PIECES, borders, requested, order, ends, cell, start, entry, of_group,
                             after, int(shape[1]), points, x, corners, group, distance, near, counts)
        if counts.max() <= capacity:
            return np.concatenate([some[:count] for some, count in zip(near, counts.tolist())])
        capacity = 2 * int(counts.max())
