"""Contact surface of a reduced body: the artist's mesh, divided where it has too few vertices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..embedding.bind import bind
from ..meshing.volume import boundary_faces
from ..parts.modes.body import ReducedBody, ReducedState
from ..state import Index, Vec
from .fields import Prepared

LONGEST = 1.0 / 10.0  #: of the diagonal: triangles with longer edges are divided
HALVINGS, MOST = 4, 20_000  #: how often, and into how many triangles at most


@dataclass(frozen=True)
class TouchingSurface:
    """A contact surface of triangles that moves with a reduced body."""

    triangles: Index  #: (t, 3), facing outwards
    rest: Vec  #: vertices at rest [m], (n, 3)
    functions: Vec  #: Φ at the vertices, (n, p)
    prescribed: Vec  #: Ψ at the vertices, (n, 4 g)
    is_drawn: bool  #: whether these are the vertices that are drawn

    def at(self, state: ReducedState) -> Vec:
        """Return positions of the vertices in a state of the reduced body, (n, 3) [m]."""
        positions: Vec = self.rest + self.functions @ state.y
        return positions + self.prescribed @ state.carrier_motion if len(state.carrier_motion) else positions


def touching_surface(body: ReducedBody, prepared: Prepared, triangles: Index | None) -> TouchingSurface:
    """Return the contact surface of a reduced body. triangles: of the artist's mesh, (t, 3); None: faces of the volume
    are drawn."""
    if triangles is None or prepared.embedding is None:
        faces = np.searchsorted(body.skin, boundary_faces(prepared.volume.tets)[0])
        return TouchingSurface(faces, body.rest_surface, body.surface_functions, body.surface_prescribed, True)
    nodes, subspace, matrix = prepared.volume.nodes, body.subspace, prepared.embedding.matrix
    rest = matrix @ nodes
    longest = LONGEST * float(np.linalg.norm(prepared.volume.extents_of(rest)))
    fine, faces = subdivide(rest, triangles, longest)
    is_drawn = len(fine) == matrix.shape[0]
    if not is_drawn:
        matrix = bind(nodes, prepared.volume.tets, fine, faces).matrix
    return TouchingSurface(faces, matrix @ nodes, matrix @ subspace.functions, matrix @ subspace.prescribed, is_drawn)


def subdivide(vertices: Vec, triangles: Index, longest: float) -> tuple[Vec, Index]:
    """Return a mesh, (n, 3) [m] and (t, 3), with each triangle divided in four until no edge is longer than `longest`
    [m], or there would be too many triangles."""
    for _ in range(HALVINGS):
        edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        length = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
        if length.max(initial=0.0) <= longest or 4 * len(triangles) > MOST:
            break
        own, where = np.unique(edges, axis=0, return_inverse=True)
        a, b, c = triangles.T
        ab, bc, ca = len(vertices) + where.reshape(-1, 3).T
        vertices = np.concatenate([vertices, vertices[own].mean(axis=1)])
        triangles = np.concatenate([np.stack(corners, axis=1) for corners in
                                    ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    return vertices, triangles
