"""How many cores a bake may use, who shares its work, and that its bytes do not depend on it."""

import hashlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks.interpreter import Interpreter
from benchmarks.scenes import touching
from solver import cores, habits, threads
from solver.habits import Habit
from solver.pool import KernelStage, PieceTimes, Pool, Work, key_of, portions

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Control groups of this process: a function of the lines of /proc/self/cgroup and of files by their path."""
    monkeypatch.setattr(cores, "CONTROL_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(cores, "OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(cores, "_count_usable_cores", lambda: 16)
    monkeypatch.delenv("PYTHON_CPU_COUNT", raising=False)

    def make(own, files):
        (tmp_path / "own").write_text(own)
        for path, text in files.items():
            path = tmp_path / "groups" / path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return make


@pytest.mark.parametrize("own, files, count", [
    ("0::/\n", {"cpu.max": "max 100000\n"}, 16),
    ("0::/\n", {"cpu.max": "400000 100000\n"}, 4),
    ("0::/\n", {"cpu.max": "50000 100000\n"}, 1),  # half a core
    ("0::/\n", {"cpu.max": "350000 100000\n"}, 3),
    ("0::/\n", {"cpu.max": "9900000 100000\n"}, 16),
    ("0::/farm/job\n", {"farm/cpu.max": "200000 100000\n", "farm/job/cpu.max": "max 100000\n"}, 2),
    ("0::/of/the/host\n", {"cpu.max": "300000 100000\n"}, 3),  # a container sees its root alone
    ("4:cpu,cpuacct:/a\n3:memory:/b\n", {"cpu,cpuacct/a/cpu.cfs_quota_us": "250000\n",
                                         "cpu,cpuacct/a/cpu.cfs_period_us": "100000\n"}, 2),
    ("4:cpu,cpuacct:/a\n", {"cpu,cpuacct/a/cpu.cfs_quota_us": "-1\n",
                            "cpu,cpuacct/a/cpu.cfs_period_us": "100000\n"}, 16),
    ("0::/\n", {"cpu.max": "nonsense\n"}, 16),
    ("nonsense\n", {}, 16),
])
def test_a_control_groups_quota_counts(groups, own, files, count):
    groups(own, files)
    assert cores.available() == count


def test_what_the_environment_says_counts_first(groups, monkeypatch):
    groups("0::/\n", {"cpu.max": "50000 100000\n"})
    monkeypatch.setenv("PYTHON_CPU_COUNT", "5")
    assert cores.available() == 5
    monkeypatch.setenv("PYTHON_CPU_COUNT", "default")
    assert cores.available() == 1


def test_cores_left_free_count_where_no_number_is_given(monkeypatch):
    monkeypatch.setenv("PYTHON_CPU_COUNT", "4")
    try:
        assert [threads.configure(None, free) for free in (0, 1, 3, 4, 99)] == [4, 3, 1, 1, 1]
        assert threads.configure(4, 1) == 4 and threads.configure(10_000, 1) == 4
    finally:
        monkeypatch.undo()
        threads.configure(None)


def sleeping(start, stop, seconds, done):
    if seconds:
        time.sleep(seconds * (stop - start))
    done.append((start, stop, threading.get_ident()))


def hashing(start, stop, data, done):
    """Work that releases Python's lock."""
    for _ in range(stop - start):
        hashlib.sha256(data)
    done.append((start, stop, threading.get_ident()))


def test_work_that_is_soon_done_wakes_nobody_and_long_work_does():
    pool, short, long = Pool(3), np.zeros(1, np.uint8), np.zeros(8_000_000, np.uint8)
    done = []
    pool.run(hashing, 6, (short, done))  # nobody knows yet
    done.clear()
    pool.run(hashing, 6, (short, done))
    while not pool.habits.are_short(key_of(hashing, 6)):  # what it is expected to take comes down by and by
        done.clear()
        pool.run(hashing, 6, (short, done))
    done.clear()
    pool.run(hashing, 6, (short, done))
    assert [(start, stop) for start, stop, _ in done] == [(0, 6)]
    assert done[0][2] == threading.get_ident()
    pool.run(hashing, 6, (long, done))  # it took long, so the next call is shared
    done.clear()
    pool.run(hashing, 6, (long, done))
    assert len({who for _, _, who in done}) == 3
    pool.end()


