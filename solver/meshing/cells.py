"""Equal cells that cover a body: made at once for any surface, coarse, and thicker than the body by part of a cell."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import ndimage

from ..errors import BadMesh
from ..state import Index, Vec
from .grid import box_tets
from .surface import Surface
from .volume import drop_unused_nodes

MOST_CELLS = 2_000_000  #: in the box around a surface
FLAT = 0.2  #: of its longest side, that a box has at least: a sheet would get cells without number
SAMPLES = 2.0  #: points in the length of a cell on each triangle


class Cells:
    """A mesher of equal cells, six tetrahedra each: those that the surface passes through, and those inside of it.

    A cell is inside if air cannot reach it from outside without passing a cell of the surface: a hole smaller than a
    cell counts as closed.
    """

    in_child = False
    covers = True  #: whether cells stand out of the surface, which are to count by what is inside of it

    def settings(self, surface: Surface, params: Mapping[str, float]) -> dict[str, float]:
        """Return the edge length [m], by default a twentieth of the surface's diagonal."""
        return {"edge_length": params["edge_length"] or surface.diagonal / 20.0}

    def mesh(self, vertices: Vec, triangles: Index, settings: Mapping[str, float]) -> tuple[Vec, Index]:
        """Return nodes (k, 3) [m] and tets (e, 4). Raises BadMesh where there would be too many cells."""
        edge = settings["edge_length"]
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        counts = cell_counts(high - low, edge)
        # the grid is centred on the body
        origin = 0.5 * (low + high) - 0.5 * edge * counts
        points = spread(vertices, triangles, edge / SAMPLES)[0]
        cell = np.clip(((points - origin) / edge).astype(int), 0, counts - 1)
        on_surface = np.zeros(counts, dtype=bool)
        on_surface[tuple(cell.T)] = True
        filled = ndimage.binary_fill_holes(on_surface)
        nodes, tets = box_tets((counts[0], counts[1], counts[2]), edge * counts, origin)
        return drop_unused_nodes(nodes, tets[np.repeat(filled.ravel(), 6)])


def cell_counts(box: Vec, edge: float) -> Index:
    """Return the numbers of cells along the sides of a box, (3,). box: its sides [m], (3,). edge: of a cell [m]. Raises
    BadMesh where there would be too many."""
    counts: Index = np.maximum(np.ceil(box / edge), 1).astype(int)
    if np.prod(counts.astype(float)) > MOST_CELLS:
        raise BadMesh(f"an edge length of {edge:.3g} m gives more than two million cells",
                      "Make the edge length larger", where="mesher.params.edge_length")
    return counts


def cell_edge(box: Vec, count: int) -> float:
    """Return the edge length of cells of which about `count` fill a box [m]. box: its sides [m], (3,)."""
    return float(np.cbrt(np.prod(np.maximum(box, FLAT * box.max())) / count))


def spread(vertices: Vec, triangles: Index, spacing: float) -> tuple[Vec, Index]:
    """Return points all over triangles, none farther from the next than about `spacing` [m], (p, 3), and the triangle
    of each, (p,)."""
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    longest = np.sqrt(np.max([((p - q) ** 2).sum(axis=1) for p, q in ((a, b), (b, c), (c, a))], axis=0))
    parts = np.maximum(np.ceil(longest / spacing).astype(int), 1)
    points, of_triangle = [], []
    for n in np.unique(parts):
        i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
        inside = i + j <= n
        u, v = i[inside] / n, j[inside] / n
        rows = parts == n
        corners = np.stack([a[rows], b[rows], c[rows]], axis=1)
        weights = np.stack([1.0 - u - v, u, v], axis=1)
        points.append(np.einsum("wc,tck->twk", weights, corners).reshape(-1, 3))
        of_triangle.append(np.repeat(np.flatnonzero(rows), len(weights)))
    return np.concatenate(points), np.concatenate(of_triangle).astype(np.int32)
