"""TetGen, a fast and exact mesher of clean closed surfaces. An optional package: its core is AGPL."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ..errors import BadMesh, Environment
from ..state import Index, Vec
from .surface import Surface, measure_enclosed_volumes


class TetGen:
    """A mesher that fills a closed surface without changing its triangles."""

    in_child = True
    covers = False  #: whether cells stand out of the surface, which are to count by what is inside of it
    seconds: float | None = None  #: of the first try; None: from the number of tetrahedra

    def settings(self, surface: Surface, params: Mapping[str, float]) -> dict[str, float]:
        """Return the edge length in unit-box units, and the radius-edge ratio. Raises Environment where TetGen is not
        installed, BadMesh for open surfaces."""
        if find_spec("tetgen") is None:
            raise Environment("TetGen is not installed", "Install the Python package tetgen, or use fTetWild")
        if surface.open_edges or surface.tangled_edges:
            raise BadMesh("the surface is not closed and TetGen needs a closed one",
                          "Fill its holes, or use fTetWild, which accepts holes")
        return {"edge_length": (params["edge_length"] or surface.diagonal / 20.0) / surface.scale, "ratio": 1.4}

    def coarser(self, vertices: Vec, triangles: Index) -> tuple[Vec, Index]:
        """Return the surface unchanged: vertices (n, 3) and triangles (m, 3)."""
        return vertices, triangles

    def retry(self, settings: Mapping[str, float], slow: bool) -> dict[str, float]:
        """Return settings for less well-shaped tetrahedra, which are also coarser after a try that was too slow."""
        return {"edge_length": (1.5 if slow else 1.0) * settings["edge_length"], "ratio": 2.0}

    def mesh(self, vertices: Vec, triangles: Index, settings: Mapping[str, float]) -> tuple[Vec, Index]:
        """Return nodes (k, 3) and tets (e, 4) in unit-box units. Runs in the child process, since TetGen may crash or
        hang."""
        import tetgen

        mesher = tetgen.TetGen(np.ascontiguousarray(vertices, dtype=np.float64),
                               np.ascontiguousarray(triangles, dtype=np.int32))
        for point in _cavity_points(vertices, triangles):
            mesher.add_hole(point)
        largest = settings["edge_length"] ** 3 / (6.0 * np.sqrt(2.0))
        nodes, tets = mesher.tetrahedralize(switches=f"pq{settings['ratio']}a{largest:.12f}Q")[:2]
        return nodes, np.asarray(tets)[:, :4]

    def progress(self, line: str) -> tuple[float | None, str] | None:
        """Return no progress, since TetGen does not report any."""
        return None


def _cavity_points(vertices: Vec, triangles: Index) -> list[tuple[float, float, float]]:
    """Return a point in each cavity: just in front of a face of every part that encloses a negative volume."""
    links = triangles[:, [0, 1, 1, 2]].reshape(-1, 2)
    graph = coo_matrix((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(len(vertices),) * 2)
    part = connected_components(graph, directed=False)[1][triangles[:, 0]]
    normal = np.cross(vertices[triangles[:, 1]] - vertices[triangles[:, 0]],
                      vertices[triangles[:, 2]] - vertices[triangles[:, 0]])
    points = []
    for inward in np.flatnonzero(np.bincount(part, measure_enclosed_volumes(vertices, triangles)) < 0.0):
        faces = np.flatnonzero(part == inward)
        face = faces[np.linalg.norm(normal[faces], axis=1).argmax()]
        x, y, z = vertices[triangles[face]].mean(axis=0) + 1e-5 * normal[face] / np.linalg.norm(normal[face])
        points.append((float(x), float(y), float(z)))
    return points