def test_work_of_ever_other_counts_of_pieces_is_known_again():
    """Pairs in contact and faces of cloth that is remeshed are never as many as before."""
    pool, done = Pool(2), []
    for pieces in range(600, 620):
        pool.run(sleeping, pieces, (0.0, done))
    done.clear()
    for pieces in range(620, 720):
        pool.run(sleeping, pieces, (0.0, done))
    assert [(start, stop) for start, stop, _ in done] == [(0, pieces) for pieces in range(620, 720)]
    pool.end()


def test_calls_that_gain_nothing_by_another_thread_stay_on_one():
    """Work that holds Python's lock takes as long on two threads as on one."""
    pool, done = Pool(2), []

    def holds_the_lock(start, stop):
        until = time.thread_time() + 4.0e-4 * (stop - start)
        while time.thread_time() < until:
            pass
        done.append((start, stop))

    for _ in range(20):
        pool.run(holds_the_lock, 4, ())
    done.clear()
    for _ in range(20):
        pool.run(holds_the_lock, 4, ())
    assert done.count((0, 4)) >= 18
    pool.end()


@pytest.mark.parametrize("pieces, expected, helpers", [(64, 1.0e-4, 0), (64, 1.0e-3, 3), (64, 1.0, 7), (2, 1.0, 1),
                                                       (64, None, 7)])
def test_more_work_wakes_more_threads(pieces, expected, helpers):
    assert habits.helpers_for(pieces, 8, expected) == helpers


def ways_of(habit, alone, busy, elapsed, calls=400, count=2):
    """Return whether each call is shared if one thread takes `alone` seconds, and the sharing threads together `busy`
    and by the clock `elapsed`."""
    ways = []
    for _ in range(calls):
        ways.append(habit.helpers(64, count) > 0)
        habit.learn(busy if ways[-1] else alone, elapsed if ways[-1] else None)
    return ways


@pytest.mark.parametrize("alone, busy, elapsed, pays", [
    (1.0e-3, 1.6e-3, 1.1e-3, False),  # threads that take each other's time: much of theirs, none of the clock's
    (1.0e-3, 1.0e-3, 0.95e-3, False),  # who comes late
    (1.0e-3, 1.1e-3, 0.75e-3, True),
    (1.0e-3, 1.0e-3, 0.7e-3, True),
])
def test_calls_are_shared_where_the_clock_shows_less_than_on_one_thread(alone, busy, elapsed, pays):
    ways = ways_of(Habit(busy, elapsed), alone, busy, elapsed)
    assert ways[50:].count(pays) >= len(ways[50:]) - 3
    assert (not pays) in ways  # the other way was tried


def test_calls_that_threads_share_well_are_never_made_on_one():
    assert all(ways_of(Habit(8e-3, 1.4e-3), 8e-3, 9e-3, 1.4e-3, count=8))
    assert all(ways_of(Habit(0.5, 0.3), 0.5, 0.52, 0.3))


def test_what_pays_is_found_again_where_it_changes():
    habit = Habit(1e-3, 1.2e-3)
    ways_of(habit, 1e-3, 1.1e-3, 1.2e-3, 30)  # while another program runs
    assert ways_of(habit, 1e-3, 1.1e-3, 0.6e-3, 100)[-20:] == [True] * 20


def test_more_work_of_the_same_kind_is_no_reason_for_the_other_way():
    habit = Habit(1e-3, 0.6e-3)
    ways_of(habit, 1e-3, 1e-3, 0.6e-3)
    more = ways_of(habit, 4e-3, 4e-3, 2.4e-3, 50)
    assert more.count(True) >= 49


