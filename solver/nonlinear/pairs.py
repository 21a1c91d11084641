"""What the last steps did to the residual, and the two loops of L-BFGS over it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..state import Vec
from .block_kernels import bend, straighten

LEAST_CURVATURE = 1.0e-10  #: of |s| |y|: below it a pair says nothing


class SecantPairs:
    """Up to `most` pairs of steps s and changes y of the residual, sᵀy > 0, the oldest one replaced first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._steps = np.zeros((most, 0))
        self._changes = np.zeros((most, 0))
        self._inverse = np.zeros(most)
        self._order: list[int] = []

    def __len__(self) -> int:
        return len(self._order)

    def clear(self, size: int) -> None:
        """Forget all of them; the next ones have `size` entries."""
        self._order = []
        if self._steps.shape[1] != size:
            self._steps, self._changes = np.zeros((self.most, size)), np.zeros((self.most, size))

    def add(self, step: Vec, change: Vec) -> None:
        """Keep a pair, unless the residual bent the wrong way."""
        if self.most == 0:
            return
        curvature = float(step @ change)
        if not curvature > LEAST_CURVATURE * float(np.linalg.norm(step) * np.linalg.norm(change)):
            return
        place = len(self._order) if len(self._order) < self.most else self._order.pop(0)
        self._steps[place], self._changes[place], self._inverse[place] = step, change, 1.0 / curvature
        self._order.append(place)

    def direction(self, residual: Vec, solve: Callable[[Vec], Vec]) -> Vec:
        """−H residual, where H is `solve` updated by all pairs. [Nocedal 7.4]"""
        bent = -residual
        if not self._order:
            return solve(bent)
        weights = np.zeros(self.most)
        pairs = (np.array(self._order), self._steps, self._changes, self._inverse, weights)
        bend(*pairs, bent)
        out = solve(bent)
        straighten(*pairs, out)
        return out
