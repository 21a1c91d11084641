"""Diagonals of quads among the edges of surfaces."""

from __future__ import annotations

import numpy as np

from ...state import Index


def other_diagonals(edges: Index, quads: Index, nodes: int) -> Index | None:
    """Return for each edge that is a diagonal of a quad the number of the other diagonal, −1 for other edges, (e,).

    Returns None without quads.

    edges: (e, 2). quads: corners in turn, (q, 4). nodes: number of nodes.
    """
    if not len(quads):
        return None
    keys = np.sort(edges, axis=1).astype(np.int64) @ [nodes, 1]
    order = np.argsort(keys)
    one, other = (order[np.searchsorted(keys[order], np.sort(quads[:, ends], axis=1).astype(np.int64) @ [nodes, 1])]
                  for ends in ([0, 2], [1, 3]))
    partner = np.full(len(edges), -1)
    partner[one], partner[other] = other, one
    return partner
