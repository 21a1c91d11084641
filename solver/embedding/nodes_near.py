"""Nodes that carry a body near a position, however small the radius."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..state import Index, Vec
from .bind import Embedding
from .locate import containing_tets


def nodes_near(x: Vec, tets: Index, embedding: Embedding | None, distance: Callable[[Vec], Vec], radius: float,
               within: Vec) -> Index:
    """Return the nodes within a radius [m] and all that carry vertices of the drawn mesh within it, (k,) ascending;
    where there are none, the nodes of the tetrahedra that contain points `within`.

    x: positions of the nodes [m], (n, 3). tets: (e, 4). distance: function of positions (p, 3) [m] that returns
    distances (p,) [m]. within: (q, 3) [m].
    """
    near = distance(x) <= radius
    if embedding is not None:
        near[embedding.corners[distance(embedding.apply(x)) <= radius]] = True
    if not near.any() and len(tets):
        one_part = np.zeros(max(len(tets), len(within)), dtype=np.int32)
        containing = containing_tets(x, tets, one_part[: len(tets)], within, one_part[: len(within)],
                                np.ones((1, 1), dtype=bool))
        near[tets[containing[containing >= 0]]] = True
    return np.flatnonzero(near).astype(np.int32)
