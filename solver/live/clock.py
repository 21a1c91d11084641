"""Clocks of the live loop: the computer's, or one that a test moves."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Seconds that only rise."""

    def now(self) -> float:
        """[s]."""

    def wait(self, seconds: float) -> None:
        """Sleep for a time."""


class WallClock:
    """The computer's own."""

    def now(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)


class FixedClock:
    """Time passes by waiting alone: steps take none, so that a run is the same on every machine."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def wait(self, seconds: float) -> None:
        self._now += seconds
