"""Validation of a body's pins: weights, motion, release and strength."""

from __future__ import annotations

import numpy as np

from . import schema
from .expect import check_array, check_indices, check_weights
from .folder import Job, refuse


def check_pin(job: Job, pin: schema.Pin, vertices: int, nodes: int | None, where: str) -> None:
    """Check the pins of a body. Raises BadScene, NoSuchThing.

    vertices: number of vertices of its surface. nodes: number of nodes of a given volume, cloth or rope, else None.
    where: path of `pin` in scene.json.
    """
    if pin.weights is not None:
        check_weights(job, pin.weights, f"{where}.weights", vertices)
    if pin.until is not None:
        if pin.weights is None:
            raise refuse("pins are let go where `weights` hold, and there are none", f"{where}.weights")
        check_array(job, pin.until, f"{where}.until", "i", (vertices,))
    _check_strengths(job, pin, vertices, where)
    if pin.motion is not None:
        if pin.motion_vertices is None:
            raise refuse("a pin motion needs its vertices", f"{where}.motion_vertices")
        vertices_found = check_array(job, pin.motion_vertices, f"{where}.motion_vertices", "i", (None,))
        check_indices(vertices_found, vertices, f"{where}.motion_vertices", "vertices")
        check_array(job, pin.motion, f"{where}.motion", "f", (job.samples, len(vertices_found), 3))
    if pin.nodes is not None:
        count = node_indices(job, pin.nodes, f"{where}.nodes", nodes)
        if pin.node_motion is not None:
            check_array(job, pin.node_motion, f"{where}.node_motion", "f", (job.samples, count, 3))
    elif pin.node_motion is not None:
        raise refuse("a motion of nodes needs its nodes", f"{where}.nodes")


def _check_strengths(job: Job, pin: schema.Pin, vertices: int, where: str) -> None:
    """Check the stiffness of pins and weights that change over time. Raises BadScene, NoSuchThing."""
    if isinstance(pin.stiffness, str):
        values = check_array(job, pin.stiffness, f"{where}.stiffness", "f", (job.samples,))
        if not (values > 0.0).all():
            raise refuse(f"a stiffness of {values.min():g} 1/s² holds nothing", f"{where}.stiffness",
                         "Use positive numbers; a weight of 0 holds nothing")
    if pin.strengths is None and pin.strength_vertices is None:
        return
    if pin.strengths is None or pin.strength_vertices is None or pin.stiffness is None or pin.weights is None:
        raise refuse("weights over time need `weights`, `strengths`, `strength_vertices` and `stiffness`",
                     f"{where}.strengths")
    vertices_found = check_array(job, pin.strength_vertices, f"{where}.strength_vertices", "i", (None,))
    check_indices(vertices_found, vertices, f"{where}.strength_vertices", "vertices")
    if len(np.unique(vertices_found)) != len(vertices_found):
        raise refuse("a vertex is listed twice", f"{where}.strength_vertices")
    values = check_array(job, pin.strengths, f"{where}.strengths", "f", (len(job.frames), len(vertices_found)))
    if len(vertices_found) and not 0.0 <= values.min() <= values.max() <= 1.0:
        raise refuse("weights over time lie outside of 0 to 1", f"{where}.strengths")


def node_indices(job: Job, name: str, where: str, nodes: int | None) -> int:
    """Check an array of node indices and return its length.

    name: path of its file in the job folder. where: path of its field. nodes: number of nodes of a given volume, cloth
    or rope, else None. Raises BadScene where `nodes` is None, or an index is out of range or occurs twice; NoSuchThing.
    """
    if nodes is None:
        raise refuse("nodes can be listed only for a volume given by hand, in `tets`", where)
    array = check_array(job, name, where, "i", (None,))
    check_indices(array, nodes, where, "nodes")
    if len(np.unique(array)) != len(array):
        raise refuse("a node is listed twice", where)
    return len(array)
