"""Limits of joints: rates that may not go on where a joint has come to its end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...state import Index, Vec
from ..laws.rows import Rows, on_rates

NEAR = 0.02  #: [rad, m] from a limit there is a row whatever the speed
PULLED_IN = 0.1  #: [s] in which a joint that stands outside is pulled in


@dataclass(frozen=True)
class Limits:
    """Of l rates whose coordinates are read as they are: hinges and sliders, no balls."""

    rate: Index  #: (l,)
    low: Vec  #: [rad, m], −∞ for none, (l,)
    high: Vec  #: (l,)

    @classmethod
    def of(cls, low: Vec, high: Vec) -> Limits:
        """Those of the rates, (m,) both, that are finite on a side."""
        rate = np.flatnonzero(np.isfinite(low) | np.isfinite(high)).astype(np.int32)
        return cls(rate, low[rate], high[rate])

    def __len__(self) -> int:
        return len(self.rate)

    def outside(self, q: Vec) -> Index:
        """Rates whose limits are passed at q (m,), ascending."""
        place = q[self.rate]
        passed: Index = self.rate[(place < self.low) | (place > self.high)]
        return passed

    def rows(self, q: Vec, u: Vec, base: Vec, ahead: float) -> Rows:
        """Rows that push, near their limits at q; targets: that q = base + ahead u stays inside, or is pulled in.

        q, u, base: (m,). ahead: [s].
        """
        place, reach = q[self.rate], NEAR + 2.0 * ahead * np.abs(u[self.rate])
        below, above = np.flatnonzero(place - self.low < reach), np.flatnonzero(self.high - place < reach)
        of = np.concatenate([below, above]).astype(np.int32)
        factor = np.repeat([1.0, -1.0], [len(below), len(above)])
        room = factor * base[self.rate[of]] - np.concatenate([self.low[below], -self.high[above]])
        return on_rates(self.rate[of], factor, -room / np.where(room < 0.0, max(ahead, PULLED_IN), ahead), of)
