"""Colliders of live bodies: meshes that move as rigid bodies, known by points and normals all over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from ..job.arrays import Unreadable, read_npz
from ..meshing.normals import unit_normals
from ..state import Index, Mask, Vec
from .skins import DEEP, inside_of, middles

FILES = "bump_{}.npz"  #: in a job folder: "vertices", (n, 3) [m], and "triangles", (m, 3), where the job was read
FINE = 60.0  #: points along the diagonal of a mesh


class BumpMesh:
    """One mesh, where the job was read."""

    def __init__(self, vertices: Vec, triangles: Index) -> None:
        """vertices: (n, 3) [m]; triangles: (m, 3), their normals outwards."""
        self._diagonal = float(np.linalg.norm(np.ptp(vertices, axis=0)))
        points, face = middles(vertices, triangles, max(self._diagonal, 1e-9) / FINE)
        self._points, self._normals = points, unit_normals(vertices, triangles)[face]
        self._tree = cKDTree(points)

    def outside(self, points: Vec) -> tuple[Mask, Vec]:
        """Which points (p, 3) [m] are inside of it, and where the surface is nearest to these, (k, 3) [m]."""
        found, which, height = inside_of(self._tree, self._points, self._normals, points, DEEP * self._diagonal)
        inside = np.zeros(len(points), dtype=bool)
        inside[found] = True
        targets: Vec = points[found] - height[:, None] * self._normals[which]
        return inside, targets


@dataclass(frozen=True)
class Bump:
    """A mesh, and how it has moved since the job was read."""

    shape: BumpMesh
    matrix: Vec  #: world to world [m], (4, 4)
    number: int = 0  #: among the meshes of the job
    before: Vec | None = None  #: the same where the step begins; None: it stands still


def shapes_of(folder: Path) -> list[BumpMesh]:
    """Return the colliders of a job folder."""
    found: list[BumpMesh] = []
    while (path := folder / FILES.format(len(found))).exists():
        try:
            arrays = read_npz(path)
            found.append(BumpMesh(np.asarray(arrays["vertices"], float), np.asarray(arrays["triangles"])))
        except (OSError, KeyError, Unreadable):
            break  # nobody but Blender writes there: what is torn is written again
    return found


def pushed(bumps: Sequence[Bump], points: Vec, h: float = 1.0) -> tuple[Index, Vec, Vec]:
    """Which of some points (p, 3) [m] are inside of any, (k,), where each is pushed to [m], and how fast that moves
    in a step of h seconds [m/s], (k, 3) each."""
    free, rows = np.ones(len(points), dtype=bool), [np.zeros(0, np.int64)]
    targets, speeds = [np.zeros((0, 3))], [np.zeros((0, 3))]
    for bump in bumps:
        matrix = bump.matrix
        back = np.linalg.inv(matrix)
        inside, there = bump.shape.outside(points @ back[:3, :3].T + back[:3, 3])
        to = there @ matrix[:3, :3].T + matrix[:3, 3]
        first = free[inside]
        rows.append(np.flatnonzero(inside)[first])
        targets.append(to[first])
        moved = np.zeros((4, 4)) if bump.before is None else (matrix - bump.before) / h
        speeds.append((there @ moved[:3, :3].T + moved[:3, 3])[first])
        free[inside] = False
    return np.concatenate(rows), np.concatenate(targets), np.concatenate(speeds)
