"""Quads of cloth that collide along both of their diagonals.

Blender draws and renders a quad along its other diagonal where it is folded by more than a right angle, and what is
simulated as two triangles would be seen to cross what it touches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..contact.find.mesh import Surfaces
from ..job.folder import Job
from ..meshing.normals import unit_normals
from ..state import Index, Vec
from .fields import Prepared

FLAT = 0.9  #: cosine of a fold: a quad that is folded further at the start touches by its two triangles alone


def quads_of(job: Job, prepared: Sequence[Prepared], first: Index, now: Vec) -> Index:
    """Return the nearly flat quads of all cloths at positions now (n, 3) [m], (q, 4): corners in order, the first and
    the third of which both triangles share. first: first node of each body."""
    quads_of_cloths = [np.zeros((0, 4), dtype=np.int32)]
    for prepared_body, start in zip(prepared, first):
        corners = prepared_body.quads(job)
        if len(corners):
            quads_of_cloths.append(_as_cut(corners, prepared_body.skin, len(prepared_body.volume.nodes))
                                   + np.int32(start))
    quads = np.concatenate(quads_of_cloths)
    straight: Index = quads[_is_flat(quads, now)]
    return straight


def _as_cut(quads: Index, triangles: Index, nodes: int) -> Index:
    """Return the quads of (q, 4) both of whose triangles are among (m, 3), each beginning at an end of its diagonal,
    (k, 4)."""
    known, remaining = _keys(triangles, nodes), []
    for shift in (0, 1):
        shifted = np.roll(quads, -shift, axis=1)
        is_known = (np.isin(_keys(shifted[:, [0, 1, 2]], nodes), known) &
                    np.isin(_keys(shifted[:, [0, 2, 3]], nodes), known))
        remaining.append(shifted[is_known])
    return np.concatenate(remaining)


def _keys(triangles: Index, nodes: int) -> Index:
    """Return a number that identifies each set of three nodes, (m,)."""
    ordered = np.sort(triangles, axis=1).astype(np.int64)
    keys: Index = (ordered[:, 0] * nodes + ordered[:, 1]) * nodes + ordered[:, 2]
    return keys


def _is_flat(quads: Index, now: Vec) -> Index:
    """Return which quads are folded little along either diagonal, (q,)."""
    flat = np.ones(len(quads), dtype=bool)
    for half, other in (([0, 1, 2], [0, 2, 3]), ([1, 2, 3], [1, 3, 0])):
        flat &= np.einsum("qi,qi->q", unit_normals(now, quads[:, half]), unit_normals(now, quads[:, other])) > FLAT
    return flat


def without_intersections(quads: Index, surfaces: Surfaces, now: Vec) -> Index:
    """Return the quads (k, 4), of quads (q, 4), whose other diagonal intersects nothing at positions now (n, 3) [m]."""
    ends = {tuple(sorted(pair)): k for k, pair in enumerate(quads[:, [1, 3]].tolist())}
    crossed = set()
    for edge, face in surfaces.intersections(now):
        a, b, c = face.tolist()
        for pair in (edge.tolist(), (a, b), (b, c), (c, a)):
            crossed.add(ends.get(tuple(sorted(pair)), -1))
    remaining: Index = np.delete(quads, sorted(crossed - {-1}), axis=0)
    return remaining
