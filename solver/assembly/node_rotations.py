"""Rotation of each node's surroundings from the rest shape."""

from __future__ import annotations

import numpy as np

from ..state import Index, Vec
from ..threads import parallel_for
from .node_rotation_kernels import follow_frames, rotate, spread_frames


class NodeRotations:
    """Rotation of each node that fits the edges around it best, found by iteration from the last one. [Müller 2016]"""

    def __init__(self, pairs: Index, rest: Vec) -> None:
        """pairs: nodes of edges, (k, 2). rest: positions at rest, (n, 3) [m]."""
        self._pairs, self._along = pairs, rest[pairs[:, 0]] - rest[pairs[:, 1]]
        self._along /= (self._along**2).sum(axis=1)[:, None]
        self._spread = np.empty((len(rest), 3, 3))
        self.frames = np.empty((len(rest), 3, 3))  #: (n, 3, 3)
        self.forget()

    def forget(self) -> None:
        """Reset all frames to the identity, so that the next search starts from the rest shape."""
        self.frames[:] = np.eye(3)

    def follow(self, x: Vec) -> None:
        """Update the frames to positions x (n, 3) [m]."""
        spread_frames(x, self._pairs, self._along, self._spread)
        parallel_for(follow_frames, len(self.frames), self._spread, self.frames)

    def to_rest(self, vectors: Vec, order: Index) -> Vec:
        """Return vectors (3 p,) of the nodes `order`, (p,), rotated back to the rest shape."""
        return self._rotate(vectors, order, True)

    def from_rest(self, vectors: Vec, order: Index) -> Vec:
        """Return vectors (3 p,) of the nodes `order`, (p,), rotated from the rest shape to the present one."""
        return self._rotate(vectors, order, False)

    def _rotate(self, vectors: Vec, order: Index, is_back: bool) -> Vec:
        """Return vectors (3 p,) of the nodes `order`, (p,), rotated from the rest shape or, with `is_back`, to it."""
        out = np.empty_like(vectors)
        rotate(self.frames, order, vectors, is_back, out)
        return out
