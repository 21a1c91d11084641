"""Measure the speedup by a second thread, and predict that of more threads by an analysis of work and span.

    python -m benchmarks.cores PART            large: dragon, rest, heap, mat, balls; small: examples; million
    python -m benchmarks.cores NAME …          these scenes alone

Each scene runs from one state with one and with two threads, in turns, in one process; results are medians of the
clock, and both end with the same bytes. A run during which other programs used part of a core is repeated; `others` is
the fraction of a core that they used in the worst run that counts. `processor` is the processor time of both threads
together relative to that of one.

The analysis: one thread runs each piece of each shared call separately (in thread time, so that load by others does not
count). Work between the calls is serial. A list scheduler assigns each call's pieces to P threads as the pool does,
call by call in order: to as many threads as the pool's habits choose from the costs of earlier calls under this
scheduler, including the slower choices that the pool tries, and in the pool's portions. Costs are measured here on
kernels: `wake` until a helper begins, `ask` for each portion, `meet` from the end of one stage to the start of the next
where a waking has several, `join` from the end of the last piece until the caller continues, which counts if a helper
ends last, and `carry` for each byte that moves between the caches of two cores and back. The memory part of a piece is
the time in which memory can deliver its arrays, at most the whole piece; it grows by P B / B(P) if P threads read at
once. Bandwidth is measured with one and two threads; for more, B(P) = P B / (1 + s (P − 1)) is a law of contention
through both. `two` is compared with the clock; 4 to 32 are predictions for machines that are not available.

`cores_one`: time of one thread relative to the time without the pool: the number of a scene's calls, times the extra
cost of a call through the pool.
"""

from __future__ import annotations

import gc
import heapq
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks import cores_scenes
from benchmarks.cores_prices import Prices
from benchmarks.report import Claim, claim, emit
from solver.habits import SHORTEST, Habits
from solver.pool import OF_STAGES, Call, least_of_stage, least_portion, portions

PARTS = {"large": ("dragon", "rest", "heap", "mat", "balls"),
         "small": ("bowl", "edge", "cloak", "muscle", "ragdoll"), "million": ("million",)}
EIGHT = ("dragon", "heap", "mat", "balls", "million")  #: scenes for which 8 and 16 cores have a goal
TURNS = {"heap": 2}  #: of the clock; others:
MOST_TURNS = 3
SHORT_TURNS, SHORTEST_RUN = 5, 2.0  #: of scenes of a few seconds; [s] of each, as one run scatters by a tenth
MOST_TRIES = 2  #: as many turns where others disturb
QUIET, TOO_LOUD = 0.04, 0.2  #: of a core, by others: no matter, and too much for a row
PREDICTED = (2, 4, 8, 16, 32)
LARGE, MIDDLE = 4000, 1000  #: nodes
CACHE = 1 << 20  #: bytes of a core's own cache: more is read from the one that all share anyway


class Run(NamedTuple):
    """Times of the steps of a scene from its start state, and the state after them."""

    seconds: float  #: by the clock
    processor: float  #: seconds of all threads together
    others: float  #: cores that other programs took meanwhile
    end: bytes  #: bytes of the end state


def all_work() -> float:
    """Return the processor time of all programs on this machine since it started [s]."""
    ticks = Path("/proc/stat").read_text().split()[1:9]  # user nice system idle iowait irq softirq steal
    return sum(int(ticks[k]) for k in (0, 1, 2, 5, 6, 7)) / os.sysconf("SC_CLK_TCK")


def timed(scene: cores_scenes.Measured, count: int, repeats: int = 1) -> Run:
    """Run a scene `repeats` times on `count` threads and return the mean times."""
    threads.configure(count)
    gc.collect()
    before, began, worked = all_work(), time.perf_counter(), time.process_time()
    for _ in range(repeats):
        scene.forget()
        after = scene.run(scene.start)
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    others = max(all_work() - before - processor, 0.0) / seconds
    return Run(seconds / repeats, processor / repeats, others, after.q.tobytes())


def in_turns(scene: cores_scenes.Measured, turns: int) -> dict[int, list[Run]]:
    """Return the `turns` least disturbed runs with one thread and with two, by number of threads.

    Runs are repeated until enough are undisturbed, at most MOST_TRIES × `turns` times. Raises RuntimeError where end
    states differ, or other programs used the second core in all runs.
    """
    found: dict[int, list[Run]] = {1: [], 2: []}
    repeats = 1 + int(SHORTEST_RUN / timed(scene, 1).seconds)
    for _ in range(MOST_TRIES * turns):
        for count, runs in found.items():
            runs.append(timed(scene, count, repeats))
        if all(sum(run.others <= QUIET for run in runs) >= turns for runs in found.values()):
            break
    if len({run.end for runs in found.values() for run in runs}) > 1:
        raise RuntimeError("two threads end with other bytes than one")
    best = {count: sorted(runs, key=lambda run: run.others)[:turns] for count, runs in found.items()}
    if max(run.others for runs in best.values() for run in runs) > TOO_LOUD:
        raise RuntimeError("other programs took the second core in all runs; measure again once they are done")
    return best


