"""Vertices of a body that are drawn exactly at the positions of its pins and of the bones that it is attached to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..coordinates.prescribed import OverTime
from ..embedding.pinned import PinnedVertices, Target
from ..fields.attach import PINNED
from ..fields.pins import hard_weights, nearest_rotations
from ..job.folder import Job
from ..meshing.volume import mean_edge
from ..state import Index, Vec
from .fields import Prepared
from .inputs import positions_over_time


@dataclass(frozen=True)
class Animated:
    """Vertices that follow an animation, as far as their compliant pins do not yield."""

    vertices: Index  #: (p,)
    motion: OverTime  #: of the vertices [m], (p, 3) at a time
    nodes: Index  #: pinned nodes of the body, (k,)
    node_motion: OverTime  #: of these [m], (k, 3) at a time
    weights: Vec  #: of the pinned nodes in each vertex, (p, k), rows sum to 1; empty where pins are not compliant
    frame: float  #: duration of a frame [s]

    def positions_at(self, x: Vec, frame: int) -> Vec:
        """Return positions of the vertices [m], (p, 3), with the body's nodes at x [m], (k, 3), at a frame counted from
        0."""
        time = frame * self.frame
        positions = self.motion.at(time)
        if len(self.weights):
            positions = positions + self.weights @ (x[self.nodes] - self.node_motion.at(time))
        return positions


@dataclass(frozen=True)
class Rigid:
    """Vertices that move rigidly with nodes that a rigid body carries."""

    vertices: Index  #: (p,)
    rest: Vec  #: (p, 3) [m]
    nodes: Index  #: (k,)
    node_rest: Vec  #: (k, 3) [m]

    def positions_at(self, x: Vec, frame: int) -> Vec:
        """Return positions of the vertices [m], (p, 3), with the body's nodes at x [m], (k, 3), at any frame."""
        before, now = self.node_rest.mean(axis=0), x[self.nodes].mean(axis=0)
        arms = self.node_rest - before
        rotation = nearest_rotations((x[self.nodes] - now).T @ arms, arms.T @ arms)
        positions: Vec = now + (self.rest - before) @ rotation.T
        return positions


def build_pinned_vertices(job: Job, one: Prepared) -> PinnedVertices | None:
    """Return the vertices of a body that are pinned or attached, and whose tetrahedra have prescribed nodes; None
    without any."""
    surface, embedding, pin = one.body.surface, one.embedding, one.body.pin
    if surface is None or embedding is None:
        return None
    rest = np.asarray(job.array(surface.vertices), dtype=float)
    corners, targets = embedding.corners[: len(rest)], list[Target]()
    taken = np.zeros(len(rest), dtype=bool)
    if pin.weights is not None:
        pinned = hard_weights(pin, np.asarray(job.array(pin.weights))) > PINNED
        taken = pinned.copy()
        if pin.until is not None:  # a vertex whose pin ends within the bake would jump then
            taken &= np.asarray(job.array(pin.until)) > job.scene.time.end
        target = _read_animated(job, one, np.flatnonzero(taken & np.isin(corners, one.fields.pinned).any(axis=1)), rest)
        targets += [] if target is None else [target]
        taken = pinned
    for k, attach in enumerate(one.body.attach if not one.body.pins_yield else ()):
        nodes = one.fields.attached[one.fields.attached_by == k]
        if attach.weights is None or len(nodes) < 3:
            continue
        own = (np.asarray(job.array(attach.weights)) > PINNED) & ~taken
        taken |= own
        vertices = np.flatnonzero(own & np.isin(corners, nodes).any(axis=1))
        if len(vertices):
            targets.append(Rigid(vertices, rest[vertices], nodes, one.volume.nodes[nodes]))
    if not targets:
        return None
    triangles = np.asarray(job.array(surface.triangles), dtype=np.int64).reshape(-1, 3)
    return PinnedVertices(targets, rest, triangles, mean_edge(one.volume.nodes, one.skin))


def _read_animated(job: Job, one: Prepared, vertices: Index, rest: Vec) -> Animated | None:
    """Return the motion of the animated ones of some vertices; None where none are animated. rest: all vertices, (n, 3)
    [m]."""
    pin, fields = one.body.pin, one.fields
    samples: Vec | None = None
    if pin.motion is not None:
        known = np.asarray(job.array(pin.motion_vertices)) if pin.motion_vertices is not None else np.arange(len(rest))
        row = np.full(len(rest), -1)
        row[known] = np.arange(len(known))
        vertices = vertices[row[vertices] >= 0]
        samples = np.asarray(job.array(pin.motion))[:, row[vertices]]
    if not len(vertices):
        return None
    assert one.embedding is not None
    weights = np.zeros((0, len(fields.pinned)))
    if one.body.pins_yield:
        corners = one.embedding.corners[vertices]
        weights = np.zeros((len(vertices), len(fields.pinned)))
        column = np.minimum(np.searchsorted(fields.pinned, corners), len(fields.pinned) - 1)
        by_node = np.where(np.isin(corners, fields.pinned), np.maximum(one.embedding.weights[vertices], 1e-3), 0.0)
        np.add.at(weights, (np.arange(len(vertices))[:, None], column), by_node / by_node.sum(axis=1, keepdims=True))
    return Animated(vertices, positions_over_time(job, samples, rest[vertices]), fields.pinned,
                    positions_over_time(job, fields.motion, one.volume.nodes[fields.pinned]), weights,
                    1.0 / job.scene.time.fps)
