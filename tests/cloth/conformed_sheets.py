"""Sheets over edges and corners, conformed to their features."""

import numpy as np
from sheets import grid
from sliding_sheets import SIDE, box_features
from sound_sheets import smallest_angle

from solver.sheet.conform import conform
from solver.sheet.limits import RemeshLimits
from solver.sheet.sheet_mesh import SheetMesh

THICKNESS = 2e-3


def conformed(mesh, features=None, **choices):
    return conform(mesh, features or box_features(), RemeshLimits.of(mesh, THICKNESS), **choices)


def assert_conforms(mesh, features, unjoined=0):
    """Exactly on features, joined along them, well shaped, and nothing else goes over the two edges that are covered.
    """
    points = len(features.points)
    sits = np.flatnonzero(mesh.on >= 0)
    corner, edge = sits[mesh.on[sits] < points], sits[mesh.on[sits] >= points]
    assert np.abs(mesh.x[corner] - features.points[mesh.on[corner]]).max(initial=0.0) <= 1e-12
    ends = features.points[features.edges[mesh.on[edge] - points]]
    off = mesh.x[edge] - ends[:, 0]
    along = features.along[mesh.on[edge] - points]
    beside = off - np.einsum("ki,ki->k", off, along)[:, None] * along
    assert np.abs(beside).max(initial=0.0) <= 1e-12
    assert smallest_angle(mesh.material, mesh.faces) >= 2.0
    mesh.check()
    joined = {tuple(sorted(e)) for e in mesh.edges.tolist()}
    left = 0
    for number in np.unique(mesh.on[edge]):
        here = [*edge[mesh.on[edge] == number], *corner[np.isin(mesh.on[corner], features.edges[number - points])]]
        here.sort(key=lambda i: mesh.x[i] @ features.along[number - points])
        left += sum(tuple(sorted((a, b))) not in joined for a, b in zip(here[:-1], here[1:]))
    assert left <= unjoined
    close = np.linalg.norm(mesh.x[sits][:, None] - mesh.x[sits], axis=2) + np.eye(len(sits))
    assert close.min(initial=1.0) > 1e-4


def draped(cells, radius=0.02, side=SIDE):
    """A square bent over the box's edge x = 1 with a round fold that cuts into it, or stands off, by less than 3 mm."""
    rest, faces = grid(cells, cells, side, side)
    c, s = np.cos(0.25), np.sin(0.25)
    flat_place = (rest[:, :2] - 0.5 * side) @ np.array([[c, s], [-s, c]]) + (1.0, 0.5)
    arc = flat_place[:, 0] - (1.0 - radius)
    angle = np.clip(arc / radius, 0.0, 0.5 * np.pi)
    over = np.maximum(arc - 0.5 * np.pi * radius, 0.0)
    x = np.column_stack([np.where(arc < 0.0, flat_place[:, 0], 1.0 - radius + radius * np.sin(angle)),
                         flat_place[:, 1], np.where(arc < 0.0, 1.0, 1.0 - radius + radius * np.cos(angle) - over)])
    x[:, 0] += 0.0005
    x[:, 2] += 0.0005
    return SheetMesh.at_rest(x, rest[:, :2].copy(), faces)


def hanging(cells=10):
    """A square folded over the edge x = 1 of a long box along its own middle, which is on it exactly."""
    rest, faces = grid(cells, cells, 1.0, 1.0)
    over = np.maximum(rest[:, 0] - 0.5, 0.0)
    x = np.column_stack([0.5 + np.minimum(rest[:, 0], 0.5), rest[:, 1], 1.0 - over])
    return SheetMesh.at_rest(x, rest[:, :2].copy(), faces), box_features((0, -1, 0), (1, 2, 1))
