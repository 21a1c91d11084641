"""Painted weights of a body, from its vertices to its nodes."""

from __future__ import annotations

import numpy as np

from ..fields.harmonic import harmonic_extension
from ..job.folder import Job
from ..state import Vec
from .fields import Prepared


def weights_at_nodes(job: Job, one: Prepared, name: str) -> Vec:
    """Return painted weights at each node of a body, (k,): as painted where its vertices are its
    nodes, else extended into the volume. name: array of the job, painted on the vertices."""
    weights, surface = np.asarray(job.array(name), dtype=float), one.body.surface
    if surface is None or not one.kind.is_filled:
        return weights  # its vertices are its nodes
    vertices, triangles = np.asarray(job.array(surface.vertices), dtype=float), np.asarray(job.array(surface.triangles))
    painted: Vec = harmonic_extension(one.volume.nodes, one.volume.tets, vertices, triangles.astype(np.int32),
                                      weights[:, None])[:, 0]
    return painted