def test_one_long_call_among_others_changes_nothing():
    """As where the system gives the core to another program for a while."""
    habit = Habit(1e-3, 0.6e-3)
    ways_of(habit, 1e-3, 1e-3, 0.6e-3)
    habit.learn(1e-3, 20e-3)
    assert ways_of(habit, 1e-3, 1e-3, 0.6e-3, 40).count(True) >= 36


def test_who_comes_late_finds_no_piece_and_is_not_waited_for():
    pool, busy, go = Pool(2), threading.Event(), threading.Event()

    def blocks(start, stop):
        busy.set()
        assert go.wait(10.0)

    other = Work(blocks, [(0, 1)], ())
    pool._requests.put(other)  # the only helper has other work
    assert busy.wait(10.0)
    done = []
    pool.run(sleeping, 4, (0.0, done))
    assert {who for _, _, who in done} == {threading.get_ident()} and len(done) == 4
    go.set()
    other.lead()
    pool.end()


def test_who_comes_late_answers_for_nobody_else():
    """An unfinished piece keeps only its own caller waiting, although other threads have joined and found nothing to
    do."""
    took, go, done = threading.Event(), threading.Event(), []

    def piece(start, stop):
        if start == 0:
            took.set()
            assert go.wait(10.0)
        done.append(start)

    work = Work(piece, [(0, 1), (1, 2)], ())
    helper = threading.Thread(target=work.join)
    helper.start()
    assert took.wait(10.0)
    leader = threading.Thread(target=work.lead)
    leader.start()
    while len(done) < 1:
        time.sleep(0.001)
    late = threading.Thread(target=work.join)
    late.start()
    late.join()
    leader.join(0.1)
    assert leader.is_alive() and done == [1]
    go.set()
    leader.join(10.0)
    helper.join(10.0)
    assert done == [1, 0]


def test_what_a_helper_raises_reaches_the_one_who_asked():
    pool = Pool(2)

    def fails(start, stop):
        if threading.current_thread() is not threading.main_thread():
            raise ZeroDivisionError
        time.sleep(0.05)

    with pytest.raises(ZeroDivisionError):
        pool.run(fails, 2, ())
    pool.end()


@pytest.mark.parametrize("count, seconds", [(1, 0.0), (2, 0.0), (8, 0.0), (3, 2.0e-3)])
def test_a_stage_begins_once_all_before_it_are_done(monkeypatch, count, seconds):
    """Also where who waits falls asleep, as pieces take longer than anybody looks at a flag."""
    monkeypatch.setattr(habits, "WORTH_WAKING", 1e-9)
    pool, done, early = Pool(count), np.zeros((20, 6), bool), []

    def piece(start, stop, stage):
        if stage and not done[stage - 1].all():
            early.append(stage)
        time.sleep(seconds * start)
        done[stage, start:stop] = True

    for _ in range(5 if seconds else 50):
        done[:] = False
        pool.run_stages("test", 1, 6, (KernelStage(piece, 6, (k,)) for k in range(20)))
        assert done.all() and not early
    pool.end()


@pytest.mark.parametrize("count", [1, 2, 8])
def test_stages_that_are_no_longer_asked_for_are_not_begun(count):
    pool, done = Pool(count), []

    def stages():
        yield KernelStage(sleeping, 4, (0.0, done))
        if sum(stop - start for start, stop, _ in done) == 4:
            return
        yield KernelStage(sleeping, 4, (0.0, done))

    pool.run_stages("test", 1, 4, stages())
    assert sum(stop - start for start, stop, _ in done) == 4
    pool.end()


@pytest.mark.parametrize("count", [1, 2])
def test_what_a_stage_or_who_makes_them_raises_reaches_the_one_who_asked(count):
    pool, done = Pool(count), []

    def fails(start, stop):
        raise ZeroDivisionError

    def stages(second):
        yield KernelStage(sleeping, 4, (1e-3, done))
        if second is None:
            raise KeyError
        yield second
        done.append("more")
        yield KernelStage(sleeping, 4, (0.0, done))

    for second, failure in ((KernelStage(fails, 4, ()), ZeroDivisionError), (None, KeyError)):
        with pytest.raises(failure):
            pool.run_stages("test", 1, 4, stages(second))
    assert "more" not in done
    pool.end()


