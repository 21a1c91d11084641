"""Other triangulations of the unit square, for tests of cloth that is remeshed."""

import numpy as np
from scipy.spatial import Delaunay

PLACE = np.array([[0.3, -0.2, 1.0], [0.1, 0.9, -0.4]])  # an even strain of the whole cloth


def ragged(count=200, seed=1):
    """Another triangulation of the unit square: (n, 2) and (m, 3)."""
    rng = np.random.default_rng(seed)
    side = np.linspace(0.0, 1.0, 9)
    border = np.concatenate([np.stack([side, 0 * side], 1), np.stack([side, 1 + 0 * side], 1),
                             np.stack([0 * side, side], 1)[1:-1], np.stack([1 + 0 * side, side], 1)[1:-1]])
    points = np.concatenate([border, rng.uniform(0.02, 0.98, (count, 2))])
    faces = Delaunay(points).simplices.astype(np.int32)
    d = points[faces[:, 1:]] - points[faces[:, :1]]
    faces = faces[np.abs(np.cross(d[:, 0], d[:, 1])) > 1e-9]
    d = points[faces[:, 1:]] - points[faces[:, :1]]
    faces[np.cross(d[:, 0], d[:, 1]) < 0] = faces[np.cross(d[:, 0], d[:, 1]) < 0][:, ::-1]
    return points, faces
