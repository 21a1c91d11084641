"""Surfaces of solids for tests of sharp edges."""

import numpy as np

from solver.state import Index

SHARP_ANGLE = np.pi / 6  #: between the normals of two faces of a sharp edge, as by default


def box(low=(0.0, 0.0, 0.0), high=(1.0, 1.0, 1.0)):
    """Vertices (8, 3) and triangles (12, 3) of a box, outwards."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], float)
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    triangles = [t for a, b, c, d in quads for t in ([a, b, c], [a, c, d])]
    return low + corners * (high - low), np.array(triangles, np.int32)


def lathe(radii, heights, segments=32):
    """A solid turned about z: rings of these radii at these heights, and a point at each end."""
    turn = 2.0 * np.pi * np.arange(segments) / segments
    rings = [np.stack([r * np.cos(turn), r * np.sin(turn), np.full(segments, z)], 1) for r, z in zip(radii, heights)]
    x = np.concatenate([*rings, [[0, 0, heights[0]], [0, 0, heights[-1]]]])
    bottom, top, last = len(x) - 2, len(x) - 1, (len(radii) - 1) * segments
    triangles = []
    for i in range(segments):
        j = (i + 1) % segments
        triangles += [[bottom, j, i], [top, last + i, last + j]]
        for k in range(0, last, segments):
            triangles += [[k + i, k + j, k + segments + j], [k + i, k + segments + j, k + segments + i]]
    return x, np.array(triangles, np.int32)


def ball(segments=32):
    """A ball of radius 1."""
    tilt = np.linspace(0.0, np.pi, segments // 2 + 1)[1:-1]
    x, triangles = lathe(np.sin(tilt), -np.cos(tilt), segments)
    x[-2:, 2] = -1.0, 1.0
    return x, triangles


def square(cells=4):
    """A flat square sheet in the plane z = 0, facing upwards."""
    side = np.linspace(0.0, 1.0, cells + 1)
    x = np.stack([*np.meshgrid(side, side, indexing="ij"), np.zeros((cells + 1, cells + 1))], -1).reshape(-1, 3)
    number: Index = np.arange((cells + 1) ** 2, dtype=np.int32).reshape(cells + 1, cells + 1)
    a, b, c, d = (one.ravel() for one in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    return x, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


def globe(rings):
    """A UV sphere of radius 1, closed: its poles are fans of slivers."""
    down, around = np.pi * np.arange(1, rings) / rings, np.pi * np.arange(2 * rings) / rings
    rows = np.stack([np.outer(np.sin(down), np.cos(around)), np.outer(np.sin(down), np.sin(around)),
                     np.outer(np.cos(down), np.ones(2 * rings))], axis=2).reshape(-1, 3)
    vertices = np.concatenate([rows, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]])
    at = np.arange(len(rows)).reshape(rings - 1, 2 * rings)
    right = np.roll(at, -1, axis=1)
    a, b, c, d = at[:-1].ravel(), right[:-1].ravel(), at[1:].ravel(), right[1:].ravel()
    north, south = np.full(2 * rings, len(rows)), np.full(2 * rings, len(rows) + 1)
    return vertices, np.concatenate([np.stack(corners, axis=1) for corners in (
        (a, c, b), (b, c, d), (north, at[0], right[0]), (south, right[-1], at[-1]))]).astype(np.int32)
