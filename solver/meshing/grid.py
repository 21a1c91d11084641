"""A box cut into cells of six tetrahedra each."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import BadMesh
from ..state import Index, Vec
from .surface import Surface


class Grid:
    """A mesher of axis-aligned boxes: equal cells along each axis, six tetrahedra a cell."""

    in_child = False
    covers = False  #: whether cells stand out of the surface, which are to count by what is inside of it

    def settings(self, surface: Surface, params: Mapping[str, float]) -> dict[str, float]:
        """Return the edge length [m], by default a twentieth of the surface's diagonal."""
        return {"edge_length": params["edge_length"] or surface.diagonal / 20.0}

    def mesh(self, vertices: Vec, triangles: Index, settings: Mapping[str, float]) -> tuple[Vec, Index]:
        """Return nodes (k, 3) [m] and tets (e, 4) of a box. Raises BadMesh where the surface is not an axis-aligned
        box, or there would be too many nodes."""
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        size = high - low
        a, b, c = (vertices[triangles[:, i]] - low for i in range(3))
        volume = abs(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0
        on_side = np.minimum(np.abs(vertices - low), np.abs(vertices - high)) <= 1e-5 * size.max()
        if abs(volume / size.prod() - 1.0) > 1e-4 or not on_side.any(axis=1).all():
            raise BadMesh("the surface is not a box along the axes", "Box Grid meshes only such boxes: use fTetWild")
        counts = [max(1, round(float(extent) / settings["edge_length"])) for extent in size]
        if np.prod([float(n + 1) for n in counts]) > 5e6:
            raise BadMesh(f"an edge length of {settings['edge_length']:.3g} m gives more than five million nodes",
                          "Make the edge length larger", where="mesher.params.edge_length")
        return box_tets((counts[0], counts[1], counts[2]), size, low)


def box_tets(cells: tuple[int, int, int], size: Sequence[float] | Vec,
             origin: Sequence[float] | Vec = (0.0, 0.0, 0.0)) -> tuple[Vec, Index]:
    """Return a box as a grid of `cells` (nx, ny, nz), each cut into six positive tetrahedra around its diagonal: nodes
    ((nx+1)(ny+1)(nz+1), 3) [m], the last axis running fastest, and tets (6 nx ny nz, 4).

    size, origin: extents and lowest corner [m]. Neighbouring cells fit, since all diagonals run the same way.
    """
    axes = [np.linspace(o, o + s, n + 1) for o, s, n in zip(origin, size, cells)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    stride = np.array([(cells[1] + 1) * (cells[2] + 1), cells[2] + 1, 1])
    corner = (np.indices(cells).reshape(3, -1).T @ stride)[:, None, None]

    # one tetrahedron for each order in which the three axes are walked from the low to the high corner
    walks = []
    for order in itertools.permutations(range(3)):
        path = np.cumsum([0, *stride[list(order)]])
        odd = np.linalg.det(np.eye(3)[list(order)]) < 0
        walks.append(path[[0, 1, 3, 2]] if odd else path)
    tets = (corner + np.array(walks)[None]).reshape(-1, 4)
    return np.ascontiguousarray(nodes), tets.astype(np.int32)