class Account:
    """Times of one thread in each shared call, and between shared calls."""

    def __init__(self, scene: cores_scenes.Measured) -> None:
        record = threads.record()
        scene.forget()
        gc.collect()
        gc.disable()  # a collection would search all records
        began = time.thread_time()
        scene.run(scene.start)
        whole = time.thread_time() - began
        gc.enable()
        self.calls = record.calls
        self.serial = whole - sum(call.ended - call.started_at for call in record.calls)
        self.shared = sum(sum(call.pieces) for call in self.calls)

    def seconds(self, count: int, prices: Prices) -> float:
        """Return the predicted time on `count` threads [s]."""
        habits, stages = Habits(), list[list[Call]]()
        for call in self.calls:
            if call.follows:
                stages[-1].append(call)
            else:
                stages.append([call])
        return self.serial + sum(self._call(each, habits, count, prices) for each in stages)

    @classmethod
    def _call(cls, stages: list[Call], habits: Habits, count: int, prices: Prices) -> float:
        """Return the time that a call, or stages with one waking, takes on `count` threads [s].

        habits: choices of the pool from the times of earlier calls, which this call updates.
        """
        work, kind = max(sum(sum(call.pieces) for call in stages), SHORTEST), stages[0].kind
        if count == 1 or max(call.total for call in stages) < 2:
            return work
        helpers, expected, took, elapsed = 0, None, work, None
        is_short = habits.are_short(kind[:3])
        if not is_short:
            helpers, expected = habits.choose(kind, max(len(call.pieces) for call in stages), count)
        if helpers:
            took, elapsed = cls._shared(stages, helpers, expected, prices)
        if not is_short:
            habits.learn(kind, took, elapsed)
        if kind[0] != OF_STAGES:
            habits.note(kind[:3], took)
        return work if elapsed is None else elapsed

    @staticmethod
    def _shared(stages: list[Call], helpers: int, expected: float | None, prices: Prices) -> tuple[float, float]:
        """Return the time of a call with `helpers` more threads [s]: of all threads together, and by the clock."""
        at_work, busy, end, last_one = helpers + 1, 0.0, 0.0, 0
        free = [(prices.wake * (k > 0), k) for k in range(at_work)]  # the calling thread is 0
        for number, call in enumerate(stages):
            if number:  # a stage begins once all threads have ended the previous one
                free = sorted((max(at, end + prices.meet), thread) for at, thread in free)
            pieces, work = len(call.pieces), max(sum(call.pieces), SHORTEST)
            # fraction of the time; large arrays may not be read as a whole
            reading = min(call.size / prices.one / work, 1.0)
            readers = min(at_work, pieces)
            slower = 1.0 + reading * (readers * prices.one / prices.memory(readers) - 1.0)
            carried = prices.carry * min(call.size, CACHE) / work  # for each second of a helper's work
            least = least_portion(pieces, expected) if call.kind[0] != OF_STAGES else least_of_stage(pieces, at_work)
            for first, last in portions(pieces, at_work, least):
                at, thread = free[0]
                took = prices.ask + (slower + carried * (thread > 0)) * sum(call.pieces[first:last])
                heapq.heapreplace(free, (at + took, thread))
                busy += took
                end, last_one = max((end, last_one), (at + took, thread))
        return busy, end + prices.join * (last_one > 0)


def measured(name: str, prices: Prices) -> dict[str, Any]:
    """Return the row of a scene: measured times, and predicted ones for more threads."""
    scene = cores_scenes.made(name)
    threads.configure(1)
    scene.run(scene.start)  # kernels compile and memory is allocated at first use
    found = in_turns(scene, SHORT_TURNS if name in PARTS["small"] else TURNS.get(name, MOST_TURNS))
    account = Account(scene)
    one, two = (statistics.median(run.seconds for run in runs) for runs in found.values())
    processor = [statistics.median(run.processor for run in runs) for runs in found.values()]
    alone = account.seconds(1, prices)
    predicted = {count: alone / account.seconds(count, prices) for count in PREDICTED}
    row = {"nodes": scene.nodes, "one_s": one / scene.seconds, "two_s": two / scene.seconds, "two": one / two,
           "others": max(run.others for runs in found.values() for run in runs),
           "processor": processor[1] / processor[0],
           "one": 1.0 + len(account.calls) * prices.hand / alone,
           "serial_share": account.serial / alone, "calls": len(account.calls) / scene.seconds,
           "predicted": {str(count): value for count, value in predicted.items()},
           "two_over_predicted": one / two / predicted[2]}
    print(name, {key: value if isinstance(value, (int, dict)) else round(value, 4) for key, value in row.items()},
          file=sys.stderr, flush=True)
    return row


def claims_of(rows: dict[str, dict[str, Any]], suffix: str) -> list[Claim]:
    """Return the claims, each by the worst of its scenes. rows: by scene. suffix: appended to the names of claims."""
    found: list[Claim] = []
    by_size = (("cores_two", "two", 1.75, LARGE, np.inf, rows), ("cores_small", "two", 1.3, MIDDLE, LARGE, rows),
               ("cores_tiny", "two", 1.0, 0, MIDDLE, rows))
    for name, key, goal, least, most, among in by_size:
        values = [row[key] for row in among.values() if least <= row["nodes"] < most]
        if values:
            found.append(claim(name + suffix, min(values), "times as fast", f">= {goal}"))
    found.append(claim("cores_one" + suffix, max(row["one"] for row in rows.values()), "times as long", "<= 1.03"))
    eight = [rows[name]["predicted"] for name in rows if name in EIGHT]
    if eight:
        found += [claim("cores_eight" + suffix, min(one["8"] for one in eight), "times as fast, predicted", ">= 5"),
                  claim("cores_sixteen" + suffix, min(one["16"] for one in eight), "times as fast, predicted", ">= 8")]
    return found


def main() -> None:
    part = sys.argv[1] if len(sys.argv) > 1 else "large"
    prices = Prices.measured()
    details = prices.as_details()
    print(details, file=sys.stderr, flush=True)
    rows = {name: measured(name, prices) for name in PARTS.get(part, sys.argv[1:])}
    emit(f"cores.{part}", claims_of(rows, "" if part != "million" else "_million"), {"scenes": rows, **details})


if __name__ == "__main__":
    main()
