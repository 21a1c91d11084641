"""Colliders in Play Live: their initial shape, and their present transforms."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.job.files import create, unwritable
from ...solver.live.board import BUMPS
from .. import members

Matrix = NDArray[np.float64]


class Bumps:
    """The colliders at the start, by session_uid. Deleted or hidden ones no longer collide."""

    def __init__(self, obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path, unit: float) -> None:
        """Writes their meshes into a job folder. unit: of a Blender unit [m]."""
        depsgraph = bpy.context.evaluated_depsgraph_get()
        self._begun: dict[int, Matrix] = {}
        for collider in members.colliders(obj, scene)[:BUMPS]:
            evaluated = collider.evaluated_get(depsgraph)
            mesh = evaluated.to_mesh()
            vertices, triangles = _triangles(mesh)
            evaluated.to_mesh_clear()
            to_world = to_metres(collider, unit)
            if not len(triangles) or np.linalg.matrix_rank(to_world[:3, :3]) < 3:
                continue
            if np.linalg.det(to_world[:3, :3]) < 0.0:
                triangles = triangles[:, ::-1]
            vertices = vertices @ to_world[:3, :3].T + to_world[:3, 3]
            path = folder / f"bump_{len(self._begun)}.npz"
            _write(path, vertices, triangles, folder)
            self._begun[collider.session_uid] = np.linalg.inv(to_world)

    def matrices(self, scene: bpy.types.Scene, unit: float) -> Matrix:
        """Return the motion of each collider since then, (BUMPS, 4, 4) [m]; zero for one that is missing."""
        found = np.zeros((BUMPS, 4, 4))
        if self._begun:
            there = {obj.session_uid: obj for obj in scene.objects}
            for k, (uid, back) in enumerate(self._begun.items()):
                collider = there.get(uid)
                if collider is not None and collider.visible_get():
                    found[k] = to_metres(collider, unit) @ back
                    if not abs(np.linalg.det(found[k])) > 1e-12:
                        found[k] = 0.0  # it has no size on an axis
        return found


def to_metres(obj: bpy.types.Object, unit: float) -> Matrix:
    """Object space [Blender units] to world space [m], (4, 4)."""
    matrix = np.array(obj.matrix_world, dtype=np.float64)
    matrix[:3] *= unit
    return matrix


def _write(path: Path, vertices: Matrix, triangles: NDArray[np.int32], folder: Path) -> None:
    """A file of both. Raises CacheUnwritable."""
    try:
        with create(path, folder) as file:
            np.savez(file, vertices=vertices, triangles=triangles)
    except OSError as error:
        raise unwritable(path, error) from error


def _triangles(mesh: bpy.types.Mesh) -> tuple[Matrix, NDArray[np.int32]]:
    """Vertices, (n, 3), and triangles, (m, 3)."""
    mesh.calc_loop_triangles()
    vertices = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", vertices)
    corners = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    return vertices.reshape(-1, 3).astype(np.float64), corners.reshape(-1, 3)
