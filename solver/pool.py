"""Threads that share the pieces of a kernel's work.

A Python thread that sleeps on a queue costs nothing while it waits, so bakes beside each other take no time from one
another. Waking one costs some microseconds, so work that is done sooner stays on the thread that asks for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from time import perf_counter, thread_time
from typing import Any, TypeAlias

Kernel: TypeAlias = Callable[..., None]

WORTH_WAKING = 4.0e-5  #: [s] of one thread; for each so many another thread is woken
FORGETS = 0.25  #: by which share what a call is expected to take comes down to what it took
KERNELS = 2000  #: whose calls are remembered
CLOCKED = 1000  #: times that a clock is asked to find out what that takes
CHUNKS = 8  #: times that each thread takes pieces in a call, about


class Work:
    """The pieces of one call, which whoever is free takes."""

    def __init__(self, kernel: Kernel, pieces: int, few: int, arguments: tuple[Any, ...]) -> None:
        """few: pieces that are taken at once."""
        self.call: tuple[Any, ...] = (kernel, arguments)
        self._starts: Iterator[int] = iter(range(0, pieces, few))
        self._pieces, self._few = pieces, few
        self._joined: list[None] = []
        self._left: SimpleQueue[BaseException | None] = SimpleQueue()
        self._busy: list[float] = []

    def join(self) -> None:
        """A helper's part of it."""
        self._joined.append(None)  # before the first piece, so that who waits knows of it
        self._left.put(self._take())

    def lead(self) -> float:
        """The part of the thread that asks, until all pieces are done. Returns seconds of all threads together.

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
        began = perf_counter()
        (kernel, arguments), few, pieces = self.call, self._few, self._pieces
        try:
            for start in self._starts:
                kernel(start, min(start + few, pieces), *arguments)
        except BaseException as failure:
            for _ in self._starts:
                pass
            return failure
        finally:
            self._busy.append(perf_counter() - began)
        return None


class Pool:
    """So many threads, the one that asks among them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._asked: SimpleQueue[Work | None] = SimpleQueue()
        self._expected: dict[tuple[str, str, int], float] = {}
        for number in range(count - 1):
            threading.Thread(target=self._help, name=f"kernels-{number}", daemon=True).start()

    def run(self, kernel: Kernel, pieces: int, arguments: tuple[Any, ...]) -> None:
        """kernel(start, stop, *arguments) for all pieces, on as many threads as are worth it by what it took before."""
        if self.count == 1 or pieces < 2:
            kernel(0, pieces, *arguments)
            return
        key = (kernel.__module__, kernel.__qualname__, pieces)
        expected = self._expected.get(key)
        helpers = min(self.count, pieces) - 1
        if expected is not None:
            helpers = min(helpers, int(expected / WORTH_WAKING))
        if helpers:
            work = Work(kernel, pieces, max(1, pieces // (CHUNKS * (helpers + 1))), arguments)
            for _ in range(helpers):
                self._asked.put(work)
            took = work.lead()
        else:
            began = perf_counter()
            kernel(0, pieces, *arguments)
            took = perf_counter() - began
        if expected is None:
            if len(self._expected) > KERNELS:
                self._expected.clear()
        elif took < expected:
            # calls of one kernel may take turns: the longest of them counts for a while
            took = expected + FORGETS * (took - expected)
        self._expected[key] = took

    def end(self) -> None:
        """The threads go once they have nothing more to do."""
        for _ in range(self.count - 1):
            self._asked.put(None)

    def _help(self) -> None:
        while (work := self._asked.get()) is not None:
            work.join()
            del work


class PieceTimes(Pool):
    """One thread that runs a call's pieces apart and keeps how long each took: what other numbers of threads would
    take is told from it."""

    def __init__(self, most: int = 128) -> None:
        """most: pieces of a call that are told apart."""
        super().__init__(1)
        self._most = most
        began = thread_time()
        for _ in range(CLOCKED):
            thread_time()
        self._clock = (thread_time() - began) / CLOCKED  # what it takes to ask the clock is no part of a piece
        #: of each call the kernel's name, when it began and ended [s of this thread], seconds of its pieces, and bytes
        #: of the arrays that it was given
        self.calls: list[tuple[str, float, float, list[float], int]] = []

    def run(self, kernel: Kernel, pieces: int, arguments: tuple[Any, ...]) -> None:
        """All pieces, in order."""
        spent, few = [], max(1, pieces // self._most)
        began = before = thread_time()
        for start in range(0, max(pieces, 1), few):
            kernel(start, min(start + few, pieces), *arguments)
            now = thread_time()
            spent.append(max(now - before - self._clock, 0.0))
            before = now
        size = _bytes(arguments)
        self.calls.append((kernel.__name__, began, thread_time(), spent, size))


def _bytes(arguments: tuple[Any, ...]) -> int:
    """Of all arrays among them."""
    total = 0
    for one in arguments:
        with suppress(TypeError):  # what is no array
            total += memoryview(one).nbytes
    return total
