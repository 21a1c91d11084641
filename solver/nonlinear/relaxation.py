"""How much of a change to take where no energy says so: iterations on linearised stages. (Aitken's relaxation.)"""

from __future__ import annotations

import numpy as np

from ..state import Vec

FAST = 0.5  #: of the change before: iterations that shrink so much need no smaller share
SHORTEST = 1.0 / 64.0  #: share of an iteration


class Relaxation:
    """The share of each change of rates that is taken, from the last two."""

    def __init__(self) -> None:
        self.share, self.last = 1.0, np.inf
        self._way: Vec = np.zeros(0)

    def forget_last(self) -> None:
        """The last change is no guide to the next."""
        self.last = np.inf

    def follow(self, size: float, ahead: Vec) -> None:
        """Call with a change of rates (m,), of which the share was taken, and its size: sets the share of the next."""
        best = 1.0 if size < FAST * self.last else _right_share(self.share, self._way, ahead)
        self.share, self.last, self._way = min(1.5 * self.share, best), size, ahead


def _right_share(share: float, before: Vec, now: Vec) -> float:
    """The share of a change of rates that would have left nothing, from the last two, of which `share` was taken.

    One that goes on, be it on its way out of a shape that buckles, is taken whole; one that turns back overshot.
    """
    turned = now - before
    best = -share * float(before @ turned) / max(float(turned @ turned), float(np.finfo(float).tiny))
    return min(max(best, SHORTEST), 1.0) if best > 0.0 else 1.0
