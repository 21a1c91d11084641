"""Colliders of live bodies: meshes that move as rigid bodies, and the planes that keep points out of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..contact.find.obstacle_planes import ObstacleMesh
from ..coordinates.prescribed import Still, carried
from ..job.arrays import Unreadable, read_npz
from ..state import Index, Vec

FILES = "bump_{}.npz"  #: in a job folder: "vertices", (n, 3) [m], and "triangles", (m, 3), where the job was read


class BumpMesh:
    """One mesh, where the job was read."""

    def __init__(self, vertices: Vec, triangles: Index) -> None:
        """vertices: (n, 3) [m]; triangles: (m, 3), their normals outwards."""
        self.mesh = ObstacleMesh(triangles, Still(vertices))


@dataclass(frozen=True)
class Bump:
    """A mesh, and how it has moved since the job was read."""

    shape: BumpMesh
    matrix: Vec  #: world to world [m], (4, 4)
    number: int = 0  #: among the meshes of the job
    before: Vec | None = None  #: the same where the step begins; None: it stands still


@dataclass(frozen=True)
class BumpPlanes:
    """Half-spaces normal · (x − place) ≥ 0 at a step's end of some points, one more than once where it is in a corner.
    """

    points: Index  #: (k,)
    places: Vec  #: [m], (k, 3)
    normals: Vec  #: unit, (k, 3)
    speed: Vec  #: of the mesh there [m/s], (k, 3)


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


class Clearances:
    """How far the points of one body are off each mesh at least: those that are far are not looked for in each step."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Vec, Vec]] = {}  #: points as each mesh has them, and how far they are off it [m]

    def before(self, shape: BumpMesh, points: Vec) -> Vec:
        """Return how far points (p, 3) [m] are off a mesh at least, as it has them, (p,) [m]: by as much less as each
        has gone since they were seen. What is found out is written into that."""
        known, clear = self._known.get(id(shape), (points, np.zeros(len(points))))
        if known.shape != points.shape:
            known, clear = points, np.zeros(len(points))
        gone = points - known
        found: Vec = clear - np.sqrt(np.einsum("ij,ij->i", gone, gone))
        self._known[id(shape)] = points, found
        return found


def planes_before(bumps: Sequence[Bump], begun: Vec, end: Vec, h: float, margin: float = 0.0,
                  clearances: Clearances | None = None) -> BumpPlanes:
    """Return planes of the points that a step leads into any mesh, or nearer to it than `margin` [m].

    begun, end: points at the start of a step of h seconds and where it would lead, (p, 3) [m]. clearances: of these
    points, whatever step they are in.
    """
    points, places = [np.zeros(0, np.int32)], [np.zeros((0, 3))]
    normals, speed = [np.zeros((0, 3))], [np.zeros((0, 3))]
    for bump in bumps:
        now, before = bump.matrix, bump.matrix if bump.before is None else bump.before
        start = carried(np.linalg.inv(before), begun)
        clear = None if clearances is None else clearances.before(bump.shape, start)
        found = bump.shape.mesh.planes(start, carried(np.linalg.inv(now), end), 0.0, h, 1.0, margin, clear)
        if found is None:
            continue
        out = found.normals @ np.linalg.inv(now[:3, :3])  # normals go by the inverse transpose
        points.append(found.points)
        places.append(carried(now, found.places))
        normals.append(out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-300))
        speed.append((places[-1] - carried(before, found.places)) / h)
    return BumpPlanes(np.concatenate(points), np.concatenate(places), np.concatenate(normals), np.concatenate(speed))
