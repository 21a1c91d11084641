"""Paint on the surface, carried straight into the volume."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..meshing.volume import face_parts
from ..state import Index, Vec
from .harmonic import on_border


def nearest_extension(nodes: Vec, tets: Index, vertices: Vec, triangles: Index, painted: Vec) -> Vec:
    """Values at nodes, (k, maps), that agree with the paint on the surface; inside, those of the nearest boundary node.

    Arguments as of `harmonic_extension`. Each part of the volume counts alone.
    """
    border, values = on_border(nodes, tets, vertices, triangles, painted)
    is_border = np.zeros(len(nodes), dtype=bool)
    is_border[border] = True
    count, part = face_parts(tets)
    for number in range(count):
        mine = np.unique(tets[part == number])
        near = mine[is_border[mine]]
        inner = mine[~is_border[mine]]
        values[inner] = values[near[cKDTree(nodes[near]).query(nodes[inner])[1]]]
    return values