def test_a_forked_process_has_threads_of_its_own():
    said = subprocess.run([sys.executable, "-c", FORKED], cwd=ROOT, capture_output=True, text=True, timeout=60,
                          env=os.environ | {"PYTHON_CPU_COUNT": "4"})
    assert said.stdout.split() == ["2", "2"], said.stderr


FORKED = """
import os, threading, time
from solver import threads
def who(start, stop, seen):
    time.sleep(.05)
    seen.add(threading.get_ident())
def run():
    seen = set()
    threads.parallel_for(who, 2, seen)
    print(len(seen), flush=True)
threads.configure(4)
run()
if not os.fork():
    run()
    os._exit(0)
os.wait()
"""


@pytest.mark.parametrize("pieces, sharers, least", [(1, 2, 1), (64, 2, 1), (64, 8, 4), (7, 32, 1), (1000, 3, 100)])
def test_portions_hold_each_piece_once_and_get_smaller(pieces, sharers, least):
    found = portions(pieces, sharers, least)
    assert [piece for start, stop in found for piece in range(start, stop)] == list(range(pieces))
    sizes = [stop - start for start, stop in found]
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes[:-1], default=pieces) >= min(least, pieces) and max(sizes) <= max(least, pieces / sharers)


def test_a_record_has_every_piece_once_and_its_time():
    record, done = PieceTimes(most=4), []
    record.run(sleeping, 8, (0.0, done))
    assert [(start, stop) for start, stop, _ in done] == [(0, 2), (2, 4), (4, 6), (6, 8)]
    [call] = record.calls
    assert call.kernel == "sleeping" and len(call.pieces) == 4 and call.size == 0
    assert 0.0 <= sum(call.pieces) <= call.ended - call.started_at + 1e-6


def test_a_record_knows_what_stages_follow_each_other():
    record, done = PieceTimes(), []
    stages = [KernelStage(sleeping, 8, (0.0, done)), KernelStage(sleeping, 2, (0.0, done), lambda: 64)]
    record.run_stages("test", 1, 8, iter(stages))
    assert [(len(call.pieces), call.size, call.follows) for call in record.calls] == [(8, 0, False), (2, 64, True)]


def test_the_share_of_the_interpreter_is_that_of_pythons_lock():
    def seen(busy):
        with Interpreter() as looking:
            until = time.perf_counter() + 0.3
            while time.perf_counter() < until:
                busy()
        return looking.fraction

    matrix = np.ones((300, 300))
    assert seen(lambda: None) > 0.95
    assert seen(lambda: time.sleep(0.05)) < 0.1
    assert seen(lambda: matrix @ matrix) < 0.3  # numpy lets go of it where it multiplies


@pytest.mark.parametrize("counts", [(1, 2, 32), pytest.param((1, 8), marks=pytest.mark.long)])
def test_the_bytes_do_not_depend_on_the_number_of_threads(tmp_path, monkeypatch, counts):
    """Balls that push each other and the floor, with more threads than there are cores, all of which take part."""
    monkeypatch.setenv("PYTHON_CPU_COUNT", "32")
    monkeypatch.setattr(habits, "WORTH_WAKING", 1e-9)
    monkeypatch.setattr(habits, "GAINS", np.inf)
    ends = set()
    try:
        for count in counts:
            assert threads.configure(count) == count
            part = touching.balls_in_a_box(tmp_path / str(count), 10, 4, 1 / 96)
            state = part.initial_state()
            for _ in range(4):
                state = part.step(state, 1 / 96)
            ends.add(state.q.tobytes() + state.u.tobytes())
            x = part.coordinates.positions(state.q, state.time)
            assert len(part.contacts[0].find_active_pairs(x).nodes) > 100
    finally:
        monkeypatch.undo()
        threads.configure(None)
    assert len(ends) == 1
