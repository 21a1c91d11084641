"""Threads that share the pieces of a kernel's work.

A Python thread that sleeps on a queue costs nothing while it waits, so bakes beside each other take no time from one
another. Waking one costs some microseconds, so work that is done sooner stays on the thread that asks for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import count
from queue import SimpleQueue
from time import perf_counter, thread_time
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .habits import Habits, Key, Kind

Kernel: TypeAlias = Callable[..., None]

WORTH_TAKING = 4.0e-5  #: [s]; pieces that take less together are taken at once: to ask for more takes ten microseconds
CLOCKED = 1000  #: times that a clock is asked to find out what that takes
LOOKS = 60_000  #: at a flag, which takes a few tens of microseconds, before a thread sleeps: to be woken takes longer
OF_STAGES = "stages"  #: in place of a module in the kind of stages that follow each other
AT_A_TIME = 8  #: portions of a stage's pieces for each thread, about: what they take is not known
LEFT_TO_OTHERS = 1.5  #: of what is left a thread takes its share over this, so that all end at once


class KernelStage(NamedTuple):
    """Pieces of a kernel's work that may begin once all earlier stages are done."""

    kernel: Kernel  #: kernel(start, stop, *arguments)
    pieces: int
    arguments: tuple[Any, ...]
    #: returns the bytes of its arrays that it needs, where that may be a small part of them; for records
    read: Callable[[], int] | None = None


Wait: TypeAlias = Callable[[Any, int], bool]  #: whether a flag (1,) was set, read a number of times at most
Portioned: TypeAlias = tuple[Kernel, Iterable[tuple[int, int]], tuple[Any, ...]]  #: a kernel, portions and arguments


class _Open:
    """Stage whose portions threads take; it is over once all threads that joined it have left it."""

    def __init__(self, kernel: Kernel, portions: Iterable[tuple[int, int]], arguments: tuple[Any, ...]) -> None:
        self.call, self.portions = (kernel, arguments), iter(portions)
        self.joined: list[None] = []
        self.left: list[None] = []
        self.ends = count()  #: the thread that counts 0 ends the stage
        self.flag = np.zeros(1, np.int64)  #: 1 once the stage is over, for threads that poll; for those that sleep:
        self.gate = threading.Lock()
        self.gate.acquire()
        self.following: _Open | None = None


class Work:
    """Pieces of one call, or of stages one after the other, which free threads take."""

    def __init__(self, kernel: Kernel, portions: Iterable[tuple[int, int]], arguments: tuple[Any, ...],
                 following: Iterator[Portioned] | None = None, wait: Wait | None = None) -> None:
        """kernel: run as kernel(start, stop, *arguments). portions: first piece and the one after the last of what is
        taken at once. following: stages after the first, each generated once all before are done. wait: function by
        which a thread waits for others before it sleeps; None: it sleeps at once."""
        self._stage: _Open | None = _Open(kernel, portions, arguments)
        self._following, self._wait = following, wait
        self._failures: list[BaseException] = []
        self._busy: list[float] = []

    def join(self) -> None:
        """Take pieces as a helper thread, until none is left."""
        self._take(leads=False)

    def lead(self) -> float:
        """Take pieces as the calling thread until all are done, and return the processor time of all threads without
        waits [s].

        A helper that comes late finds no piece, and is not waited for. Raises what a kernel raised.
        """
        self._take(leads=True)
        if self._failures:
            raise self._failures[0]
        return sum(self._busy)

    def _take(self, leads: bool) -> None:
        """Take pieces until none is left of any stage. An exception of a kernel ends the work of all threads."""
        stage = self._stage
        while stage is not None:
            stage.joined.append(None)  # before the first piece, so that the thread that ends the stage counts it
            started_at = thread_time()
            kernel, arguments = stage.call
            try:
                for start, stop in stage.portions:
                    kernel(start, stop, *arguments)
            except BaseException as failure:
                self._failures.append(failure)
                for _ in stage.portions:
                    pass
            del kernel, arguments
            self._busy.append(thread_time() - started_at)
            stage.left.append(None)
            if len(stage.left) == len(stage.joined) and next(stage.ends) == 0:
                self._end(stage)
            elif not leads and self._following is None:
                return
            elif self._wait is None or not self._wait(stage.flag, LOOKS):
                with stage.gate:
                    pass
            stage = stage.following

    def _end(self, stage: _Open) -> None:
        """Begin the stage after one that is over, and release the threads that wait for it."""
        try:
            after = None if self._failures or self._following is None else next(self._following, None)
            stage.following = self._stage = None if after is None else _Open(*after)
        except BaseException as failure:
            self._failures.append(failure)
            self._stage = None
        stage.flag[0] = 1
        stage.gate.release()


