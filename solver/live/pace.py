"""Savings of live bodies where the computer cannot keep pace: first iterations, then shorter steps, then time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FULL = 0.85  #: share of its time that stepping may take: the rest is for drawing and what else runs
EASY = 0.6  #: what the next better effort may have cost when it was last tried, for another try
FORGET, LONGEST = 1.5, 30.0  #: seconds after which what a better effort cost is worth another look; twice that each
#: time it was too much
PROVEN = 120  #: steps after which an effort counts as one that keeps pace
FAR = 4.0  #: times what a step may take: it is not waited for the average of several
STEPS = 6  #: over how many steps costs are averaged
WINDOW = 1.0  #: seconds over which the rate is averaged
PATIENCE = 0.1  #: seconds behind the clock beyond which simulated time runs slower


@dataclass(frozen=True)
class Effort:
    """One way to step. Those of an engine stand in a row, the best first and each cheaper than the one before."""

    label: str  #: what is saved on, in the artist's words; "" for the best
    step: float  #: [s]


class Timekeeper:
    """Effort of the next step, and how fast time passes. It has no clock: callers pass what steps cost."""

    def __init__(self, efforts: Sequence[Effort]) -> None:
        self.efforts = list(efforts)
        self.effort = 0  #: number of the present one
        self._cost = [0.0] * len(efforts)  # seconds that a second takes
        self._looked = [0.0] * len(efforts)  # when that was measured
        self._patience = [FORGET] * len(efforts)
        self._steps, self._due, self._now = 0, 0.0, 0.0
        self._simulated, self._passed, self.rate = 0.0, 0.0, 1.0

    @property
    def step(self) -> float:
        """Return the length of the next step [s]."""
        return self.efforts[self.effort].step

    @property
    def cost(self) -> float:
        """Return the seconds of computing that a simulated second takes."""
        return self._cost[self.effort]

    def pass_time(self, seconds: float) -> None:
        """Let seconds pass. Simulated time that lags by more than `PATIENCE` is given up: it runs slower."""
        self._now += seconds
        self._due = min(self._due + seconds, self.step + PATIENCE)
        self._passed += seconds
        if self._passed >= WINDOW:
            self.rate = min(self._simulated / self._passed, 1.0)
            self._simulated = self._passed = 0.0

    @property
    def is_due(self) -> bool:
        """Whether a step is to be taken now."""
        return self._due >= self.step * (1.0 - 1e-9)

    @property
    def until_due(self) -> float:
        """Return the seconds until a step is due."""
        return max(self.step - self._due, 0.0)

    def took(self, seconds: float) -> None:
        """Record a step that was taken, and the seconds that it cost."""
        h, k = self.step, self.effort
        self._due -= h
        self._simulated += h
        cost = seconds / h
        # the first one begins the integrator, which costs more than what comes after it
        self._cost[k] = cost if self._steps < 2 else self._cost[k] + (cost - self._cost[k]) / STEPS
        self._looked[k] = self._now
        self._steps += 1
        if (cost > FAR or self._steps >= STEPS and self._cost[k] > FULL) and k + 1 < len(self.efforts):
            self._patience[k] = min(2.0 * self._patience[k], LONGEST)
            self._choose(k + 1)
        elif k and self._steps >= STEPS and self._cost[k] < FULL and (
                self._cost[k - 1] < EASY or self._now - self._looked[k - 1] > self._patience[k - 1]):
            self._choose(k - 1)
        elif self._steps == PROVEN:
            self._patience[k] = FORGET

    def _choose(self, effort: int) -> None:
        self.effort, self._steps = effort, 0

    @property
    def shown_rate(self) -> float:
        """Return simulated seconds in a second, rounded to what an artist sees: 1 where it keeps pace."""
        return 1.0 if self.rate > 0.97 else self.rate
