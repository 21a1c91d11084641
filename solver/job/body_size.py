"""Sizes of soft bodies: exact, or estimated from a surface that is not filled with tetrahedra yet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

TETS_PER_NODE = 4.5  #: of a solid body; thin ones have fewer
ACROSS_THIN = 4.5  #: longest edge of a thin body, relative to its thickness
UNSURE = 2.0  #: factor by which an estimate may be wrong


@dataclass(frozen=True)
class BodySize:
    """Size of a soft body, exact or estimated from its surface."""

    name: str
    vertices: int
    triangles: int
    nodes: int
    tets: int  #: number of elements: tetrahedra, or triangles or links
    exact: bool  #: whether numbers are exact, not estimated from the surface
    least_tets: int  #: bounds of an estimated number
    most_tets: int
    is_cloth: bool = False  #: whether `tets` is the number of triangles or links of cloth or a rope

    @classmethod
    def of_counts(cls, name: str, vertices: int, triangles: int, nodes: int, elements: int,
                  is_cloth: bool = False) -> BodySize:
        """Return the exact size of a body. elements: number of its tetrahedra, or of its triangles or links."""
        return cls(name, vertices, triangles, nodes, elements, True, elements, elements, is_cloth)

    @property
    def sentence(self) -> str:
        """Return the size as a sentence without a full stop."""
        start = f'Body "{self.name}": {self.vertices} vertices, {self.triangles} triangles, '
        if self.is_cloth:
            return f"{start}cloth"
        if self.exact:
            return f"{start}{self.nodes} nodes, {self.tets} tetrahedra"
        return (f"{start}about {self.nodes} nodes, about {self.tets} tetrahedra "
                f"(from {self.least_tets} to {self.most_tets})")


def estimate_size(name: str, vertices: NDArray[Any], triangles: NDArray[Any], params: Mapping[str, float | bool]
                  ) -> BodySize:
    """Return the size of a body that is not filled yet. vertices: (n, 3) [m]. triangles: (m, 3). params: parameters of
    its mesher."""
    coarse, tets = estimate_tets(vertices, triangles, params)
    return BodySize(name, len(vertices), len(triangles), max(4, round(tets / TETS_PER_NODE)), tets, False,
                    max(1, round(coarse / UNSURE)), round(tets * UNSURE))


def estimate_tets(vertices: NDArray[Any], triangles: NDArray[Any], params: Mapping[str, float | bool]
                  ) -> tuple[int, int]:
    """Return two estimates of the number of tetrahedra that fill a surface, at least 6 each.

    The first is for tetrahedra of the requested edge length; the second for edges that also fit a thin body.
    vertices: (n, 3) [m]. triangles: (m, 3). params: parameters of the mesher.
    """
    corners = (vertices - vertices.mean(axis=0))[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    volume = abs(float(np.einsum("ij,ij->", normals, corners[:, 0]))) / 6
    area = float(np.linalg.norm(normals, axis=1).sum()) / 2
    edge = float(params.get("edge_length", 0.0)) or float(np.linalg.norm(np.ptp(vertices, axis=0))) / 20
    if not area or not edge:
        return 6, 6
    sheet = float(params.get("sheet_thickness", 0.0))
    if 2 * volume / area < sheet:
        volume, area = area * sheet, 2 * area
    # a regular tetrahedron fills edge³ / 6√2; the surface adds some two for each of its triangles of that size, which
    # is smaller where the body is thin
    across = ACROSS_THIN * 2 * volume / area or edge
    inside, outside = 6 * math.sqrt(2) * volume / edge**3, 2 * area / (math.sqrt(3) / 4)
    coarse, fine = (max(6, round(inside + outside / side**2)) for side in (edge, min(edge, across)))
    return coarse, fine
