"""Surfaces as no mesher likes them, made by rule: sheets, folds, soup, islands, things joined by a thread."""

import numpy as np
from surfaces import box, joined

from solver.meshing.grid import box_tets
from solver.meshing.volume import boundary_faces


def sheet(cells=(20, 20), size=(1.0, 1.0), height=lambda x, y: 0.0 * x):
    """An open sheet over a rectangle, at a height [m] that is given for arrays of places (x, y)."""
    x, y = (a.ravel() for a in np.meshgrid(*(np.linspace(0, s, n + 1) for s, n in zip(size, cells)), indexing="ij"))
    i, j = (a.ravel() for a in np.indices(cells))
    first, step = i * (cells[1] + 1) + j, cells[1] + 1
    quads = np.stack([first, first + step, first + step + 1, first + 1], axis=1)
    return np.stack([x, y, height(x, y)], axis=1), np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]]).astype(np.int32)


def wavy_sheet(amplitude=0.1, waves=2.0, cells=(24, 24)):
    return sheet(cells, height=lambda x, y: amplitude * np.sin(2 * np.pi * waves * x) * np.cos(2 * np.pi * waves * y))


def folded_sheet(layers=4, gap=0.01, cells=20):
    """A strip laid to and fro, in layers `gap` apart."""
    vertices, triangles = sheet((layers * cells, cells), (float(layers), 1.0))
    layer = np.minimum(vertices[:, 0] // 1.0, layers - 1)
    along = vertices[:, 0] - layer
    return np.stack([np.where(layer % 2 == 1, 1.0 - along, along), vertices[:, 1], gap * layer], axis=1), triangles


def cap(height=0.5, cells=12):
    """A ball's surface up to a height above its lowest point, in radii: 1 is half a ball."""
    vertices, triangles = ball(cells=cells)
    return vertices, triangles[vertices[triangles].mean(axis=1)[:, 2] < height - 1.0]


def tube(length, radius=0.5, around=24, along=10):
    """Open at both ends."""
    angle, height = np.meshgrid(2 * np.pi * np.arange(around) / around, np.linspace(0.0, length, along + 1))
    vertices = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=-1).reshape(-1, 3)
    i, j = (a.ravel() for a in np.indices((along, around)))
    first, beside = i * around + j, i * around + (j + 1) % around
    return vertices, np.concatenate([np.stack([first, beside, beside + around], axis=1),
                                     np.stack([first, beside + around, first + around], axis=1)]).astype(np.int32)


def loose_triangles(count=200, size=0.2, seed=1):
    random = np.random.default_rng(seed)
    centres = random.random((count, 1, 3))
    vertices = centres + size * (random.random((count, 3, 3)) - 0.5)
    return vertices.reshape(-1, 3), np.arange(3 * count, dtype=np.int32).reshape(-1, 3)


def ball(radius=1.0, centre=(0.0, 0.0, 0.0), cells=6):
    """A box's surface blown up to a ball."""
    vertices, triangles = box((2.0, 2.0, 2.0), (-1.0, -1.0, -1.0), (cells,) * 3)
    return radius * vertices / np.linalg.norm(vertices, axis=1)[:, None] + centre, triangles


def islands(count=2000, radius=0.02, seed=2):
    """Small balls at random, some of which meet."""
    random = np.random.default_rng(seed)
    return joined(*(ball(radius, centre, 2) for centre in random.random((count, 3))))


def slab(thickness=0.01, cells=10):
    """A closed plate of one metre."""
    nodes, tets = box_tets((cells, cells, 1), (1.0, 1.0, thickness))
    used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
    return nodes[used], corners.reshape(-1, 3).astype(np.int32)


def dumbbell(bar=0.01, cells=6, length=2.0):
    """Two blocks of two metres and a square bar between them, one connected surface."""
    x = np.concatenate([np.linspace(-2 - length / 2, -length / 2, cells + 1),
                        np.linspace(length / 2, 2 + length / 2, cells + 1)])
    side = np.concatenate([np.linspace(-1, -bar / 2, cells // 2 + 1), np.linspace(bar / 2, 1, cells // 2 + 1)])
    nodes = np.stack(np.meshgrid(x, side, side, indexing="ij"), axis=-1).reshape(-1, 3)
    counts = (len(x) - 1, len(side) - 1, len(side) - 1)
    _, tets = box_tets(counts, (1.0, 1.0, 1.0))
    cell = np.repeat(np.indices(counts).reshape(3, -1).T, 6, axis=0)
    keep = (cell[:, 0] != cells) | ((cell[:, 1] == cells // 2) & (cell[:, 2] == cells // 2))
    used, corners = np.unique(boundary_faces(tets[keep])[0], return_inverse=True)
    return nodes[used], corners.reshape(-1, 3).astype(np.int32)


def without_lid():
    vertices, triangles = box()
    return vertices, triangles[~(vertices[triangles][:, :, 2] > 0.999).all(axis=1)]


def six_sides():
    """A box whose sides are sheets of their own, a little apart."""
    sides = []
    for axis in range(3):
        for end in (0.0, 1.0):
            vertices, triangles = sheet((4, 4))
            placed = np.roll(0.01 + 0.98 * vertices, axis, axis=1)
            placed[:, (axis + 2) % 3] = end
            sides.append((placed, triangles if end else triangles[:, ::-1]))
    return joined(*sides)
