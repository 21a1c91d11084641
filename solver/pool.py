"""Threads that share the pieces of a kernel's work.

A Python thread that sleeps on a queue costs nothing while it waits, so bakes beside each other take no time from one
another. Waking one costs some microseconds, so work that is done sooner stays on the thread that asks for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from queue import SimpleQueue
from time import perf_counter, thread_time
from typing import Any, NamedTuple, TypeAlias

Kernel: TypeAlias = Callable[..., None]

WORTH_WAKING = 3.0e-4  #: [s] of one thread; for each so many another thread is woken
WORTH_TAKING = 4.0e-5  #: [s]; pieces that take less together are taken at once: to ask for more takes ten microseconds
FORGETS = 0.25  #: by which share what a call is expected to take moves to what it took
GAINS = 0.85  #: of one thread's time: a call that was shared and took longer brought nothing
RESISTS, RELENTS = 2.0, 0.995  #: times what is worth waking after such a call, after each other one
MOST_RESISTANCE = 16.0  #: times WORTH_WAKING
KERNELS = 2000  #: whose calls are remembered
CLOCKED = 1000  #: times that a clock is asked to find out what that takes
LEFT_TO_OTHERS = 1.5  #: of what is left a thread takes its share over this, so that all end at once


class Work:
    """The pieces of one call, which whoever is free takes."""

    def __init__(self, kernel: Kernel, portions: Iterable[tuple[int, int]], arguments: tuple[Any, ...]) -> None:
        """portions: first piece and the one after the last of what is taken at once."""
        self.call: tuple[Any, ...] = (kernel, arguments)
        self._portions = iter(portions)
        self._joined: list[None] = []
        self._left: SimpleQueue[BaseException | None] = SimpleQueue()
        self._busy: list[float] = []

    def join(self) -> None:
        """A helper's part of it."""
        self._joined.append(None)  # before the first piece, so that who waits knows of it
        self._left.put(self._take())

    def lead(self) -> float:
        """The part of the thread that asks, until all pieces are done. Returns processor seconds of all threads
        together, without what they waited for.

        A helper that comes late finds no piece, and is not waited for. Raises what a kernel raised.
        """
        failures = [self._take()]
        while len(failures) <= len(self._joined):  # who came late meanwhile has answered in place of another one
            failures.append(self._left.get())
        self.call = (None, ())  # who comes late holds no array
        for failure in failures:
            if failure is not None:
                raise failure
        return sum(self._busy)

    def _take(self) -> BaseException | None:
        """Pieces until none is left; what a kernel raised, which ends the call for all."""
        began = thread_time()
        kernel, arguments = self.call
        try:
            for start, stop in self._portions:
                kernel(start, stop, *arguments)
        except BaseException as failure:
            for _ in self._portions:
                pass
            return failure
        finally:
            self._busy.append(thread_time() - began)
        return None


def helpers_for(pieces: int, count: int, expected: float | None, resistance: float = 1.0) -> int:
    """How many threads of so many, besides the one that asks, are worth waking for pieces that are expected to take so
    many seconds; None where nobody knows yet. `resistance`: times that a thread's share must be worth waking it."""
    most = min(count, pieces) - 1
    return most if expected is None else min(most, int(expected / (resistance * WORTH_WAKING)))


def least_portion(pieces: int, expected: float | None) -> int:
    """How many of the pieces are worth taking at once."""
    return max(1, int(pieces * WORTH_TAKING / expected)) if expected else 1


@lru_cache(maxsize=1000)
def portions(pieces: int, sharers: int, least: int) -> tuple[tuple[int, int], ...]:
    """Return the portions of pieces that threads take in turn: large ones first, then ever smaller ones, of `least` at
    the end (guided self-scheduling)."""
    found, start = [], 0
    while start < pieces:
        stop = min(pieces, start + max(least, int((pieces - start) / (LEFT_TO_OTHERS * sharers))))
        found.append((start, stop))
        start = stop
    return tuple(found)


class Habit:
    """Seconds that calls of one kernel on arrays of about one size take, and whether sharing them pays."""

    def __init__(self, took: float) -> None:
        self.expected = took  #: seconds of one thread
        self.resistance = 1.0  #: times that another thread's share must be worth waking it

    def learn(self, took: float, elapsed: float | None) -> None:
        """took: seconds of all threads together; elapsed: those of the clock where others were woken."""
        self.expected += FORGETS * (took - self.expected)
        if elapsed is not None and elapsed > GAINS * took:
            self.resistance = min(RESISTS * self.resistance, MOST_RESISTANCE)
        else:
            self.resistance = max(RELENTS * self.resistance, 1.0)


