"""Pins whose weights are strengths: springs constrain the vertices that are painted below 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .. import catalogue
from ..coordinates.prescribed import Constant, Motion, OverTime
from ..forces.soft_pins import SoftPins
from ..job import schema
from ..job.folder import Job
from ..state import Index, Vec
from .fields import Prepared
from .inputs import number_over_time, positions_over_time


def make_soft_pins(job: Job, one: Prepared, mass: Vec, start: int = 0) -> list[SoftPins]:
    """Return the springs of a body's soft pins, all in one; none without any. mass: of all nodes, (n,) [kg]. start: its
    first node."""
    pin, surface = one.body.pin, one.body.surface
    if pin.stiffness is None or pin.weights is None or surface is None:
        return []
    painted = np.asarray(job.array(pin.weights), dtype=float)
    soft = (painted > 0.0) & (painted < catalogue.HARD)
    changing = np.zeros(0, dtype=np.int64)
    if pin.strength_vertices is not None:
        changing = np.asarray(job.array(pin.strength_vertices), dtype=np.int64)
        soft[changing] = True
    vertices = np.flatnonzero(soft)
    if not len(vertices):
        return []
    rest = np.asarray(job.array(surface.vertices), dtype=float)
    nodes, vertex_mass = _carrying_nodes(one, rest, np.asarray(job.array(surface.triangles), dtype=np.int64), vertices,
                                         mass[start : start + len(one.volume.nodes)])
    return [SoftPins((nodes + start).astype(np.int32), vertex_mass,
                     _weights(job, pin, painted[vertices], vertices, changing), number_over_time(job, pin.stiffness),
                     positions_over_time(job, one.read_prescribed_motion(job, nodes), one.volume.nodes[nodes]))]


def _carrying_nodes(one: Prepared, rest: Vec, triangles: Index, vertices: Index, mass: Vec) -> tuple[Index, csr_matrix]:
    """Return the nodes that carry some vertices, (k,) ascending, and the mass that each node has of each vertex, (k, s)
    [kg]. The mass of the body is distributed over the vertices by the area of the surface; vertices of ropes, which
    have none, are nodes with their own mass."""
    corners = rest[triangles]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    skin = np.bincount(triangles.ravel(), np.repeat(area, 3), len(rest))
    own = mass.sum() * skin[vertices] / skin.sum() if len(triangles) else mass[vertices]
    if one.embedding is None:
        bound_nodes, weights = vertices[:, None], np.ones((len(vertices), 1))
    else:
        bound_nodes = one.embedding.corners[vertices].astype(np.int64)
        weights = np.maximum(one.embedding.weights[vertices], 0.0)  # negative where a vertex is outside
        weights /= weights.sum(axis=1, keepdims=True)
    nodes, row = np.unique(bound_nodes, return_inverse=True)
    column = np.repeat(np.arange(len(vertices)), bound_nodes.shape[1])
    vertex_mass = csr_matrix(((own[:, None] * weights).ravel(), (row.ravel(), column)),
                             shape=(len(nodes), len(vertices)))
    return nodes.astype(np.int32), vertex_mass


def _weights(job: Job, pin: schema.Pin, painted: Vec, vertices: Index, changing: NDArray[np.int64]) -> OverTime:
    """Return weights of some vertices over time, (s,). painted: at the start, (s,). changing: vertices of the job's
    `strengths`."""
    if pin.strengths is None or not len(changing):
        return Constant(painted)
    frames = np.repeat(painted[None], len(job.frames), axis=0)
    frames[:, np.searchsorted(vertices, changing)] = job.array(pin.strengths)
    return Motion(frames, 1.0 / job.scene.time.fps)
