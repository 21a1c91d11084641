"""Rows of points, edges or triangles that are near each other, in one order."""

from __future__ import annotations

import numpy as np

from ...state import Index, Vec
from .near_kernels import boxes, near_pairs


def near_rows(x: Vec, corners: Index, points: int, group: Index, distance: float, room: int = 1024) -> Index:
    """Rows of corners that are within a distance of each other, (k, 2), in one order wherever they are.

    x: (n, 3) [m]. corners: nodes of each row, (m, c). points: that many rows are points, each its node thrice, and pair
    with the triangles of the other rows; 0 where all are edges. group: of each node, −1 is none; nodes of one do not
    touch each other. distance: [m]. room: for so many pairs at first.
    """
    box = np.empty((len(corners), 6))
    boxes(x, corners, 0.5 * distance, box)
    axis = int(np.argmax(np.ptp(x, axis=0)))
    order = np.argsort(box[:, axis], kind="stable")
    box = box[order]
    while True:
        found = np.empty((room, 2), dtype=np.int32)
        count = int(near_pairs(box, order, axis, points, x, corners, group, distance, found))
        if count <= room:
            break
        room = 2 * count
    found = found[:count]
    ordered: Index = found[np.lexsort((found[:, 1], found[:, 0]))]
    return ordered
