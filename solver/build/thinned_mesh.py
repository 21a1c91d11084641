"""Simplified contact surface of a body whose mesh is finer than its tetrahedra: fewer faces around the drawn mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..embedding.bind import Embedding, barycentric
from ..meshing.normals import out_of_all
from ..meshing.thinning import simplify_surface
from ..meshing.volume import Volume, boundary_faces, mean_edge
from ..state import Index, Vec

MOST = 6.0  #: triangles for each one of the tetrahedra's boundary; with more, steps take far longer
DETAILED = ("After Simplify its mesh has more than six times as many faces as the surface of its tetrahedra, so "
            "that surface collides: raise Simplify, or set it to 0 to collide by all faces")


@dataclass(frozen=True)
class ThinnedMesh:
    """A simplified contact surface, on the mesh or outside of it, with vertices that tetrahedra carry."""

    triangles: Index  #: (t, 3)
    corners: Index  #: nodes of the tetrahedron of each vertex, (v, 4)
    weights: Vec  #: (v, 4), each row sums to 1

    def positions(self, nodes: Vec) -> Vec:
        """Return positions of the vertices [m], (v, 3), for node positions (n, 3) [m]."""
        positions: Vec = np.einsum("vc,vci->vi", self.weights, nodes[self.corners])
        return positions


def simplify_mesh(volume: Volume, embedding: Embedding, triangles: Index, fraction: float) -> ThinnedMesh | None:
    """Return the simplified contact surface of a body; None where it has more triangles than contact should have.

    triangles: of the mesh, (m, 3). fraction: largest distance from the mesh, of the body's largest extent.
    """
    rest, faces = embedding.apply(volume.nodes), boundary_faces(volume.tets)[0]
    surface = simplify_surface(rest, triangles, fraction * float(volume.extents_of(rest).max()),
                               mean_edge(volume.nodes, faces))
    if len(surface.triangles) > MOST * len(faces):
        return None
    # faces move outwards by as much as the mesh is outside of them, so that none of it is outside
    far = np.zeros(len(rest))
    np.maximum.at(far, surface.triangles, np.repeat(surface.outside[:, None], 3, axis=1))
    used, own = np.unique(surface.triangles, return_inverse=True)
    positions = (rest + far[:, None] * out_of_all(rest, surface.triangles))[used]
    corners = embedding.corners[used]
    return ThinnedMesh(own.reshape(-1, 3).astype(np.int32), corners, barycentric(positions, volume.nodes[corners]))
