"""Anderson's acceleration of a fixed-point iteration: the last changes combined so that least would be left of them."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgelss

from ..state import Vec

DEPTH = 8  #: differences that pay on a kept factor
SINGULAR = 1.0e-12  #: of the largest singular value: differences that say nothing new


class Anderson:
    """Of z ← z + f(z), f what an inexact Newton iteration would change, from up to `most` differences, the oldest one
    replaced first. [Walker 2011]"""

    def __init__(self, most: int) -> None:
        self.most = most
        self._changes, self._moves = np.zeros((most, 0)), np.zeros((most, 0))
        self._products = np.zeros((most, most))  #: of changes with each other, as far as they are measured
        self.clear()

    def clear(self) -> None:
        """Forget all of them."""
        self._count = 0
        self._last: tuple[Vec, Vec] | None = None

    def start(self) -> None:
        """The next point belongs to another problem of nearly the same slope."""
        self._last = None

    def next(self, z: Vec, change: Vec, measured: int) -> Vec:
        """Where to go from z, at which f is `change`, both (m,); the first `measured` entries say what is small."""
        if self._changes.shape[1] != len(z):
            self._changes, self._moves = np.zeros((self.most, len(z))), np.zeros((self.most, len(z)))
            self.clear()
        if self._last is not None:
            row = self._count % self.most
            np.subtract(change, self._last[1], out=self._changes[row])
            np.subtract(z, self._last[0], out=self._moves[row])
            self._moves[row] += self._changes[row]
            self._count += 1
            kept = min(self._count, self.most)
            self._products[row, :kept] = self._changes[:kept, :measured] @ self._changes[row, :measured]
            self._products[:kept, row] = self._products[row, :kept]
        self._last = z, change
        kept = min(self._count, self.most)
        if not kept:
            return z + change
        said = self._changes[:kept, :measured] @ change[:measured]
        weights = dgelss(self._products[:kept, :kept], said, cond=SINGULAR)[1][:kept]
        out: Vec = weights @ self._moves[:kept]
        np.subtract(change, out, out=out)
        out += z
        return out
