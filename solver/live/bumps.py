"""What a live body bumps into: meshes that move as rigid bodies, known by points and normals all over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from ..job.arrays import Unreadable, read_npz
from ..meshing.cells import spread
from ..state import Index, Mask, Vec

FILES = "bump_{}.npz"  #: in a job folder: "vertices", (n, 3) [m], and "triangles", (m, 3), where the job was read
FINE = 60.0  #: points along the diagonal of a mesh
DEEP = 0.15  #: of a mesh's diagonal: what is deeper inside than this is not pushed, it may as well be behind


class BumpMesh:
    """One mesh, where the job was read."""

    def __init__(self, vertices: Vec, triangles: Index) -> None:
        """vertices: (n, 3) [m]; triangles: (m, 3), their normals outwards."""
        self._diagonal = float(np.linalg.norm(np.ptp(vertices, axis=0)))
        points, face = spread(vertices, triangles, max(self._diagonal, 1e-9) / FINE)
        across = np.cross(vertices[triangles[:, 1]] - vertices[triangles[:, 0]],
                          vertices[triangles[:, 2]] - vertices[triangles[:, 0]])
        length = np.linalg.norm(across, axis=1, keepdims=True)
        self._points, self._normals = points, (across / np.maximum(length, 1e-300))[face]
        self._tree = cKDTree(points)

    def outside(self, points: Vec) -> tuple[Mask, Vec]:
        """Which points (p, 3) [m] are inside of it, and where the surface is nearest to these, (k, 3) [m]."""
        deep = DEEP * self._diagonal
        near, which = self._tree.query(points, distance_upper_bound=deep)
        found = np.isfinite(near)
        where = np.where(found, which, 0)
        height = np.einsum("ij,ij->i", points - self._points[where], self._normals[where])
        inside = found & (height < 0.0)
        targets: Vec = points[inside] - height[inside, None] * self._normals[where[inside]]
        return inside, targets


@dataclass(frozen=True)
class Bump:
    """A mesh, and how it has moved since the job was read."""

    shape: BumpMesh
    matrix: Vec  #: world to world [m], (4, 4)


def shapes_of(folder: Path) -> list[BumpMesh]:
    """Those that stand in a job folder."""
    found: list[BumpMesh] = []
    while (path := folder / FILES.format(len(found))).exists():
        try:
            arrays = read_npz(path)
            found.append(BumpMesh(np.asarray(arrays["vertices"], float), np.asarray(arrays["triangles"])))
        except (OSError, KeyError, Unreadable):
            break  # nobody but Blender writes there: what is torn is written anew
    return found


def pushed(bumps: Sequence[Bump], points: Vec) -> tuple[Index, Vec]:
    """Which of some points (p, 3) [m] are inside of any, (k,), and where each is pushed to, (k, 3) [m]."""
    free, rows, targets = np.ones(len(points), dtype=bool), [np.zeros(0, np.int64)], [np.zeros((0, 3))]
    for bump in bumps:
        matrix = bump.matrix
        back = np.linalg.inv(matrix)
        inside, to = bump.shape.outside(points @ back[:3, :3].T + back[:3, 3])
        to = to @ matrix[:3, :3].T + matrix[:3, 3]
        first = free[inside]
        rows.append(np.flatnonzero(inside)[first])
        targets.append(to[first])
        free[inside] = False
    return np.concatenate(rows), np.concatenate(targets)
