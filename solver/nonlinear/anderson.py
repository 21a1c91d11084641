"""Anderson acceleration of a fixed-point iteration: a combination of the last differences minimises the residual."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgelss

from ..state import Vec

DEPTH = 8  #: number of stored differences; more do not pay off on a reused factor


class Anderson:
    """Anderson acceleration of z ← z + f(z), f the update of an inexact Newton iteration, from up to `most` stored
    differences; a new difference replaces the oldest. [Walker 2011]"""

    singular = 1.0e-12  #: relative to the largest singular value: smaller ones belong to linearly dependent differences

    def __init__(self, most: int) -> None:
        self.most = most
        self._changes, self._steps = np.zeros((most, 0)), np.zeros((most, 0))
        self._products = np.zeros((most, most))  #: Gram matrix of the changes over the measured entries
        self.clear()

    def clear(self) -> None:
        """Discard all differences."""
        self._count = 0
        self._last: tuple[Vec, Vec] | None = None

    def start(self) -> None:
        """Begin another problem of nearly the same slope: retain the differences, but form none between its first
        iterate and the last one of the problem before."""
        self._last = None

    def next(self, z: Vec, change: Vec, measured: int) -> Vec:
        """Return the iterate that follows z, both (m,), where f(z) is `change`, (m,). The norm that is minimised counts
        the first `measured` entries of f."""
        if self._changes.shape[1] != len(z):
            self._changes, self._steps = np.zeros((self.most, len(z))), np.zeros((self.most, len(z)))
            self.clear()
        if self._last is not None:
            row = self._count % self.most
            np.subtract(change, self._last[1], out=self._changes[row])
            np.subtract(z, self._last[0], out=self._steps[row])
            self._steps[row] += self._changes[row]
            self._count += 1
            count = min(self._count, self.most)
            self._products[row, :count] = self._changes[:count, :measured] @ self._changes[row, :measured]
            self._products[:count, row] = self._products[row, :count]
        self._last = z, change
        count = min(self._count, self.most)
        if not count:
            return z + change
        message = self._changes[:count, :measured] @ change[:measured]
        weights = dgelss(self._products[:count, :count], message, cond=self.singular)[1][:count]
        out: Vec = weights @ self._steps[:count]
        np.subtract(change, out, out=out)
        out += z
        return out
