"""Choice between the true and the projected stiffness of each iteration."""

from __future__ import annotations

import numpy as np

TRUE_STIFFNESS_FROM = 0.3  #: relative to the largest change: true stiffness is tried below it


class Stiffness:
    """Choice of the K of each iteration: the projected one converges safely from far away, the true one finishes near
    the root.

    is_true: whether iterations start with the true one. true_within: fraction of the largest change below which it is
    tried; 0 never. tolerated: iterations with it, after its first, that may change more than the one before. retry:
    factor by which `true_within` shrinks after more; 0: the true one is not tried again in this stage.
    """

    def __init__(self, is_true: bool = False, true_within: float = TRUE_STIFFNESS_FROM, tolerated: int = 1,
                 retry: float = 0.0) -> None:
        self.is_true = is_true
        self._true_within, self._tolerated, self._retry = true_within, tolerated, retry
        self._worse, self._last = 0, np.inf

    def project(self) -> None:
        """Select the projected K for the next iteration."""
        self.is_true = False

    def refuse(self) -> None:
        """Return to the projected K because the true one is indefinite or has diverged."""
        self.is_true, self._worse, self._true_within = False, 0, self._retry * self._true_within

    def follow(self, moved: float, rate_change: float, largest: float, first_change: float) -> bool:
        """Select the K of the next iteration; return whether it switches. moved: change of the last iteration.
        rate_change: the part of it by rates alone. largest: the largest change so far. first_change: that of the first
        iteration by rates."""
        was_true, floor = self.is_true, TRUE_STIFFNESS_FROM * first_change if self._tolerated else 0.0
        if was_true:
            self._worse += rate_change > max(self._last, floor)
            if self._worse > self._tolerated:
                self.refuse()
        self.is_true = self.is_true or moved < self._true_within * largest
        switches = was_true != self.is_true
        self._last = np.inf if switches and self._tolerated else rate_change
        return switches
