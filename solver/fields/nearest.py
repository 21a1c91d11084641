"""Extension of painted maps from the surface into the volume by nearest nodes."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..meshing.volume import face_parts
from ..state import Index, Vec
from .harmonic import on_border


def nearest_extension(nodes: Vec, tets: Index, vertices: Vec, triangles: Index, painted: Vec) -> Vec:
    """Return values at nodes, (k, maps), that agree with painted values on the surface; inside, of the nearest boundary
    node.

    nodes: (k, 3) [m]. tets: (e, 4). vertices: (n, 3) [m]. triangles: (m, 3). painted: values at vertices, (n, maps).
    Each part of the volume is independent.
    """
    border, values = on_border(nodes, tets, vertices, triangles, painted)
    is_border = np.zeros(len(nodes), dtype=bool)
    is_border[border] = True
    count, part = face_parts(tets)
    for number in range(count):
        of_part = np.unique(tets[part == number])
        near = of_part[is_border[of_part]]
        inner = of_part[~is_border[of_part]]
        values[inner] = values[near[cKDTree(nodes[near]).query(nodes[inner])[1]]]
    return values
