"""Validation of ropes: edges that have a length and differ from each other."""

from __future__ import annotations

import numpy as np

from .. import catalogue
from ..errors import BadMesh
from . import schema
from .expect import check_array, check_choice, check_indices
from .folder import Job, refuse
from .schema_ropes import Rope

SHORT = 1.0e-9  #: of the body's size: less than this is no length

#: fields of a body that ropes do not support, and their names in messages
NOT_OF_ROPES = {"tets": "tetrahedra", "cloth": "cloth", "fiber_material": "fibers", "cuts": "cuts", "nails": "nails",
                "painted": "painted maps"}


def check_rope(job: Job, body: schema.Body, rope: Rope, where: str) -> int:
    """Check a body of ropes and return its number of vertices. Raises BadScene, BadMesh, NoSuchThing.

    where: path of the body in scene.json.
    """
    surface = body.surface
    if surface is None:
        raise refuse("a rope runs along the edges of its surface, and it has none", f"{where}.surface",
                     "Give it a surface")
    for field, what in NOT_OF_ROPES.items():
        if getattr(body, field):
            raise refuse(f"it is a rope, which has no {what}", f"{where}.{field}",
                         "Leave them out, or leave out `rope`")
    method = catalogue.find("method", job.scene.method_of(body).kind)
    if method.follows:
        raise refuse(f"it is a rope, whose points all move on their own, and {method.label} lets {method.follows}",
                     f"{where}.method", 'Use the method "vanilla"')
    check_choice("rope", rope.length, f"{where}.rope.length")
    check_choice("damping", body.damping, f"{where}.damping")
    damping = catalogue.find("damping", body.damping.kind)
    if why := damping.why_not("cloth"):
        raise refuse(f"it is a rope, which {damping.label} does not damp: {why}", f"{where}.damping",
                     "Use Rayleigh")
    vertices = check_array(job, surface.vertices, f"{where}.surface.vertices", "f", (None, 3))
    triangles = check_array(job, surface.triangles, f"{where}.surface.triangles", "i", (None, 3))
    if len(triangles):
        raise refuse("a rope is edges without faces, and its surface has faces", f"{where}.surface.triangles",
                     "Delete the faces alone, or make it cloth", kind=BadMesh)
    if surface.to_object is not None:
        check_array(job, surface.to_object, f"{where}.surface.to_object", "f", (len(job.frames), 4, 4))
    edges = check_array(job, rope.edges, f"{where}.rope.edges", "i", (None, 2))
    if not len(edges):
        raise refuse("the rope has no edge, so it has no length", f"{where}.rope.edges",
                     "Give it two points at least, joined by an edge", kind=BadMesh)
    check_indices(edges, len(vertices), f"{where}.rope.edges", "vertices")
    lengths = np.linalg.norm(vertices[edges[:, 1]] - vertices[edges[:, 0]], axis=1)
    size = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    short = np.flatnonzero(~(lengths > SHORT * size))
    if len(short):
        near = ", ".join(f"{c:.3g}" for c in vertices[edges[short[0], 0]])
        raise refuse(f"{len(short)} of its {len(edges)} edges have no length, one is at ({near}) m",
                     f"{where}.rope.edges", "Merge its points by distance", kind=BadMesh)
    if len(np.unique(np.sort(edges, axis=1), axis=0)) != len(edges):
        raise refuse("two of its edges join the same points", f"{where}.rope.edges", "Merge its points by distance",
                     kind=BadMesh)
    if isinstance(rope.twist, str):
        check_array(job, rope.twist, f"{where}.rope.twist", "f", (job.samples,))
    if rope.loads is not None:
        loads = check_array(job, rope.loads, f"{where}.rope.loads", "f", (len(vertices),))
        if loads.min() < 0.0:
            raise refuse(f"a load of {loads.min():g} kg weighs less than nothing", f"{where}.rope.loads",
                         "Use 0 or more")
    return len(vertices)
