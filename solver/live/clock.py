"""Clocks of the live loop: the clock of the computer, or a simulated one for tests."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Interface of a monotonic clock."""

    def now(self) -> float:
        """Return the present time [s], which never decreases."""

    def wait(self, seconds: float) -> None:
        """Sleep for a number of seconds."""


class WallClock:
    """Monotonic clock of the computer."""

    def now(self) -> float:
        """Return the present time of the computer's monotonic clock [s]."""
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        """Suspend the thread for a number of seconds."""
        time.sleep(seconds)


class FixedClock:
    """Simulated clock that only `wait` advances: steps cost no time, so that a run is the same on every machine."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        """Return the simulated time, the sum of all waits so far [s]."""
        return self._now

    def wait(self, seconds: float) -> None:
        """Advance the simulated time by a number of seconds, at once."""
        self._now += seconds
