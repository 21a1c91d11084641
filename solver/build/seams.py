"""Lengths of seams of cloth."""

from __future__ import annotations

import numpy as np

from ..errors import BadMesh
from ..meshing.volume import Volume, find_connected_nodes
from ..state import Index


def refuse_longer(pairs: Index, volume: Volume, triangles: Index) -> None:
    """Raise BadMesh where a seam is longer at rest than the larger of the two pieces of cloth that it joins. pairs:
    nodes at both ends of each seam, (k, 2). volume: of the cloth. triangles: its faces, (m, 3)."""
    x = volume.nodes
    size = np.zeros(len(x))
    for piece in find_connected_nodes(triangles, len(x)):
        size[piece] = np.linalg.norm(volume.extents_of(x[piece]))
    length = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    largest = size[pairs].max(axis=1)
    longer = np.flatnonzero(length > largest)
    if len(longer):
        worst = longer[np.argmax(length[longer] - largest[longer])]
        raise BadMesh(f"{len(longer)} of its {len(pairs)} seams are longer than the cloth that they join, one of "
                      f"{length[worst]:.3g} m on a piece of {largest[worst]:.3g} m", "Move the panels closer to where "
                      "they are sewn on, or delete loose edges that are no seams", where="cloth.seams")