class Pool:
    """So many threads, the one that asks among them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._asked: SimpleQueue[Work | None] = SimpleQueue()
        self._longest: dict[tuple[str, str, int], float] = {}
        self._habits: dict[tuple[str, str, int, int], Habit] = {}
        for number in range(count - 1):
            threading.Thread(target=self._help, name=f"kernels-{number}", daemon=True).start()

    def run(self, kernel: Kernel, pieces: int, arguments: tuple[Any, ...]) -> None:
        """kernel(start, stop, *arguments) for all pieces, on as many threads as are worth it by what it took before."""
        if self.count == 1 or pieces < 2:
            kernel(0, pieces, *arguments)
            return
        key = (kernel.__module__, kernel.__qualname__, pieces)
        longest = self._longest.get(key)
        if longest is None or longest >= WORTH_WAKING:
            took = self._run_by_habit(key, kernel, arguments)
        else:  # to ask for more than a clock would take as long as the call
            began = perf_counter()
            kernel(0, pieces, *arguments)
            took = perf_counter() - began
        if longest is None:
            if len(self._longest) > KERNELS:
                self._longest.clear()
        elif took < longest:
            # calls of one kernel may take turns: the longest of them counts for a while
            took = longest + FORGETS * (took - longest)
        self._longest[key] = took

    def _run_by_habit(self, key: tuple[str, str, int], kernel: Kernel, arguments: tuple[Any, ...]) -> float:
        """Run all pieces on as many threads as paid before for arrays of this size. Returns seconds of all threads."""
        pieces = key[2]
        kind = (*key, _magnitude(arguments))
        habit = self._habits.get(kind)
        expected, resistance = (habit.expected, habit.resistance) if habit is not None else (None, 1.0)
        helpers = helpers_for(pieces, self.count, expected, resistance)
        began, elapsed = perf_counter(), None
        if helpers:
            work = Work(kernel, portions(pieces, helpers + 1, least_portion(pieces, expected)), arguments)
            for _ in range(helpers):
                self._asked.put(work)
            took = work.lead()
            elapsed = perf_counter() - began
        else:
            kernel(0, pieces, *arguments)
            took = perf_counter() - began
        if habit is not None:
            habit.learn(took, elapsed)
            return took
        if len(self._habits) > KERNELS:
            self._habits.clear()
        self._habits[kind] = Habit(took)
        return took

    def end(self) -> None:
        """The threads go once they have nothing more to do."""
        for _ in range(self.count - 1):
            self._asked.put(None)

    def _help(self) -> None:
        while (work := self._asked.get()) is not None:
            work.join()
            del work


class Call(NamedTuple):
    """Time of one thread in a call."""

    kernel: str
    began: float  #: [s of this thread]
    ended: float
    pieces: list[float]  #: seconds of each
    size: int  #: bytes of the arrays that it was given


class PieceTimes(Pool):
    """One thread that runs a call's pieces separately and measures each, from which the time on other numbers of
    threads follows."""

    def __init__(self, most: int = 32) -> None:
        """most: pieces of a call that are timed separately."""
        super().__init__(1)
        self._most = most
        began = thread_time()
        for _ in range(CLOCKED):
            thread_time()
        self._clock = (thread_time() - began) / CLOCKED  # what it takes to ask the clock is no part of a piece
        self.calls: list[Call] = []

    def run(self, kernel: Kernel, pieces: int, arguments: tuple[Any, ...]) -> None:
        """All pieces, in order."""
        spent, few = [], max(1, pieces // self._most)
        began = before = thread_time()
        for start in range(0, pieces, few):
            kernel(start, min(start + few, pieces), *arguments)
            now = thread_time()
            spent.append(max(now - before - self._clock, 0.0))
            before = now
        size = _bytes(arguments)
        self.calls.append(Call(kernel.__name__, began, thread_time(), spent, size))


def _magnitude(arguments: tuple[Any, ...]) -> int:
    """Return the binary logarithm of how many entries all arrays among them have: what a call takes grows with it."""
    return sum(getattr(one, "size", 0) for one in arguments).bit_length()


def _bytes(arguments: tuple[Any, ...]) -> int:
    """Return the size of all arrays among them."""
    total = 0
    for one in arguments:
        with suppress(TypeError):  # what is no array
            total += memoryview(one).nbytes
    return total
