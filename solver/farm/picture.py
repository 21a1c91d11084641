"""Pictures of meshes without a renderer, for an overview of many bakes: grey shaded triangles, and numbers.

Standard library and numpy only.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from ..state import Index, Vec

Image = NDArray[np.uint8]  #: (height, width, 3)

LOOK = np.array([-0.55, 0.75, -0.38]) / np.linalg.norm([-0.55, 0.75, -0.38])  #: viewing direction; Z is up
RIGHT = np.cross(LOOK, [0.0, 0.0, 1.0]) / np.linalg.norm(np.cross(LOOK, [0.0, 0.0, 1.0]))
UP = np.cross(RIGHT, LOOK)
LIGHT = np.array([0.35, -0.6, 0.72]) / np.linalg.norm([0.35, -0.6, 0.72])
BACKGROUND, EMPTY, INK = 236, 205, 60  # greys: of the background, of cells that are not baked, of numbers
MARGIN = 0.06  # of a cell
FINEST = 64  #: points along the side of a triangle at most: in larger ones the background shows through

#: three columns and five rows of each digit, a row an octal digit
DIGITS = ("75557", "26227", "71747", "71717", "55711", "74717", "74757", "71111", "75757", "75717")


class View:
    """Orthographic view that contains a box."""

    def __init__(self, low: Vec, high: Vec, size: tuple[int, int]) -> None:
        """low, high: corners of the box, (3,) [m]. size: width and height of the picture [px]."""
        corners = np.array([[(low, high)[i >> axis & 1][axis] for axis in range(3)] for i in range(8)])
        flat = np.stack([corners @ RIGHT, corners @ UP], axis=1)
        spread = np.maximum(np.ptp(flat, axis=0), 1e-9)
        self.width, self.height = size
        self._scale = float(((1.0 - 2 * MARGIN) * np.array(size) / spread).min())
        self._middle = (flat.min(axis=0) + flat.max(axis=0)) / 2

    def project(self, points: Vec) -> Vec:
        """Return columns and rows [px] and depths [m] in the picture, (n, 3), of points (n, 3) [m]."""
        across, up = (points @ RIGHT - self._middle[0]), (points @ UP - self._middle[1])
        return np.stack([self.width / 2 + across * self._scale, self.height / 2 - up * self._scale, points @ LOOK],
                        axis=1)


def draw(view: View, meshes: list[tuple[Vec, Index]], spots: Vec | None = None) -> Image:
    """Return a picture of meshes, vertices (n, 3) [m] and triangles (t, 3) each, and of spots (k, 3) [m]."""
    depth = np.full(view.height * view.width, np.inf)
    image = np.full(view.height * view.width, BACKGROUND, dtype=np.uint8)
    for shade_of, (points, triangles) in enumerate(meshes):
        corners = points[triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        lengths = np.maximum(np.linalg.norm(normals, axis=1), 1e-30)
        lit = np.abs(normals @ LIGHT) / lengths
        grey = (40 + 22 * (shade_of % 4) + 130 * lit).astype(np.uint8)
        projected = view.project(points)
        for chosen, inside in _fill_triangles(projected[triangles]):
            _put(view, depth, image, inside.reshape(-1, 3), np.repeat(grey[chosen], inside.shape[1]))
    if spots is not None and len(spots):
        around = np.array([[i, j, 0.0] for i in (-1, 0, 1) for j in (-1, 0, 1)])
        _put(view, depth, image, (view.project(spots)[:, None] + around).reshape(-1, 3),
             np.full(9 * len(spots), INK, dtype=np.uint8))
    return np.repeat(image.reshape(view.height, view.width, 1), 3, axis=2)


def _fill_triangles(corners: Vec) -> list[tuple[NDArray[np.intp], Vec]]:
    """Return triangles by their size in the picture: their numbers, (t,), and points that fill each, (t, p, 3)."""
    sides = corners[:, [1, 2, 0], :2] - corners[:, :, :2]
    longest = np.linalg.norm(sides, axis=2).max(axis=1)
    steps = np.minimum(2 ** np.ceil(np.log2(np.maximum(1.5 * longest, 1.0))).astype(int), FINEST)
    filled: list[tuple[NDArray[np.intp], Vec]] = []
    for count in np.unique(steps):
        chosen = np.flatnonzero(steps == count)
        weights = np.array([(i, j, count - i - j) for i in range(count + 1) for j in range(count + 1 - i)]) / count
        # in pieces, to limit memory
        pieces = np.array_split(chosen, 1 + len(chosen) * len(weights) // 1_000_000)
        filled += [(part, np.einsum("pc,tcd->tpd", weights, corners[part])) for part in pieces]
    return filled


def _put(view: View, depth: Vec, image: Image, points: Vec, grey: NDArray[np.uint8]) -> None:
    """Write points into the picture where none before them is nearer. depth, image: (height * width,), changed."""
    seen = np.isfinite(points).all(axis=1)
    seen &= (points[:, 0] >= 0) & (points[:, 0] < view.width) & (points[:, 1] >= 0) & (points[:, 1] < view.height)
    points, grey = points[seen], grey[seen]
    pixel = points[:, 1].astype(int) * view.width + points[:, 0].astype(int)
    # of several points in one pixel the nearest is written last
    order = np.argsort(-points[:, 2], kind="stable")
    order = order[points[order, 2] <= depth[pixel[order]]]
    depth[pixel[order]] = points[order, 2]
    image[pixel[order]] = grey[order]


def number(image: Image, value: int, row: int, column: int) -> None:
    """Write a number that is not negative into the picture, five pixels high, with its upper left corner at (row,
    column)."""
    for position, digit in enumerate(str(value)):
        for i, octal in enumerate(DIGITS[int(digit)]):
            for j in range(3):
                if int(octal) >> (2 - j) & 1:
                    image[row + i, column + 4 * position + j] = INK


def sheet(cells: list[list[Image | None]], size: tuple[int, int], rows: list[int], columns: list[int]) -> Image:
    """Return one picture of many cells, each a picture of `size` (width, height) [px] or None where there is none yet.

    rows, columns: numbers that are written beside and above the cells.
    """
    width, height = size
    left, top, gap = 28, 12, 2
    whole = np.full((top + len(cells) * (height + gap), left + len(columns) * (width + gap), 3), 255, dtype=np.uint8)
    for j, value in enumerate(columns):
        number(whole, abs(value), 3, left + j * (width + gap) + 4)
    for i, line in enumerate(cells):
        y = top + i * (height + gap)
        number(whole, rows[i], y + 4, 4)
        for j, cell in enumerate(line):
            x = left + j * (width + gap)
            whole[y:y + height, x:x + width] = EMPTY if cell is None else cell
    return whole


def png(image: Image) -> bytes:
    """Return a picture as the bytes of a PNG file."""
    height, width, _ = image.shape
    lines = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, 3 * width)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(lines.tobytes(), 6))
            + _chunk(b"IEND", b""))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
