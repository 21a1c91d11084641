"""Validation of surfaces, and of tetrahedra that are given by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadMesh
from . import schema
from .expect import check_array, check_indices
from .folder import Job, refuse
from .object_pose import pose_of


def check_surface(job: Job, body: schema.Body, where: str) -> int:
    """Check the surface of a body, and return its number of vertices. Raises BadScene, BadMesh, NoSuchThing."""
    surface, path = body.surface, f"{where}.surface"
    assert surface is not None
    vertices = check_array(job, surface.vertices, f"{path}.vertices", "f", (None, 3))
    triangles = check_array(job, surface.triangles, f"{path}.triangles", "i", (None, 3))
    if not len(vertices) or not len(triangles):
        missing = "vertex" if not len(vertices) else "face"
        raise refuse(f"the mesh has no {missing}", path, kind=BadMesh)
    check_indices(triangles, len(vertices), f"{path}.triangles", "vertices")
    if surface.to_object is not None:
        check_array(job, surface.to_object, f"{path}.to_object", "f", (len(job.frames), 4, 4))
    if surface.object_vertices is not None:
        _check_object_pose(job, surface, vertices, path)
    return len(vertices)


def _check_object_pose(job: Job, surface: schema.Surface, vertices: NDArray[Any], path: str) -> None:
    """Check that the vertices in object space agree with those in the world, (n, 3) [m]. Raises BadScene."""
    assert surface.object_vertices is not None
    local = check_array(job, surface.object_vertices, f"{path}.object_vertices", "f", (len(vertices), 3))
    try:
        pose = pose_of(job, surface)
    except np.linalg.LinAlgError as error:
        raise refuse("its first matrix cannot be inverted", f"{path}.to_object") from error
    assert pose is not None
    off = np.abs(pose.in_world(pose.scale_vertices(local)) - vertices).max()
    if not off <= 1e-4 * np.ptp(vertices, axis=0).max() + 1e-6 * np.abs(vertices).max():
        raise refuse(f"its vertices in object space stand up to {off:.3g} m from those in the world",
                     f"{path}.object_vertices", "Bring them there by the inverse of the first matrix of to_object")


def check_tets(job: Job, body: schema.Body, where: str) -> int:
    """Check a given tetrahedral mesh, and return its number of nodes. Raises BadScene, BadMesh, NoSuchThing."""
    volume, path = body.tets, f"{where}.tets"
    assert volume is not None
    nodes = check_array(job, volume.nodes, f"{path}.nodes", "f", (None, 3))
    tets = check_array(job, volume.tets, f"{path}.tets", "i", (None, 4))
    if (volume.nodes, volume.tets) not in job.sound:
        _check_volume(nodes, tets, path)
        job.sound.add((volume.nodes, volume.tets))
    return len(nodes)


def _check_volume(nodes: NDArray[Any], tets: NDArray[Any], path: str) -> None:
    """Check that tetrahedra, (e, 4), have volume and that each node, (k, 3), belongs to one. Raises BadMesh."""
    if not len(tets):
        raise refuse("the volume mesh has no tetrahedron", f"{path}.tets", kind=BadMesh)
    check_indices(tets, len(nodes), f"{path}.tets", "nodes")
    edges = nodes[tets[:, 1:]] - nodes[tets[:, :1]]
    volumes = np.abs(np.einsum("ij,ij->i", np.cross(edges[:, 0], edges[:, 1]), edges[:, 2]))
    flat = int(np.count_nonzero(volumes <= 1e-12 * volumes.max()))  # inverted ones are reordered later
    if flat:
        raise refuse(f"{flat} of {len(tets)} tetrahedra have no volume", f"{path}.tets", kind=BadMesh)
    unused = np.flatnonzero(np.bincount(tets.ravel(), minlength=len(nodes)) == 0)
    if len(unused):
        raise refuse(f"{len(unused)} nodes belong to no tetrahedron, the first is {unused[0]}", f"{path}.nodes",
                     "Leave them out", kind=BadMesh)
