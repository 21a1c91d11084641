"""The links of a body that is ropes."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadMesh
from .mesh import places

TWIST = "rope_twist"  #: what ends are turned by, which may have keyframes


def links(mesh: bpy.types.Mesh, to_world: NDArray[np.float64], name: str
          ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Points in world space, (n, 3) [m], and the edges between them, (k, 2). Raises BadMesh where there are none, or
    the mesh has faces."""
    world = places(mesh, to_world, name)
    if len(mesh.polygons):
        raise BadMesh("a rope is a chain of edges, and the mesh has faces", "In Edit Mode choose Delete > Only Faces, "
                      "or make it cloth; a modifier that shows a thickness goes below ConJac's", name)
    ends = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", ends)
    edges = ends.reshape(-1, 2)
    if not len(edges):
        raise BadMesh("the rope has no edge, so it has no length", "Join its points by edges: select two in Edit Mode "
                      "and press F", name)
    return world, edges
