"""The rest shape of a body that is cloth, in scene.json."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from .evaluation import Evaluation
from .folder import JobFolder, JobPart


def fill_rest_shape(cloth: dict[str, Any], evaluation: Evaluation, mesh: bpy.types.Mesh,
                    job: JobFolder | JobPart) -> None:
    """Fill in the shape that the cloth is cut as: its UV map, or itself with the warp along the object's X; and which
    of its faces have two diagonals. Raises BadInput."""
    if evaluation.object.conjac.use_sewing:
        cloth |= _seams(mesh, job)
    found = quads(mesh)
    if len(found) and "eulerian" not in cloth:
        cloth["quads"] = job.array("quads", found)
    to_world = evaluation.to_world()
    if evaluation.object.conjac.cloth_shape == "uv":
        cloth["uv"] = job.array("uv", _uv(mesh, evaluation.object.name, bool(np.linalg.det(to_world[:3, :3]) < 0.0)))
        return
    along = to_world[:3, 0]
    cloth["warp"] = (along / np.linalg.norm(along)).tolist()


def seams(mesh: bpy.types.Mesh) -> NDArray[np.int32]:
    """Return the ends of edges without a face whose both ends have one, (k, 2): they pull these together."""
    loose = np.empty(len(mesh.edges), dtype=bool)
    mesh.edges.foreach_get("is_loose", loose)
    ends, of_faces = np.empty(2 * len(mesh.edges), np.int32), np.empty(len(mesh.loops), np.int32)
    mesh.edges.foreach_get("vertices", ends)
    mesh.loops.foreach_get("vertex_index", of_faces)
    found = ends.reshape(-1, 2)[loose]
    return found[np.isin(found, of_faces).all(axis=1)]


def quads(mesh: bpy.types.Mesh) -> NDArray[np.int32]:
    """Return the corners of faces with four, in turn, (k, 4). Blender draws one along its other diagonal where it is
    folded by more than a right angle."""
    first, corners = np.empty(len(mesh.polygons), np.int32), np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_start", first)
    mesh.polygons.foreach_get("loop_total", corners)
    of_loops = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", of_loops)
    found: NDArray[np.int32] = of_loops[first[corners == 4][:, None] + np.arange(4)]
    return found


def _seams(mesh: bpy.types.Mesh, job: JobFolder | JobPart) -> dict[str, str]:
    found = seams(mesh)
    return {"seams": job.array("seams", found)} if len(found) else {}


def _uv(mesh: bpy.types.Mesh, name: str, is_mirrored: bool) -> NDArray[np.float64]:
    """Return the UV of the corners of each triangle in its order, (m, 3, 2)."""
    layer = mesh.uv_layers.active
    if layer is None:
        raise BadInput("its rest shape is its UV map, and it has none", "Unwrap it, or set Rest Shape to Mesh", name)
    flat = np.empty(2 * len(mesh.loops), dtype=np.float32)
    layer.uv.foreach_get("vector", flat)
    corners = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("loops", corners)
    each = flat.reshape(-1, 2).astype(np.float64)[corners.reshape(-1, 3)]
    return np.ascontiguousarray(each[:, ::-1] if is_mirrored else each)
