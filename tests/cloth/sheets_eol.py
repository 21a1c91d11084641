"""Cloths with a place in material space, for tests of what changes their meshes."""

import numpy as np
from scipy.spatial.transform import Rotation
from sheets import grid

from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.transfer import world_velocities_at


def world_velocities(mesh):
    """Return the world velocities of the cloth's material at all vertices [m/s], (n, 3)."""
    return world_velocities_at(mesh, np.arange(len(mesh.x)))


def rotated(*turns):
    return Rotation.from_euler("xyz", turns).as_matrix()


def flat(cells):
    """A square of a meter that lies flat."""
    rest, faces = grid(cells, cells, 1.0, 1.0)
    return SheetMesh.at_rest(rest, rest[:, :2], faces)


def bent(cells, fold):
    """Return a sheet that is folded down by this angle [rad] along its middle; an even number of cells."""
    rest, faces = grid(cells, cells, 1.0, 1.0)
    over = np.maximum(rest[:, 0] - 0.5, 0.0)
    x = np.column_stack([np.minimum(rest[:, 0], 0.5) + np.cos(fold) * over, rest[:, 1], -np.sin(fold) * over])
    return SheetMesh.at_rest(x, rest[:, :2], faces)


def rolled(cells, radius=0.1):
    """Return a sheet with its far half bent down over a quarter of a cylinder and hanging from there."""
    rest, faces = grid(cells, cells, 1.0, 1.0)
    u = rest[:, 0] - 0.5
    turn = np.clip(u / radius, 0.0, 0.5 * np.pi)
    x = np.column_stack([np.minimum(u, 0.0) + radius * np.sin(turn), rest[:, 1],
                         -radius * (1.0 - np.cos(turn)) - np.maximum(u - 0.5 * np.pi * radius, 0.0)])
    return SheetMesh.at_rest(x, rest[:, :2], faces)


def eol(mesh, line=0.5, on=0):
    """Vertices along X = line sit on edge feature `on` and slide across it."""
    here = np.isclose(mesh.material[:, 0], line)
    slide = np.where(here[:, None], [0.7, 0.0], 0.0)
    return SheetMesh(mesh.x, mesh.material, mesh.faces, mesh.v, slide, np.where(here, on, -1).astype(np.int32),
                     mesh.required)


NO_ENDS = np.full((1, 2), -1, np.int32)  #: of an edge feature whose ends are no points


def border_polygon(mesh):
    """Corners of the border where it turns, from the smallest on."""
    onward = dict(mesh.border_edges.tolist())
    start = here = min(onward)
    loop = []
    while True:
        loop.append(here)
        here = onward[here]
        if here == start:
            break
    assert len(loop) == len(onward)
    X = mesh.material[loop]
    one, two = X - np.roll(X, 1, axis=0), np.roll(X, -1, axis=0) - X
    turns = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    corners = X[np.abs(turns) > 1e-9 * np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)]
    return np.roll(corners, -np.lexsort(corners.T)[0], axis=0)
