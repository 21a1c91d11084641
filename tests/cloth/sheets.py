"""Sheets of triangles for tests of cloth."""

import numpy as np

from solver.forces.cloth.sheet import Sheet


def grid(cells_x, cells_y, size_x, size_y, alternate=True):
    """Vertices (n, 3) and triangles (m, 3) of a flat rectangle from the origin on; diagonals turn if `alternate`."""
    x, y = np.meshgrid(np.linspace(0, size_x, cells_x + 1), np.linspace(0, size_y, cells_y + 1), indexing="ij")
    rest = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3)
    number = np.arange(len(rest)).reshape(cells_x + 1, cells_y + 1)
    triangles = []
    for i in range(cells_x):
        for j in range(cells_y):
            a, b, c, d = number[i, j], number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]
            if alternate and (i + j) % 2:
                triangles += [[a, b, d], [b, c, d]]
            else:
                triangles += [[a, b, c], [a, c, d]]
    return rest, np.array(triangles, np.int32)


def sheet_of(rest, triangles, material=None, slides=False):
    """A sheet whose material space is the plane z = 0 where none is given."""
    flat = rest[:, :2][triangles] if material is None else material
    return Sheet(np.ascontiguousarray(rest, dtype=float), np.asarray(triangles, np.int32), np.asarray(flat, float),
                 slides)


def lattice(cells, length, width, before=1):
    """Vertices and triangles of equal sides, columns of them across X, so many cells to 0 and `before` besides."""
    high = length / cells
    side = high * 2.0 / np.sqrt(3.0)
    rows, columns = max(2, round(width / side)), range(-before, cells + 1)
    number = {(i, j): k for k, (i, j) in enumerate((i, j) for i in columns for j in range(rows + 1))}
    vertices = np.array([[i * high, (j + 0.5 * (i % 2)) * side, 0.0] for i, j in number])
    triangles = []
    for i in columns[:-1]:
        for j in range(rows):
            a, b, c, d = number[i, j], number[i, j + 1], number[i + 1, j], number[i + 1, j + 1]
            triangles += [[a, c, b], [b, c, d]] if i % 2 == 0 else [[a, c, d], [a, d, b]]
    return vertices, np.array(triangles, np.int32)
