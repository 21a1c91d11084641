"""What is prescribed over time: samples at sub-frames, joined so that the velocity is continuous."""

from __future__ import annotations

import numpy as np

from ..state import Vec


class Motion:
    """A cubic Hermite curve through equally spaced samples, its slopes from five samples each.

    A staircase of velocities would shake the body at every sample. Before the first and after the last sample the
    curve stands still.
    """

    def __init__(self, samples: Vec, interval: float) -> None:
        """samples: (T, ...) at 0, interval, 2 interval, … [s]; may be mapped from a file."""
        self.samples, self.interval = samples, interval

    def at(self, time: float) -> Vec:
        """The value at `time` [s], of one sample's shape."""
        last = len(self.samples) - 1
        place = min(max(time / self.interval, 0.0), float(last))
        i = min(int(place), max(last - 1, 0))
        s = place - i
        if last == 0 or s == 0.0:
            return np.array(self.samples[i], dtype=float)
        p, r = self.samples[i], self.samples[i + 1]
        m, n = self._slope(i), self._slope(i + 1)
        square, cube = s * s, s * s * s
        return (
            (2.0 * cube - 3.0 * square + 1.0) * p + (cube - 2.0 * square + s) * m
            + (3.0 * square - 2.0 * cube) * r + (cube - square) * n
        )

    def _slope(self, i: int) -> Vec:
        """Change per interval at sample i: fourth order inside, second at the ends."""
        x, last = self.samples, len(self.samples) - 1
        if last == 1:
            return x[1] - x[0]
        if i == 0:
            return -1.5 * x[0] + 2.0 * x[1] - 0.5 * x[2]
        if i == last:
            return 1.5 * x[last] - 2.0 * x[last - 1] + 0.5 * x[last - 2]
        if i in (1, last - 1):
            return 0.5 * (x[i + 1] - x[i - 1])
        return (8.0 * (x[i + 1] - x[i - 1]) - (x[i + 2] - x[i - 2])) / 12.0
