"""Colliders of live bodies: meshes that move affinely, and planes that keep points outside of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..contact.find.obstacle_planes import ObstacleMesh
from ..coordinates.prescribed import Constant, transform_points
from ..job.arrays import Unreadable, read_npz
from ..state import Index, Vec

FILES = "bump_{}.npz"  #: in a job folder: "vertices", (n, 3) [m], and "triangles", (m, 3), where the job was read


class BumpMesh:
    """A collider mesh at its position when the job was read."""

    def __init__(self, vertices: Vec, triangles: Index) -> None:
        """vertices: (n, 3) [m]. triangles: (m, 3), with outward normals."""
        self.mesh = ObstacleMesh(triangles, Constant(vertices))


@dataclass(frozen=True)
class Bump:
    """A collider mesh, and its motion since the job was read."""

    shape: BumpMesh
    matrix: Vec  #: world to world [m], (4, 4)
    number: int = 0  #: among the meshes of the job
    before: Vec | None = None  #: matrix at the start of the step, (4, 4) [m]; None: the collider does not move


@dataclass(frozen=True)
class BumpPlanes:
    """Half-spaces normal · (x − position) ≥ 0 for points at the end of a step. A point in a corner has several."""

    points: Index  #: index of each half-space's point, (k,)
    positions: Vec  #: points on the border planes [m], (k, 3)
    normals: Vec  #: unit, (k, 3)
    speed: Vec  #: velocity of the mesh at `positions` [m/s], (k, 3)


def shapes_of(folder: Path) -> list[BumpMesh]:
    """Return the collider meshes of a job folder, up to the first file that is missing or cannot be read."""
    shapes: list[BumpMesh] = []
    while (path := folder / FILES.format(len(shapes))).exists():
        try:
            arrays = read_npz(path)
            shapes.append(BumpMesh(np.asarray(arrays["vertices"], float), np.asarray(arrays["triangles"])))
        except (OSError, KeyError, Unreadable):
            break  # only Blender writes these files: it writes an incomplete one again
    return shapes


class Clearances:
    """Lower bounds of distances from the points of one body to each collider, which spare distant points a search."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Vec, Vec]] = {}  #: points and bounds by mesh [m]

    def before(self, shape: BumpMesh, points: Vec) -> Vec:
        """Return lower bounds of the distances from points to a mesh, (p,) [m]: the last bounds less the displacement
        of each point since then. points: in the frame of the mesh, (p, 3) [m].

        The array is stored: callers write larger bounds into it where a search finds them.
        """
        known, clear = self._known.get(id(shape), (points, np.zeros(len(points))))
        if known.shape != points.shape:
            known, clear = points, np.zeros(len(points))
        displacement = points - known
        bounds: Vec = clear - np.sqrt(np.einsum("ij,ij->i", displacement, displacement))
        self._known[id(shape)] = points, bounds
        return bounds


def planes_before(bumps: Sequence[Bump], step_start: Vec, end: Vec, h: float, margin: float = 0.0,
                  clearances: Clearances | None = None) -> BumpPlanes:
    """Return planes for the points that a step moves into a collider, or nearer to it than `margin` [m].

    step_start, end: points at the start and the predicted end of a step of h seconds, (p, 3) [m]. clearances: bounds
    for the same points from earlier steps, which are updated; None: all points are searched.
    """
    points, positions = [np.zeros(0, np.int32)], [np.zeros((0, 3))]
    normals, speed = [np.zeros((0, 3))], [np.zeros((0, 3))]
    for bump in bumps:
        now, before = bump.matrix, bump.matrix if bump.before is None else bump.before
        start = transform_points(np.linalg.inv(before), step_start)
        clear = None if clearances is None else clearances.before(bump.shape, start)
        planes = bump.shape.mesh.planes(start, transform_points(np.linalg.inv(now), end), 0.0, h, 1.0, margin, clear)
        if planes is None:
            continue
        out = planes.normals @ np.linalg.inv(now[:3, :3])  # normals transform by the inverse transpose
        points.append(planes.points)
        positions.append(transform_points(now, planes.positions))
        normals.append(out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-300))
        speed.append((positions[-1] - transform_points(before, planes.positions)) / h)
    return BumpPlanes(np.concatenate(points), np.concatenate(positions), np.concatenate(normals), np.concatenate(speed))
