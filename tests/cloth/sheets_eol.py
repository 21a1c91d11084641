"""Cloths with a place in material space, for tests of what changes their meshes."""

import numpy as np
from scipy.spatial.transform import Rotation
from sheets import grid

from solver.reshape.sheet.sheet_mesh import SheetMesh


def rotated(*turns):
    return Rotation.from_euler("xyz", turns).as_matrix()


def flat(cells):
    """A square of a metre that lies flat."""
    rest, faces = grid(cells, cells, 1.0, 1.0)
    return SheetMesh.at_rest(rest, rest[:, :2], faces)


def bent(cells, fold):
    """The same, folded down by this angle [rad] along its middle; an even number of cells."""
    rest, faces = grid(cells, cells, 1.0, 1.0)
    over = np.maximum(rest[:, 0] - 0.5, 0.0)
    x = np.column_stack([np.minimum(rest[:, 0], 0.5) + np.cos(fold) * over, rest[:, 1], -np.sin(fold) * over])
    return SheetMesh.at_rest(x, rest[:, :2], faces)
