"""Secant pairs of past steps and the two-loop recursion of L-BFGS."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..state import Vec
from .block_kernels import backward_loop, forward_loop

LEAST_CURVATURE = 1.0e-10  #: relative to |s| |y|: a pair with less curvature is discarded


class SecantPairs:
    """Up to `most` pairs of steps s and changes y of the residual, sᵀy > 0; the oldest one is replaced first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._steps = np.zeros((most, 0))
        self._changes = np.zeros((most, 0))
        self._inverse = np.zeros(most)
        self._order: list[int] = []

    def __len__(self) -> int:
        return len(self._order)

    def clear(self, size: int) -> None:
        """Discard all pairs; the next ones have `size` entries."""
        self._order = []
        if self._steps.shape[1] != size:
            self._steps, self._changes = np.zeros((self.most, size)), np.zeros((self.most, size))

    def add(self, step: Vec, change: Vec) -> None:
        """Add a pair of a step and the change of the residual along it, (m,) each, unless its curvature is not
        positive."""
        if self.most == 0:
            return
        curvature = float(step @ change)
        if not curvature > LEAST_CURVATURE * float(np.linalg.norm(step) * np.linalg.norm(change)):
            return
        row = len(self._order) if len(self._order) < self.most else self._order.pop(0)
        self._steps[row], self._changes[row], self._inverse[row] = step, change, 1.0 / curvature
        self._order.append(row)

    def direction(self, residual: Vec, solve: Callable[[Vec], Vec]) -> Vec:
        """Return −H residual, (m,), where H is `solve` updated by all pairs. [Nocedal 7.4]"""
        gradient = -residual
        if not self._order:
            return solve(gradient)
        weights = np.zeros(self.most)
        pairs = (np.array(self._order), self._steps, self._changes, self._inverse, weights)
        backward_loop(*pairs, gradient)
        out = solve(gradient)
        forward_loop(*pairs, out)
        return out