def least_portion(pieces: int, expected: float | None) -> int:
    """Return how many of the pieces, which take `expected` seconds in all, are worth taking at once; 1 for None."""
    return max(1, int(pieces * WORTH_TAKING / expected)) if expected else 1


def least_of_stage(pieces: int, sharers: int) -> int:
    """Return how many of a stage's pieces a thread takes at least at once, `sharers` threads in all: their time is not
    known."""
    return max(1, pieces // (AT_A_TIME * sharers))


@lru_cache(maxsize=1000)
def portions(pieces: int, sharers: int, least: int) -> tuple[tuple[int, int], ...]:
    """Return the portions of pieces that threads take in turn: large ones first, then ever smaller ones, of `least` at
    the end (guided self-scheduling)."""
    spans, start = [], 0
    while start < pieces:
        stop = min(pieces, start + max(least, int((pieces - start) / (LEFT_TO_OTHERS * sharers))))
        spans.append((start, stop))
        start = stop
    return tuple(spans)


class Pool:
    """Pool of a number of threads, with the calling one."""

    def __init__(self, count: int, waiting: Callable[[], Wait] | None = None) -> None:
        """count: number of threads with the calling one. waiting: returns the function by which threads wait for each
        other before they sleep; called when threads first wait."""
        self.count, self._waiting = count, waiting
        self._requests: SimpleQueue[Work | None] = SimpleQueue()
        self.habits = Habits()
        for number in range(count - 1):
            threading.Thread(target=self._help, name=f"kernels-{number}", daemon=True).start()

    @property
    def wait(self) -> Wait | None:
        """Return the function by which threads wait for each other before they sleep; None where they sleep at once."""
        return None if self._waiting is None else self._waiting()

    def run(self, kernel: Kernel, pieces: int, arguments: tuple[Any, ...]) -> None:
        """Run kernel(start, stop, *arguments) for all pieces, on as many threads as are worth waking by the times of
        earlier calls."""
        if self.count == 1 or pieces < 2:
            kernel(0, pieces, *arguments)
            return
        key = key_of(kernel, pieces)
        if self.habits.are_short(key):  # more than a clock would take as long as the call
            started_at = perf_counter()
            kernel(0, pieces, *arguments)
            took = perf_counter() - started_at
        else:
            took = self._run_by_habit((*key, _magnitude(arguments)), kernel, pieces, arguments)
        self.habits.note(key, took)

    def _run_by_habit(self, kind: Kind, kernel: Kernel, pieces: int, arguments: tuple[Any, ...]) -> float:
        """Run all pieces on as many threads as paid before for arrays of this size. Return the processor time of all
        threads [s]."""
        helpers, expected = self.habits.choose(kind, pieces, self.count)
        elapsed = None
        if helpers:
            started_at = perf_counter()
            work = Work(kernel, portions(pieces, helpers + 1, least_portion(pieces, expected)), arguments,
                        wait=self.wait)
            self.ask(work, helpers)
            took = work.lead()
            elapsed = perf_counter() - started_at
        else:
            started_at = thread_time()  # without the time of other programs on this core
            kernel(0, pieces, *arguments)
            took = thread_time() - started_at
        self.habits.learn(kind, took, elapsed)
        return took

    def run_stages(self, name: str, size: int, pieces: int, stages: Iterator[KernelStage]) -> None:
        """Run all pieces of stages, each once those before it are done, waking threads once for all stages.

        name, size: key of the measured times of such stages; size is about proportional to their time. pieces: of the
        widest stage.
        """
        if self.count == 1:
            for stage in stages:
                stage.kernel(0, stage.pieces, *stage.arguments)
            return
        kind = OF_STAGES, name, pieces.bit_length(), size.bit_length()
        helpers, elapsed = self.habits.choose(kind, pieces, self.count)[0], None
        if helpers:
            started_at = perf_counter()
            portioned = ((each.kernel, portions(each.pieces, helpers + 1, least_of_stage(each.pieces, helpers + 1)),
                          each.arguments) for each in stages)
            work = Work(*next(portioned), portioned, self.wait)
            self.ask(work, helpers)
            took = work.lead()
            elapsed = perf_counter() - started_at
        else:
            start = thread_time()
            for stage in stages:
                stage.kernel(0, stage.pieces, *stage.arguments)
            took = thread_time() - start
        self.habits.learn(kind, took, elapsed)

    def begin(self, task: Callable[[], None]) -> Work:
        """Return the work of a task that another thread runs, if there is one; `lead` runs the task where no thread has
        begun it, and else waits for its end."""
        work = Work(lambda start, stop: task(), [(0, 1)], (), wait=self.wait)
        if self.count > 1:
            self.ask(work, 1)
        return work

    def ask(self, work: Work, helpers: int) -> None:
        """Wake `helpers` threads for a work."""
        for _ in range(helpers):
            self._requests.put(work)

    def end(self) -> None:
        """Let the threads end once they have no more work."""
        for _ in range(self.count - 1):
            self._requests.put(None)

    def _help(self) -> None:
        while (work := self._requests.get()) is not None:
            work.join()
            del work


class Call(NamedTuple):
    """Times of one call on one thread."""

    kernel: str
    started_at: float  #: [s of this thread]
    ended: float
    pieces: list[float]  #: seconds of each, or of several where there are many
    total: int  #: of pieces
    size: int  #: bytes of the arrays that it was given
    kind: Kind  #: key of the measured times in a pool
    follows: bool = False  #: whether it is a later stage of the call before it


class PieceTimes(Pool):
    """Pool of one thread that runs the pieces of a call separately and measures each, from which the time on other
    numbers of threads follows."""

    def __init__(self, most: int = 32) -> None:
        """most: about how many pieces of a call are timed separately; of more, several are timed together."""
        super().__init__(1)
        self._most = most
        started_at = thread_time()
        for _ in range(CLOCKED):
            thread_time()
        self._clock = (thread_time() - started_at) / CLOCKED  # the time of reading the clock is no part of a piece
        self.calls: list[Call] = []

    def run(self, kernel: Kernel, pieces: int, arguments: tuple[Any, ...]) -> None:
        """Run kernel(start, stop, *arguments) for all pieces, in order, and record their times in `calls`."""
        self._run_timed(KernelStage(kernel, pieces, arguments), (*key_of(kernel, pieces), _magnitude(arguments)), False)

    def run_stages(self, name: str, size: int, pieces: int, stages: Iterator[KernelStage]) -> None:
        """Run all pieces of all stages, in order, and record their times in `calls`.

        name, size: key of such stages, as in Pool. pieces: of the widest stage.
        """
        kind = OF_STAGES, name, pieces.bit_length(), size.bit_length()
        for number, stage in enumerate(stages):
            self._run_timed(stage, kind, number > 0)

    def _run_timed(self, stage: KernelStage, kind: Kind, follows: bool) -> None:
        """Run the pieces of a stage one after the other and record the thread time of each [s]. follows: whether it is
        a later one of several stages."""
        kernel, pieces, arguments, read = stage
        spent, few = [], max(1, pieces // self._most)
        started_at = before = thread_time()
        for start in range(0, pieces, few):
            kernel(start, min(start + few, pieces), *arguments)
            now = thread_time()
            spent.append(max(now - before - self._clock, 0.0))
            before = now
        ended = thread_time()
        size = _bytes(arguments) if read is None else read()
        self.calls.append(Call(kernel.__name__, started_at, ended, spent, pieces, size, kind, follows))


def key_of(kernel: Kernel, pieces: int) -> Key:
    """Return the key of a kernel's calls with this number of pieces, or up to twice as many."""
    return kernel.__module__, kernel.__qualname__, pieces.bit_length()


def _magnitude(arguments: tuple[Any, ...]) -> int:
    """Return the binary logarithm of the number of entries of all arrays among the arguments, with which the time of a
    call grows."""
    return sum(getattr(argument, "size", 0) for argument in arguments).bit_length()


def _bytes(arguments: tuple[Any, ...]) -> int:
    """Return the size of all arrays among the arguments [bytes]."""
    total = 0
    for argument in arguments:
        with suppress(TypeError):  # what is no array
            total += memoryview(argument).nbytes
    return total
