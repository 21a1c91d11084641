"""Pinned vertices that bones move during Play Live, and the motion of pinned nodes that follow them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..fields.pins import follow
from ..job.arrays import Unreadable, read_npz
from ..job.folder import Job
from ..state import Index, Vec
from .board import LEADING


class Leading:
    """Pinned vertices of one body that bones move, and positions of the nodes that follow them."""

    def __init__(self, rows: Index, rest: Vec) -> None:
        """rows: indices of the body's vertices among those of board.LEADING, (k,). rest: at the start, (k, 3) [m]."""
        self._rows, self._rest = rows, rest
        self._seen, self._nodes, self._found = np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3))

    def at(self, nodes: Vec, pinned: Vec) -> Vec:
        """Return positions of nodes that follow the vertices, (p, 3) [m].

        nodes: positions at the start, (p, 3) [m]. pinned: present positions of vertices of board.LEADING, (s, 3) [m].
        """
        now = pinned[self._rows]
        if not (np.array_equal(now, self._seen) and np.array_equal(nodes, self._nodes)):
            self._seen, self._nodes, self._found = now, nodes, follow(nodes, self._rest, now[None])[0]
        return self._found


def leading_of(job: Job) -> dict[int, Leading]:
    """Return the vertices that bones move, by number of the body in the scene; empty where the job has no such file."""
    path = Path(job.path) / LEADING
    if not path.exists():
        return {}
    try:
        arrays = read_npz(path)
        body, vertex = arrays["body"], arrays["vertex"]
    except (OSError, KeyError, Unreadable):
        return {}  # only Blender writes this file: it writes an incomplete one again
    by_body = {}
    for number in np.unique(body).tolist():
        surface = job.scene.bodies[number].surface
        assert surface is not None  # bones move vertices of the artist's mesh
        rows = np.flatnonzero(body == number)
        by_body[number] = Leading(rows, np.asarray(job.array(surface.vertices), float)[vertex[rows]])
    return by_body
