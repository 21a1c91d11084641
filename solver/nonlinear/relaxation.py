"""Aitken's relaxation of iterations without a merit function.

Velocity-dependent inertia and constraint forces of joints have no potential, and the residual of condensed velocities
is known only after K is factored: a line search has no merit there.
"""

from __future__ import annotations

import numpy as np

from ..state import Vec

SHORTEST = 1.0 / 64.0  #: smallest relaxation factor


class Relaxation:
    """Aitken's relaxation of changes of rates: a factor from the last two changes."""

    converging = 0.5  #: relative to the last change: iterations that decrease by this factor need no relaxation

    def __init__(self) -> None:
        self._change: Vec
        self.restart(1.0)

    def forget_last(self) -> None:
        """Discard the size of the last change where it does not predict that of the next."""
        self.last = np.inf

    def restart(self, relaxation: float) -> None:
        """Discard the history and start with a relaxation factor."""
        self.relaxation, self.last, self._change = relaxation, np.inf, np.zeros(0)

    def follow(self, size: float, change: Vec) -> None:
        """Update the relaxation factor after a change of rates (m,), of which the present factor was taken. size: of
        the change."""
        best = 1.0 if size < self.converging * self.last else _aitken_fraction(self.relaxation, self._change, change)
        self.relaxation, self.last, self._change = min(1.5 * self.relaxation, best), size, change


def _aitken_fraction(relaxation: float, before: Vec, now: Vec) -> float:
    """Return the fraction of the last change that would have left no residual, from the last two changes, of which the
    fraction `relaxation` was taken.

    A change that repeats its direction, as on the path out of a buckling shape, is taken in full; one that reverses it
    overshot.
    """
    difference = now - before
    best = -relaxation * float(before @ difference) / max(float(difference @ difference), float(np.finfo(float).tiny))
    return min(max(best, SHORTEST), 1.0) if best > 0.0 else 1.0
