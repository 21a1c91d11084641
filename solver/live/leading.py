"""Pinned vertices that bones lead while a body is played: which they are, and how its pinned nodes follow them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..fields.pins import follow
from ..job.arrays import Unreadable, read_npz
from ..job.folder import Job
from ..state import Index, Vec
from .board import LEADING


class Leading:
    """The vertices that carry one body."""

    def __init__(self, rows: Index, rest: Vec) -> None:
        """rows: which of all leading vertices they are, (k,). rest: where they are when playing begins, (k, 3) [m]."""
        self._rows, self._rest = rows, rest
        self._seen, self._nodes, self._found = np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3))

    def at(self, nodes: Vec, pinned: Vec) -> Vec:
        """Return where nodes (p, 3) [m] are when all leading vertices are at `pinned`, (s, 3) [m]."""
        now = pinned[self._rows]
        if not (np.array_equal(now, self._seen) and np.array_equal(nodes, self._nodes)):
            self._seen, self._nodes, self._found = now, nodes, follow(nodes, self._rest, now[None])[0]
        return self._found


def leading_of(job: Job) -> dict[int, Leading]:
    """Return the bones that lead bodies of a job, by number of the body; none where no bones do."""
    path = Path(job.path) / LEADING
    if not path.exists():
        return {}
    try:
        arrays = read_npz(path)
        body, vertex = arrays["body"], arrays["vertex"]
    except (OSError, KeyError, Unreadable):
        return {}  # nobody but Blender writes there: what is torn is written again
    found = {}
    for number in np.unique(body).tolist():
        surface = job.scene.bodies[number].surface
        assert surface is not None  # it is the artist's mesh that is led
        rows = np.flatnonzero(body == number)
        found[number] = Leading(rows, np.asarray(job.array(surface.vertices), float)[vertex[rows]])
    return found
