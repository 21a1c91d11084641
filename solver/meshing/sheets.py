"""Open sheets among surfaces that enclose a volume: found, and thickened where the artist wants it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..state import Index, Mask, Vec
from .closest import vertex_normals
from .surface import Surface, measure_enclosed_volumes
from .volume import SIDES
from .winding import winding_numbers

PAIRS = 4_000_000  #: of points and triangles of winding numbers, a second or two
MOST_POINTS = 500  #: of winding numbers, however few triangles there are
ENCLOSED = 0.2  #: of a half: a cap of 60 degrees of a sphere, or a tube half as long as it is wide
THIN = 0.02  #: of the box diagonal: thickness of a fold, at most
LONG_BORDER = 10.0  #: length squared by area: 16 of a square, 6 of half a sphere, 3 of a box without its lid


@dataclass(frozen=True)
class Sheets:
    """Connected parts of a surface that enclose nothing."""

    parts: Mask  #: which connected parts, (parts,)
    triangles: Mask  #: which triangles, (m,)
    fraction: float  #: fraction of the whole area


def find_sheets(surface: Surface) -> Sheets:
    """Return the parts with a border that do not enclose anything, with the help of all others or alone.

    The winding number changes by one across the surface; halfway it is a half where the rest of the surface closes
    around that point, and zero on a plane. A sheet is a part whose mean is below a fifth, or a thin fold with a long
    border.
    """
    vertices, triangles, part = surface.vertices, surface.triangles, surface.part
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    across = np.cross(b - a, c - a)
    area = 0.5 * np.linalg.norm(across, axis=1)
    of_part: Vec = np.bincount(part, area)  # type: ignore[assignment]
    border = _border_lengths(surface)
    is_sheet = np.zeros(surface.parts, dtype=bool)

    rows = np.flatnonzero((border > 0.0)[part])
    if len(rows):
        # as many points of each triangle as its fraction of the area, and one of every part as long as they last
        count = _point_count(len(triangles))
        along = np.cumsum(area[rows])
        spread = rows[np.searchsorted(along, (np.arange(count) + 0.5) / count * along[-1])]
        first = np.unique(part[rows], return_index=True)[1]
        chosen = np.unique(np.concatenate([spread, rows[first[np.argsort(-of_part[part[rows[first]]])][:count]]]))
        outside = (a + b + c)[chosen] / 3.0 + 1e-5 * across[chosen] / (2.0 * area[chosen])[:, None]
        halfway = winding_numbers(outside, vertices, triangles) + 0.5
        weight = area[chosen]
        overall = float(np.average(halfway, weights=weight))
        total = np.bincount(part[chosen], weight, minlength=surface.parts)
        mean = np.bincount(part[chosen], weight * halfway, minlength=surface.parts) / np.where(total, total, 1.0)
        mean = np.where(total > 0.0, mean, overall)
        thickness = 2.0 * np.abs(_own_volumes(surface, a, b, c, area, of_part)) / of_part
        is_sheet = (border > 0.0) & (mean < ENCLOSED)
        thin = (thickness < THIN * surface.diagonal / surface.scale) & (border**2 > LONG_BORDER * of_part)
        for fold in np.flatnonzero(thin & ~is_sheet & (mean < 0.75)):
            # only its own layers enclose what is between them
            own = part[chosen] == fold
            winding = winding_numbers(outside[own], vertices, triangles[part == fold]) + 0.5
            is_sheet[fold] = own.any() and winding.mean() > ENCLOSED
    return Sheets(is_sheet, is_sheet[part], float(of_part[is_sheet].sum() / of_part.sum()))


def _point_count(triangles: int) -> int:
    """Return the number of points at which the winding numbers of so many triangles are evaluated."""
    return int(np.clip(PAIRS // triangles, 100, MOST_POINTS))


def _own_volumes(surface: Surface, a: Vec, b: Vec, c: Vec, area: Vec, of_part: Vec) -> Vec:
    """Return the volume of each part with its border closed towards its own centre, (parts,)."""
    part, middle = surface.part, (a + b + c) / 3.0
    centre = np.stack([np.bincount(part, area * middle[:, i]) for i in range(3)], axis=1) / of_part[:, None]
    corners = np.stack([a, b, c], axis=1) - centre[part][:, None]
    volumes: Vec = np.bincount(part, measure_enclosed_volumes(corners.reshape(-1, 3),
                                                              np.arange(3 * len(a)).reshape(-1, 3)))  # type: ignore[assignment]
    return volumes


def _border_lengths(surface: Surface) -> Vec:
    """Return the length of the border of each connected part, (parts,)."""
    ends, owner = border_edges(surface.triangles)
    lengths = np.linalg.norm(surface.vertices[ends[:, 0]] - surface.vertices[ends[:, 1]], axis=1)
    border: Vec = np.bincount(surface.part[owner], lengths, minlength=surface.parts)  # type: ignore[assignment]
    return border


def border_edges(triangles: Index) -> tuple[Index, NDArray[np.int64]]:
    """Return the edges with a single triangle, as they run in it, (k, 2), and that triangle, (k,). triangles: (m, 3).
    """
    edges = triangles[:, SIDES].reshape(-1, 2)
    ordered = np.sort(edges, axis=1).astype(np.int64)
    _, group, counts = np.unique(ordered[:, 0] << 32 | ordered[:, 1], return_inverse=True, return_counts=True)
    border = np.flatnonzero(counts[group] == 1)
    return edges[border], border // 3


def thicken(vertices: Vec, triangles: Index, thickness: float) -> tuple[Vec, Index]:
    """Return sheets as closed plates: both sides half a thickness away, and a rim along the border. The result is (2k,
    3) vertices, for k vertices used, and their triangles.

    vertices: (n, 3). triangles: (m, 3). thickness: in the units of the vertices.
    """
    used, corners = np.unique(triangles, return_inverse=True)
    vertices, triangles = vertices[used], corners.reshape(-1, 3)
    normals = vertex_normals(vertices, triangles)
    # where the triangles around a vertex do not agree, one of them has to do
    unclear = np.flatnonzero(~normals.any(axis=1))
    across = np.cross(vertices[triangles[:, 1]] - vertices[triangles[:, 0]],
                      vertices[triangles[:, 2]] - vertices[triangles[:, 0]])
    one = np.zeros(len(vertices), dtype=np.int64)
    one[triangles.ravel()] = np.repeat(np.arange(len(triangles)), 3)
    normals[unclear] = across[one[unclear]] / np.linalg.norm(across[one[unclear]], axis=1)[:, None]

    ends, _ = border_edges(triangles.astype(np.int32))
    other = len(vertices)
    rim = np.concatenate([np.stack([ends[:, 1], ends[:, 0], ends[:, 0] + other], axis=1),
                          np.stack([ends[:, 1], ends[:, 0] + other, ends[:, 1] + other], axis=1)])
    around = np.concatenate([triangles, triangles[:, ::-1] + other, rim])
    half = 0.5 * thickness * normals
    return np.concatenate([vertices + half, vertices - half]), around.astype(np.int32)
