"""What a second thread brings, and what more would: by the clock with one and two, and by an account of work and span.

    python -m benchmarks.cores PART            large: dragon, rest, heap, mat, balls, drape; small: examples; million
    python -m benchmarks.cores NAME …          these scenes alone

First `python -m benchmarks.cores_scenes`. Each scene goes from one state with one and with two threads, in turns, in
one process; medians of the clock, and whether both end with the same bytes. `busy` is the clock over the processor time
of one thread: above 1.05 somebody else was at work, and the two threads had not two cores.

The account: one thread runs each piece of each call that is shared apart (thread time, so that others at work do not
count). What lies between the calls is serial. A list scheduler gives each call's pieces to P threads as the pool does:
as many as are worth waking, pieces a few at a time, the price of waking them as measured here. A call whose arrays are
read at memory's speed goes no faster than memory does with P threads: bytes a second are measured with one and two, and
beyond these B(P) = P B / (1 + s (P − 1)) is a law of contention through both. `two` is held against the clock; 4 to 32
are predictions of machines that are not here.
"""

from __future__ import annotations

import gc
import heapq
import statistics
import sys
import threading
import time
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks import cores_scenes
from benchmarks.report import Claim, claim, emit
from solver.pool import CHUNKS, WORTH_WAKING, Pool

PARTS = {"large": ("dragon", "rest", "heap", "mat", "balls", "drape"),
         "small": ("bowl", "edge", "cloak", "muscle", "ragdoll"), "million": ("million",)}
EIGHT = ("dragon", "heap", "mat", "balls", "million")  #: scenes for which 8 and 16 cores have a goal
TURNS = {"million": 1, "heap": 1}  #: of the clock; others:
MOST_TURNS = 3
PREDICTED = (2, 4, 8, 16, 32)
LARGE, MIDDLE = 4000, 1000  #: nodes
STREAM = 1 << 24  #: float64 that memory's speed is measured with
CALLS = 300


def bytes_a_second(count: int) -> float:
    """That `count` threads together read and write, the best of five."""
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


def waking() -> float:
    """Seconds that a call takes which wakes another thread and has nothing to do, the median."""
    pool, spent = Pool(2), []
    for _ in range(CALLS):
        pool._expected.clear()  # else it would find out that nobody is worth waking
        began = time.perf_counter()
        pool.run(lambda start, stop: None, 8, ())
        spent.append(time.perf_counter() - began)
    pool.end()
    return statistics.median(spent)


def timed(scene: cores_scenes.Measured, count: int) -> tuple[float, float, bytes]:
    """Seconds by the clock and of the processor, and where it ends."""
    threads.configure(count)
    scene.forget()
    gc.collect()
    began, worked = time.perf_counter(), time.process_time()
    after = scene.go(scene.start)
    return time.perf_counter() - began, time.process_time() - worked, after.q.tobytes()


