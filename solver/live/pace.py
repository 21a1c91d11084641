"""Control of accuracy in real time: fewer iterations, then longer steps, then slower simulated time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FULL = 0.85  #: fraction of its time that stepping may take: the rest is for drawing and what else runs
FORGET, LONGEST = 1.5, 30.0  #: seconds after which what a better effort cost is worth another look; twice that each
#: time it was too much
PROVEN = 120  #: steps after which an effort counts as one that keeps pace
FAR = 4.0  #: times what a step may take: it is not waited for the average of several
STEPS = 6  #: over how many steps costs are averaged
WINDOW = 1.0  #: seconds over which the rate is averaged
PATIENCE = 0.1  #: seconds behind the clock beyond which simulated time runs slower


@dataclass(frozen=True)
class Effort:
    """Accuracy of a step. An engine lists its efforts by descending accuracy and cost."""

    label: str  #: name of the reduction for the artist; "" for the best effort
    step: float  #: length of a step [s]


class Timekeeper:
    """Controller of the effort of the next step and of the rate of simulated time. Callers pass all measured times."""

    def __init__(self, efforts: Sequence[Effort]) -> None:
        self.efforts = list(efforts)
        self.effort = 0  #: index of the present effort
        self._cost = [0.0] * len(efforts)  # of each effort: seconds of computing in a simulated second
        self._looked = [0.0] * len(efforts)  # time at which each cost was measured [s]
        self._patience = [FORGET] * len(efforts)
        self._steps, self._due, self._now = 0, 0.0, 0.0
        self._simulated, self._passed, self.rate = 0.0, 0.0, 1.0

    @property
    def step(self) -> float:
        """Return the length of the next step [s]."""
        return self.efforts[self.effort].step

    @property
    def cost(self) -> float:
        """Return the average computing time of a simulated second at the present effort [s/s]."""
        return self._cost[self.effort]

    def pass_time(self, seconds: float) -> None:
        """Advance real time by a number of seconds. A lag of simulated time above `PATIENCE` is not made up for."""
        self._now += seconds
        self._due = min(self._due + seconds, self.step + PATIENCE)
        self._passed += seconds
        if self._passed >= WINDOW:
            self.rate = min(self._simulated / self._passed, 1.0)
            self._simulated = self._passed = 0.0

    @property
    def is_due(self) -> bool:
        """Whether the next step is due."""
        return self._due >= self.step * (1.0 - 1e-9)

    @property
    def until_due(self) -> float:
        """Return the real time until the next step is due [s], at least 0."""
        return max(self.step - self._due, 0.0)

    def took(self, seconds: float) -> None:
        """Record the computing time of a step in seconds, and choose the effort of the next step."""
        h, k = self.step, self.effort
        self._due -= h
        self._simulated += h
        cost = seconds / h
        # the first step starts the integrator, which costs more than later steps
        self._cost[k] = cost if self._steps < 2 else self._cost[k] + (cost - self._cost[k]) / STEPS
        self._looked[k] = self._now
        self._steps += 1
        if (cost > FAR or self._steps >= STEPS and self._cost[k] > FULL) and k + 1 < len(self.efforts):
            self._patience[k] = min(2.0 * self._patience[k], LONGEST)
            self._choose(k + 1)
        elif (k and self._steps >= STEPS and self._cost[k] < FULL
              and self._now - self._looked[k - 1] > self._patience[k - 1]):
            self._choose(k - 1)
        elif self._steps == PROVEN:
            self._patience[k] = FORGET

    def _choose(self, effort: int) -> None:
        self.effort, self._steps = effort, 0

    @property
    def shown_rate(self) -> float:
        """Return simulated seconds in a real second for display, in [0, 1]; 1 above 0.97."""
        return 1.0 if self.rate > 0.97 else self.rate
