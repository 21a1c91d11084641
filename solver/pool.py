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

from .habits import Habits, Key, Kind

Kernel: TypeAlias = Callable[..., None]

WORTH_TAKING = 4.0e-5  #: [s]; pieces that take less together are taken at once: to ask for more takes ten microseconds
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


class Pool:
    """A number of threads, including the calling one."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._asked: SimpleQueue[Work | None] = SimpleQueue()
        self.habits = Habits()
        for number in range(count - 1):
            threading.Thread(target=self._help, name=f"kernels-{number}", daemon=True).start()

    def run(self, kernel: Kernel, pieces: int, arguments: tuple[Any, ...]) -> None:
        """kernel(start, stop, *arguments) for all pieces, on as many threads as are worth it by what it took before."""
        if self.count == 1 or pieces < 2:
            kernel(0, pieces, *arguments)
            return
        key = key_of(kernel, pieces)
        if self.habits.are_short(key):  # to ask for more than a clock would take as long as the call
            began = perf_counter()
            kernel(0, pieces, *arguments)
            took = perf_counter() - began
        else:
            took = self._run_by_habit((*key, _magnitude(arguments)), kernel, pieces, arguments)
        self.habits.note(key, took)

    def _run_by_habit(self, kind: Kind, kernel: Kernel, pieces: int, arguments: tuple[Any, ...]) -> float:
        """Run all pieces on as many threads as paid before for arrays of this size. Returns seconds of all threads."""
        helpers, expected = self.habits.choose(kind, pieces, self.count)
        elapsed = None
        if helpers:
            began = perf_counter()
            work = Work(kernel, portions(pieces, helpers + 1, least_portion(pieces, expected)), arguments)
            self.ask(work, helpers)
            took = work.lead()
            elapsed = perf_counter() - began
        else:
            began = thread_time()  # what others take of this core says nothing about the kernel
            kernel(0, pieces, *arguments)
            took = thread_time() - began
        self.habits.learn(kind, took, elapsed)
        return took

    def ask(self, work: Work, helpers: int) -> None:
        """Wake so many threads for it."""
        for _ in range(helpers):
            self._asked.put(work)

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
    pieces: list[float]  #: seconds of each, or of several where there are many
    total: int  #: of pieces
    size: int  #: bytes of the arrays that it was given
    kind: Kind  #: by which a pool knows it again


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
        kind = *key_of(kernel, pieces), _magnitude(arguments)
        self.calls.append(Call(kernel.__name__, began, thread_time(), spent, pieces, _bytes(arguments), kind))


def key_of(kernel: Kernel, pieces: int) -> Key:
    """Return by what calls of a kernel are known again: so many pieces, or up to twice as many."""
    return kernel.__module__, kernel.__qualname__, pieces.bit_length()


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