class Account:
    """What one thread took in each call that is shared, and between them."""

    def __init__(self, scene: cores_scenes.Measured) -> None:
        record = threads.record()
        scene.forget()
        began = time.thread_time()
        scene.go(scene.start)
        whole = time.thread_time() - began
        self.calls = [(name, np.array(pieces), size) for name, _, _, pieces, size in record.calls]
        self.serial = whole - sum(end - begin for _, begin, end, _, _ in record.calls)
        self.shared = float(sum(pieces.sum() for _, pieces, _ in self.calls))

    def seconds(self, count: int, wake: float, speed: tuple[float, float]) -> float:
        """That `count` threads would take. speed: bytes a second of one and two threads."""
        contention = max(2.0 * speed[0] / speed[1] - 1.0, 0.0)
        memory = count * speed[0] / (1.0 + contention * (count - 1))
        return self.serial + sum(self._call(pieces, size, count, wake, speed[0], memory)
                                 for _, pieces, size in self.calls)

    @staticmethod
    def _call(pieces: np.ndarray, size: int, count: int, wake: float, alone: float, memory: float) -> float:
        """Of one call."""
        work = float(pieces.sum())
        helpers = min(min(count, len(pieces)) - 1, int(work / WORTH_WAKING))
        if helpers < 1:
            return work
        few = max(1, len(pieces) // (CHUNKS * (helpers + 1)))
        free = [wake * (k > 0) for k in range(helpers + 1)]
        for first in range(0, len(pieces), few):
            heapq.heapreplace(free, free[0] + float(pieces[first : first + few].sum()))
        # where the arrays take longer to read than the work does, they are not read as a whole
        reading = size / memory if size / alone < work else 0.0
        return max(max(free), reading)


def measured(name: str, wake: float, speed: tuple[float, float]) -> dict[str, Any]:
    """A row. Raises RuntimeError where two threads end with other bytes than one."""
    scene = cores_scenes.made(name)
    threads.configure(1)
    scene.go(scene.start)  # what is compiled at first use, and what memory is found
    found: dict[int, list[tuple[float, float, bytes]]] = {1: [], 2: []}
    for _ in range(TURNS.get(name, MOST_TURNS)):
        for count, rows in found.items():
            rows.append(timed(scene, count))
    if len({end for rows in found.values() for _, _, end in rows}) > 1:
        raise RuntimeError(f"{name} ends with other bytes with two threads than with one")
    account = Account(scene)
    one, two = (statistics.median(row[0] for row in rows) for rows in found.values())
    alone = account.seconds(1, wake, speed)
    predicted = {count: alone / account.seconds(count, wake, speed) for count in PREDICTED}
    row = {"nodes": scene.nodes, "one_s": one / scene.seconds, "two_s": two / scene.seconds, "two": one / two,
           "busy": one / statistics.median(row[1] for row in found[1]),
           "processor": statistics.median(row[1] for row in found[2]) / statistics.median(row[1] for row in found[1]),
           "serial_share": account.serial / alone, "calls": len(account.calls) / scene.seconds,
           "predicted": {str(count): value for count, value in predicted.items()},
           "two_over_predicted": one / two / predicted[2]}
    print(name, {key: value if isinstance(value, (int, dict)) else round(value, 4) for key, value in row.items()},
          file=sys.stderr, flush=True)
    return row


def claims_of(rows: dict[str, dict[str, Any]], suffix: str) -> list[Claim]:
    """Worst scene of each goal."""
    found: list[Claim] = []
    by_size = (("cores_two", "two", 1.75, LARGE, np.inf, rows), ("cores_small", "two", 1.3, MIDDLE, LARGE, rows),
               ("cores_tiny", "two", 1.0, 0, MIDDLE, rows))
    for name, key, goal, least, most, among in by_size:
        values = [row[key] for row in among.values() if least <= row["nodes"] < most]
        if values:
            found.append(claim(name + suffix, min(values), "times as fast", f">= {goal}"))
    eight = [rows[name]["predicted"] for name in rows if name in EIGHT]
    if eight:
        found += [claim("cores_eight" + suffix, min(one["8"] for one in eight), "times as fast, predicted", ">= 5"),
                  claim("cores_sixteen" + suffix, min(one["16"] for one in eight), "times as fast, predicted", ">= 8")]
    return found


def main() -> None:
    part = sys.argv[1] if len(sys.argv) > 1 else "large"
    wake, speed = waking(), (bytes_a_second(1), bytes_a_second(2))
    print({"waking_us": 1e6 * wake, "gb_a_second": [one / 1e9 for one in speed]}, file=sys.stderr, flush=True)
    rows = {name: measured(name, wake, speed) for name in PARTS.get(part, sys.argv[1:])}
    emit(f"cores.{part}", claims_of(rows, "" if part != "million" else "_million"),
         {"scenes": rows, "waking_us": 1e6 * wake, "gb_a_second": [one / 1e9 for one in speed]})


if __name__ == "__main__":
    main()
