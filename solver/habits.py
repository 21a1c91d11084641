"""Measured times of kernel calls, by which a pool decides how many threads share the next call.

The quicker of one thread and several is found by the clock: threads that share a call take more time together than one
alone would, by cold caches and by waits for Python's lock, and how much that is differs from machine to machine and
from kernel to kernel.
"""

from __future__ import annotations

from typing import TypeAlias

#: module and name of a kernel, and the binary logarithm of how many pieces: pairs and remeshed faces are never as many
Key: TypeAlias = tuple[str, str, int]
Kind: TypeAlias = tuple[str, str, int, int]  #: that, and the same of how many entries all arrays have

WORTH_WAKING = 3.0e-4  #: [s] of one thread; for each so many another thread is woken
FORGETS = 0.25  #: by which fraction what a call is expected to take moves to what it took
OUTLIER = 2.0  #: times what was expected: a call that took longer, as where other programs run, counts as so much
GAINS = 0.85  #: of one thread's time: calls that are shared and take longer gain nothing
CLEARLY = 0.65  #: of the threads' time together: where the clock shows less, one thread alone is not tried again
PATIENCE, MOST_PATIENCE = 2, 1024  #: calls in the quicker way until the other one is tried: ever more, up to these
SHORTEST = 1.0e-9  #: [s] that a call takes
KERNELS = 2000  #: whose calls are remembered


def helpers_for(pieces: int, count: int, expected: float | None) -> int:
    """Return how many threads, in addition to the calling one, are worth waking for pieces of work that take `expected`
    seconds on one thread; None where that is not known.

    count: number of threads with the calling one.
    """
    most = min(count, pieces) - 1
    return most if expected is None else min(most, int(expected / WORTH_WAKING))


class Habit:
    """Seconds that calls of one kind take, on one thread and shared. The slower alternative is tried again after ever
    more calls."""

    def __init__(self, took: float, elapsed: float | None) -> None:
        """took: processor time of all threads in the first call [s]. elapsed: its duration by the clock [s] where it
        was shared, else None."""
        self.serial = self.busy = max(took, SHORTEST)  #: on one thread; on all that share, together
        self.elapsed = elapsed  #: by the clock where they share; None before that was tried
        self._calls, self._patience = 0, PATIENCE  #: since the slower way was tried; until it is again

    @property
    def pays(self) -> bool:
        """Whether calls of this kind are quicker on several threads than on one."""
        return self.elapsed is not None and self.elapsed <= GAINS * self.serial

    def helpers(self, pieces: int, count: int) -> int:
        """Return how many threads, in addition to the calling one, to wake for the next call. count: number of threads
        with the calling one."""
        most, pays = helpers_for(pieces, count, self.serial), self.pays
        if most < 1 or self.elapsed is None or pays and self.elapsed <= CLEARLY * self.busy:
            return most
        return most if pays != (self._calls >= self._patience) else 0

    def learn(self, took: float, elapsed: float | None) -> None:
        """Update the expected times by a call. took: processor time of all threads [s]. elapsed: its duration by the
        clock [s] where it was shared, else None."""
        pays = self.pays
        is_usual = pays == (elapsed is not None)
        before = self.serial if elapsed is None else self.busy
        # where the usual way takes longer there is more work, and the other one would take longer as well
        change = _update_expected(before, max(took, SHORTEST)) / before
        if elapsed is None or is_usual:
            self.serial *= change
        if elapsed is not None or is_usual:
            self.busy *= change
        if elapsed is not None:
            self.elapsed = elapsed if self.elapsed is None else _update_expected(self.elapsed, elapsed)
        elif is_usual and self.elapsed is not None:
            self.elapsed *= change
        if is_usual:
            self._calls += 1
            return
        # by this call alone: where it contradicts the others the slower way is soon tried again
        clock, one = (self.elapsed, took) if elapsed is None else (elapsed, self.serial)
        confirms = pays == (clock is not None and clock <= GAINS * one)
        self._calls, self._patience = 0, min(2 * self._patience, MOST_PATIENCE) if confirms else PATIENCE


class Habits:
    """Measured times of all kernels, by which a call chooses between one thread and several."""

    def __init__(self) -> None:
        self.longest: dict[Key, float] = {}  #: seconds that calls on arrays of any size take at most
        self._of: dict[Kind, Habit] = {}

    def are_short(self, key: Key) -> bool:
        """Whether calls of a kernel are too short for a second thread, whatever the size of their arrays."""
        return self.longest.get(key, WORTH_WAKING) < WORTH_WAKING

    def note(self, key: Key, took: float) -> None:
        """Update the longest time of a kernel's calls by one that took `took` seconds."""
        longest = self.longest.get(key)
        if longest is None:
            if len(self.longest) > KERNELS:
                self.longest.clear()
        elif took < longest:
            # calls of one kernel may take turns: the longest of them counts for a while
            took = longest + FORGETS * (took - longest)
        self.longest[key] = took

    def choose(self, kind: Kind, pieces: int, count: int) -> tuple[int, float | None]:
        """Return how many threads, in addition to the calling one, to wake for a call, and its expected time on one
        thread [s], None where that is not known.

        pieces: of the work. count: number of threads with the calling one.
        """
        habit = self._of.get(kind)
        if habit is None:
            return helpers_for(pieces, count, None), None
        return habit.helpers(pieces, count), habit.serial

    def learn(self, kind: Kind, took: float, elapsed: float | None) -> None:
        """Update the expected times by a call of this kind. took: processor time of all threads [s]. elapsed: its
        duration by the clock [s] where it was shared, else None."""
        habit = self._of.get(kind)
        if habit is not None:
            habit.learn(took, elapsed)
            return
        if len(self._of) > KERNELS:
            self._of.clear()
        self._of[kind] = Habit(took, elapsed)


def _update_expected(expected: float, took: float) -> float:
    """Return the expected time of a call after one that took `took` seconds [s]."""
    return expected + FORGETS * (min(took, OUTLIER * expected) - expected)
