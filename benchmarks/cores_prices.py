"""Measurement of the costs of sharing work between cores, from which `benchmarks.cores` predicts times."""

from __future__ import annotations

import hashlib
import statistics
import threading
import time
from typing import NamedTuple

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from solver.nonlinear.problem_kernels import PIECES, set_positions
from solver.pool import Pool, Work

STREAM = 1 << 24  #: float64 that memory's speed is measured with
CALLS, ASLEEP = 300, 1.0e-3  #: that prices are the median of, [s] in which a helper takes what there is
HASHED = 1 << 20  #: bytes of a piece that takes about a millisecond
STAGES = 20  #: that follow each other with one waking
CARRIED = 1 << 15  #: float64, a copy of which is in one core's cache with the answer


def bytes_a_second(count: int) -> float:
    """Return the memory bandwidth of `count` threads together, reading and writing [byte/s], the best of five runs."""
    arrays = [(np.zeros(STREAM), np.ones(STREAM)) for _ in range(count)]
    best = np.inf
    for _ in range(5):
        work = [threading.Thread(target=np.copyto, args=pair) for pair in arrays]
        began = time.perf_counter()
        for one in work:
            one.start()
        for one in work:
            one.join()
        best = min(best, time.perf_counter() - began)
    return 16.0 * STREAM * count / float(best)


class Waits(NamedTuple):
    """Median times to share a call with one helper [s]."""

    wake: float  #: until the helper begins
    join: float  #: from the helper's end until the caller continues


def waits() -> Waits:
    """Measure how long two threads wait for each other, with a piece of HASHED bytes each; the helper ends later."""
    pool, data, began, ended = Pool(2, threads.waiting), bytes(HASHED), dict[bool, float](), dict[bool, float]()

    def piece(start: int, stop: int) -> None:
        leads = threading.current_thread() is threading.main_thread()
        began[leads] = time.perf_counter()
        for _ in range(stop - start):
            hashlib.sha256(data)  # releases Python's lock, as kernels do
        ended[leads] = time.perf_counter()

    found = []
    for _ in range(CALLS):
        began.clear()
        ended.clear()
        requested = time.perf_counter()
        work = Work(piece, [(0, 1), (1, 2)], (), wait=pool.wait)
        pool.ask(work, 1)
        work.lead()
        after = time.perf_counter()
        if len(began) == 2:
            found.append((began[False] - requested, after - max(ended.values())))
    pool.end()
    return Waits(*(statistics.median(part) for part in zip(*found, strict=True)))


def meeting() -> float:
    """Return the median time from the end of a stage that two threads share until each begins the next one [s]."""
    pool, data = Pool(2, threads.waiting), bytes(HASHED // 16)
    began, ended = (np.full((STAGES, 2), np.nan) for _ in range(2))

    def piece(start: int, stop: int, stage: int) -> None:
        thread = int(threading.current_thread() is threading.main_thread())
        began[stage, thread] = time.perf_counter()
        hashlib.sha256(data)
        ended[stage, thread] = time.perf_counter()

    found: list[float] = []
    for _ in range(CALLS // STAGES):
        began[:] = ended[:] = np.nan
        after = ((piece, [(0, 1), (1, 2)], (k,)) for k in range(1, STAGES))
        work = Work(piece, [(0, 1), (1, 2)], (0,), after, pool.wait)
        pool.ask(work, 1)
        work.lead()
        between = began[1:] - ended[:-1].max(axis=1, keepdims=True)  # NaN where only one thread took part
        found += between[np.isfinite(between)].tolist()
    pool.end()
    return statistics.median(found)


def carrying() -> float:
    """Return the time to move a byte from one core's cache to another's and back [s].

    It is the additional time, of both cores together, of a copy that another core makes and whose result the first core
    reads.
    """
    pool, source, answer = Pool(2, threads.waiting), np.zeros(CARRIED), np.zeros(CARRIED)
    spent: dict[bool, list[float]] = {False: [], True: []}

    def piece(start: int, stop: int) -> None:
        np.copyto(answer, source)

    for _ in range(CALLS):
        for is_away, times in spent.items():
            source += 1.0  # in the first core's cache
            answer += 1.0
            work = Work(piece, [(0, 1)], ())
            if is_away:
                pool.ask(work, 1)
                time.sleep(ASLEEP)
            took, began = work.lead(), time.thread_time()
            answer.sum()
            times.append(took + time.thread_time() - began)
    pool.end()
    more = statistics.median(spent[True]) - statistics.median(spent[False])
    return max(more, 0.0) / (source.nbytes + answer.nbytes)


def asking() -> float:
    """Return the median time of a kernel with hardly any work [s], the additional cost of each portion."""
    x, nothing = np.zeros((PIECES, 3)), np.zeros(0, dtype=bool)
    position, spent = np.arange(PIECES), []
    for _ in range(CALLS):
        began = time.perf_counter()
        set_positions(0, 1, position, nothing, x, x, x, 1.0, np.empty_like(x), np.empty_like(x))
        spent.append(time.perf_counter() - began)
    return statistics.median(spent)


def handing_on() -> float:
    """Return the median additional time of a call of a kernel through the pool of one thread [s]."""
    x, nothing = np.zeros((PIECES, 3)), np.zeros(0, dtype=bool)
    arguments = np.arange(PIECES), nothing, x, x, x, 1.0, np.empty_like(x), np.empty_like(x)
    threads.configure(1)
    spent: list[float] = []
    for _ in range(CALLS):
        began = time.perf_counter()
        set_positions(0, PIECES, *arguments)
        middle = time.perf_counter()
        threads.parallel_for(set_positions, PIECES, *arguments)
        spent.append(time.perf_counter() - middle - (middle - began))
    return max(statistics.median(spent), 0.0)


class Prices(NamedTuple):
    """Measured costs of sharing work on this machine."""

    wake: float  #: seconds until a helper begins
    join: float  #: seconds from its end until the caller continues
    meet: float  #: seconds from the end of a stage to the start of the next one
    carry: float  #: seconds for each byte from one core's cache to another's and back
    ask: float  #: seconds for each portion
    hand: float  #: seconds more that a call takes on one thread by way of the pool
    one: float  #: bytes a second of one thread
    two: float  #: of two

    def memory(self, count: int) -> float:
        """Return the memory bandwidth of `count` threads together [byte/s]."""
        contention = max(2.0 * self.one / self.two - 1.0, 0.0)
        return count * self.one / (1.0 + contention * (count - 1))

    @classmethod
    def measured(cls) -> Prices:
        """Measure the costs on this machine and return them."""
        return cls(*waits(), meeting(), carrying(), asking(), handing_on(), bytes_a_second(1), bytes_a_second(2))

    def as_details(self) -> dict[str, float]:
        """Return the costs by their names in rows of the benchmark, in microseconds and gigabytes a second."""
        return {"waking_us": 1e6 * self.wake, "joining_us": 1e6 * self.join, "meeting_us": 1e6 * self.meet,
                "carrying_us_a_mb": 1e12 * self.carry,
                "asking_us": 1e6 * self.ask, "handing_us": 1e6 * self.hand, "gb_a_second": 1e-9 * self.one,
                "gb_a_second_two": 1e-9 * self.two}
