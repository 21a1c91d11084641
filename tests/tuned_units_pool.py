"""Small systems in which tuned constants of threads, steps and the kernel cache steer; see `tuned_units`."""

import os
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from solver import kernel_cache, pool, simulate
from solver.errors import StepFailed
from solver.habits import Habit, Habits, helpers_for
from solver.pool import PieceTimes, Work, least_of_stage, least_portion, portions
from solver.stepping import Halved, Pace, _step_ends, take_step
from solver.threads import waiting


def threads_that_are_woken():
    """Threads besides the calling one for calls of so many seconds."""
    return [helpers_for(100, 8, seconds) for seconds in (1e-4, 1e-3)]


def calls_until_a_kernel_counts_as_short():
    """Calls that take no time after one that took 10 ms."""
    habits, key = Habits(), ("module", "kernel", 3)
    habits.note(key, 0.01)
    return next((k for k in range(500) if habits.are_short(key) or habits.note(key, 0.0)), None)


def calls_that_take_longer():
    """Whether one call of a hundredfold time changes what is expected by less than half, and whether twenty of tenfold
    time change it."""
    once, often = Habit(1.0, None), Habit(1.0, None)
    once.learn(100.0, None)
    for _ in range(20):
        often.learn(10.0, None)
    return once.serial < 1.5, often.serial > 5.0


def kernels_that_gain_by_threads():
    """Whether calls pay that take so much of one thread's time."""
    return [Habit(1.0, elapsed).pays for elapsed in (0.5, 1.2)]


def _tries_of_one_thread(elapsed, calls):
    """Numbers of the calls that one thread alone is tried for, where it takes longer."""
    habit, found = Habit(1.0, elapsed), []
    for call in range(calls):
        if not habit.helpers(10, 2):
            found.append(call)
        habit.learn(1.0, elapsed if habit.helpers(10, 2) else None)
    return found


def kernels_that_gain_clearly():
    """Whether one thread alone is tried again where all together take so much of their time by the clock."""
    return [bool(_tries_of_one_thread(elapsed, 9)) for elapsed in (0.5, 0.8)]


def first_try_of_one_thread():
    """Whether one thread alone is tried among the first ten calls, and not for the first two."""
    first = _tries_of_one_thread(0.8, 10)[:1]
    return first < [10], first > [1]


def tries_of_one_thread_in_a_long_bake():
    """Whether it is tried for less than one of a hundred calls, and more than once in the last thousands."""
    tries = np.array(_tries_of_one_thread(0.8, 8000))
    return len(tries) < 80, int((tries > 4000).sum()) > 1


def calls_that_took_no_time():
    """Whether a kernel counts as short of which the clock shows no time, and calls until it counts as long again."""
    habit, calls = Habit(0.0, None), 0
    is_short = not habit.helpers(100, 8)
    while not habit.helpers(100, 8) and calls < 200:
        habit.learn(1e-2, None)
        calls += 1
    return is_short, calls < 80


def kernels_that_are_remembered():
    """Whether the first of a hundred kernels is remembered after them, and the first of 20 000 is not."""
    habits = Habits()
    found = []
    for count in (100, 20_000):
        for kernel in range(count):
            habits.note(("module", str(kernel), 1), 1.0)
        found.append(habits.longest.get(("module", "0", 1)) is not None and len(habits.longest) >= count)
    return found


def pieces_that_are_taken_at_once():
    """Number of pieces, of a thousand that take a millisecond together."""
    return least_portion(1000, 1e-3)


def time_of_reading_a_clock():
    """Whether a clock in microseconds that is read in 0.3 µs is known to a tenth after less than 10 ms."""
    reads = [0]

    def clock():
        reads[0] += 1
        return int(0.3 * reads[0]) * 1e-6

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "thread_time", clock)
        measured = PieceTimes()._clock
        return abs(measured - 0.3e-6) < 0.03e-6, 0.3e-6 * reads[0] < 0.01


def looks_at_a_flag():
    """Whether a thread looks at a flag for longer than 5 µs and for less than 5 ms before it sleeps."""
    took, begun, goes_on = [], threading.Event(), threading.Event()

    def kernel(start, stop):
        if threading.current_thread() is helper:
            begun.set()
            goes_on.wait()
        elif start == 0:
            begun.wait()

    def wait(flag, looks):
        for _ in range(5):
            before = time.perf_counter()
            waiting()(flag, looks)
            took.append(time.perf_counter() - before)
        goes_on.set()
        return False

    work = Work(kernel, [(0, 1), (1, 2)], (), wait=wait)
    helper = threading.Thread(target=work.join)
    helper.start()
    work.lead()
    helper.join()
    return min(took) > 5e-6, min(took) < 5e-3


def portions_of_a_stage():
    """Numbers of portions of a thousand pieces of a stage that four threads share."""
    return len(portions(1000, 4, least_of_stage(1000, 4)))


def largest_portion():
    """Whether the first portion of four threads leaves most to others, and whether there are few portions."""
    spans = portions.__wrapped__(1000, 4, 1)
    return spans[0][1] < 200, len(spans) < 60


def versions_of_kernels():
    """How many versions of a kernel are left of twenty, and of three that were not used for a day, a month, a year."""
    day = 24 * 3600.0
    found = []
    for ages in ([0.001 * k for k in range(20)], [1.0, 30.0, 365.0]):
        with tempfile.TemporaryDirectory() as folder:
            for k, age in enumerate(ages):
                path = Path(folder) / f"module.kernel-{k:024x}.py312.1.nbc"
                path.write_bytes(b"code")
                os.utime(path, (1e9 - age * day,) * 2)
            kernel_cache.clean(Path(folder), 1e9)
            found.append(len(list(Path(folder).iterdir())))
    return found


def frames_whose_steps_are_logged():
    """Number of sentences on ten frames with halved steps."""
    logged, world = [], SimpleNamespace(notes=(), summary=())
    diary = simulate._Diary(world, logged.append)
    for frame in range(10):
        diary.frame(frame, world, Halved([(0.01, StepFailed("it diverged"))]))
    diary.end(world)
    return len(logged)


def impacts_that_are_expected():
    """Whether a step is solved of which an impact is expected of so many times the accepted size."""

    class Solved(Exception):
        """The step was not refused."""

    def step(state, h):
        raise Solved

    found = []
    for jump in (1.2, 6.0):
        pace = Pace()
        pace.note_impact(0.01, jump, "Ball")
        try:
            take_step(SimpleNamespace(step=step), None, 0.01, 1.0, pace)
        except Solved:
            found.append(True)
        except StepFailed:
            found.append(False)
    return found


def ends_of_steps_at_subframes():
    """Numbers of steps to subframes that are so near to a step's end, in steps."""
    return [len(_step_ends(4, (0.0, 0.25 * (2 + off)))) - 1 for off in (1e-7, 1e-3)]


UNITS = (
    threads_that_are_woken, calls_until_a_kernel_counts_as_short, calls_that_take_longer, kernels_that_gain_by_threads,
    kernels_that_gain_clearly, first_try_of_one_thread, tries_of_one_thread_in_a_long_bake, calls_that_took_no_time,
    kernels_that_are_remembered, pieces_that_are_taken_at_once, time_of_reading_a_clock, looks_at_a_flag,
    portions_of_a_stage, largest_portion, versions_of_kernels, frames_whose_steps_are_logged,
    impacts_that_are_expected, ends_of_steps_at_subframes)
