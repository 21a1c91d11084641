"""Tetrahedra of bodies: made once and stored in the job. This module loads no kernels, so that a preview is quick."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import BadMesh
from ..job import schema
from ..job.folder import FARTHEST, Job, blame, parameters
from ..job.hashes import hashes, settings
from ..job.kinds import kind_of
from ..job.object_pose import pose_of, vertices_to_fill
from ..job.stages import Arrays, keep
from ..meshing.tetrahedralize import fillable, tetrahedralize
from ..meshing.volume import Volume, tet_volumes
from ..state import Index, Vec

Stage = Callable[[str, str | None, float | None, str], None]  #: (stage, body, progress, text)


def volumes_of(job: Job, report: Stage) -> list[Volume]:
    """Return the tetrahedra of every body, in the order of the scene. Raises a ConJacError that names the body."""
    keys = hashes(settings(job)).bodies
    return [volume_of(job, body, keys[body.name]["tets"], report) for body in job.scene.bodies]


def volume_of(job: Job, body: schema.Body, key: str, report: Stage) -> Volume:
    """Return the tetrahedra of a body in the world: given by hand, stored by an earlier bake, or made now and stored.
    Other kinds than solids have nodes and no tetrahedra. Raises a ConJacError that names the body.

    key: hash under which they are stored, in the object's own space where the job has that, see `job.object_pose`.
    """
    pose = None if body.surface is None else pose_of(job, body.surface)
    axes = np.eye(3) if pose is None else pose.to_world[:3, :3]
    if not kind_of(body).is_filled and body.surface is not None:
        return Volume(np.array(job.array(body.surface.vertices)), np.zeros((0, 4), dtype=np.int32), axes=axes)
    if body.tets is not None:
        return _orient(job.array(body.tets.nodes), job.array(body.tets.tets), axes)

    def make() -> dict[str, np.ndarray]:
        if body.surface is None:
            raise BadMesh("there is neither a surface nor tetrahedra", "Give one of them")
        report("tets", body.name, None, "Filling the mesh with tetrahedra")
        made = tetrahedralize(
            vertices_to_fill(job, body.surface), job.array(body.surface.triangles), body.mesher.kind,
            parameters("mesher", body.mesher), name=body.name,
            report=lambda progress, text: report("tets", body.name, progress, text))
        return {"nodes": made.nodes, "tets": made.tets, "notes": np.array(made.notes, dtype=np.str_)}

    with blame(job.scene, body, "surface"):
        stored = keep(job, "tets", body.name, key, make, _usable)
    nodes, tets, notes = stored["nodes"], stored["tets"], tuple(stored["notes"].tolist())
    if pose is None:
        return Volume(nodes, tets, notes)
    return Volume(pose.in_world(nodes), pose.orient(tets), notes, axes)


def check_surfaces(job: Job) -> list[str]:
    """Return notes on the surfaces that a bake fills with tetrahedra, without filling any. Raises BadMesh as a bake
    does."""
    notes = []
    for body in job.scene.bodies:
        params = parameters("mesher", body.mesher)
        if body.tets is None and kind_of(body).is_filled and body.surface is not None and "sheet_thickness" in params:
            with blame(job.scene, body, "surface"):
                _, sheet_notes = fillable(job.array(body.surface.vertices), job.array(body.surface.triangles),
                                          body.name, params["sheet_thickness"])
            notes += [f'"{body.name}": {note}' for note in sheet_notes]
    return notes


def _usable(arrays: Arrays) -> bool:
    """Return whether stored arrays are tetrahedra as meshers make them: finite nodes, positive volumes, no unused node.
    """
    nodes, tets, notes = (arrays.get(name) for name in ("nodes", "tets", "notes"))
    if nodes is None or tets is None or notes is None or notes.dtype.kind != "U" or notes.ndim != 1:
        return False
    if nodes.dtype != np.float64 or tets.dtype != np.int32 or nodes.shape[1:] != (3,) or tets.shape[1:] != (4,):
        return False
    if not len(tets) or not (np.abs(nodes) <= FARTHEST).all() or tets.min() < 0 or tets.max() >= len(nodes):
        return False
    return bool((tet_volumes(nodes, tets) > 0.0).all() and np.bincount(tets.ravel(), minlength=len(nodes)).all())


def _orient(nodes: Vec, tets: Index, axes: Vec) -> Volume:
    """Return tetrahedra given by hand with their corners in the order of positive volume; `job.validate` has refused
    flat ones."""
    is_inverted = tet_volumes(nodes, tets) < 0.0
    return Volume(np.array(nodes), np.where(is_inverted[:, None], tets[:, [0, 2, 1, 3]], tets), axes=axes)
