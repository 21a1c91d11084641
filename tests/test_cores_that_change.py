"""A bake in a control group of half a core, one whose cores change meanwhile, and numbers of threads nobody has."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.scenes import touching

ROOT = Path(__file__).resolve().parents[1]
GROUPS = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
FRAMES = 2


@pytest.fixture
def half_a_core():
    """A folder of a group of this test that has half a core, and a function that gives it so many."""
    parent = next((folder for folder in GROUPS if (folder / "cgroup.procs").exists()), None)
    group = None if parent is None else parent / f"conjac-test-{os.getpid()}"
    try:
        group.mkdir()
    except (AttributeError, OSError):
        pytest.skip("no control group can be made here")

    def give(cores):
        if (group / "cpu.max").exists():
            (group / "cpu.max").write_text(f"{int(1e5 * cores)} 100000")
        else:
            (group / "cpu.cfs_quota_us").write_text(str(int(1e5 * cores)))

    try:
        give(0.5)
        yield group, give
    except OSError:
        pytest.skip("groups have no quota here")
    finally:
        group.rmdir()


def job(folder):
    touching.balls_in_a_box(folder, 4, 4, 1 / 96)
    return folder


def started(folder, group=None, *more, **environment):
    def join():
        (group / "cgroup.procs").write_text(str(os.getpid()))

    return subprocess.Popen([sys.executable, "-m", "solver", "bake", str(folder), "--frames", f"1-{1 + FRAMES}", *more],
                            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=os.environ | environment, preexec_fn=None if group is None else join)


def frames(folder):
    found = [path.read_bytes() for path in sorted(folder.rglob("frames/*.npy"))]
    assert len(found) == 1 + FRAMES
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Frames of an undisturbed bake."""
    folder = job(tmp_path_factory.mktemp("whole") / "job")
    said, _ = (one := started(folder)).communicate(timeout=120)
    assert one.returncode == 0, said
    return frames(folder)


def test_a_bake_in_half_a_core_takes_one_thread_and_gives_the_same_bytes(half_a_core, tmp_path, whole):
    group, _ = half_a_core
    asked = "from solver import threads; print(threads.configure(None), threads.configure(8))"
    counted = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True,
                             preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
    assert counted.stdout.split() == ["1", "1"], counted.stderr
    folder = job(tmp_path / "job")
    said, _ = (one := started(folder, group)).communicate(timeout=240)
    assert one.returncode == 0, said
    assert frames(folder) == whole


@pytest.mark.long
def test_cores_that_come_and_go_while_it_bakes_change_no_byte(half_a_core, tmp_path, whole):
    """Its share of processor time, and which cores it is bound to, with more threads than either."""
    group, give = half_a_core
    folder = job(tmp_path / "job")
    one = started(folder, group, "--threads", "4", PYTHON_CPU_COUNT="4")
    cores, turn = sorted(os.sched_getaffinity(0)), 0
    while one.poll() is None:
        turn += 1
        give(2.0 if turn % 2 else 0.5)
        try:
            os.sched_setaffinity(one.pid, {cores[turn % len(cores)]} if turn % 3 else cores)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    assert one.wait(timeout=60) == 0, one.stdout.read()
    assert turn > 3 and frames(folder) == whole


def test_ten_thousand_threads_are_as_many_as_there_are(tmp_path, whole):
    folder = job(tmp_path / "job")
    said, _ = (one := started(folder, None, "--threads", "10000")).communicate(timeout=120)
    assert one.returncode == 0 and frames(folder) == whole, said


@pytest.mark.parametrize("count", ["0", "-1", "1.5", "all"])
def test_numbers_that_are_none_are_refused_in_a_sentence(tmp_path, count):
    said, _ = (one := started(tmp_path, None, f"--threads={count}")).communicate(timeout=60)
    assert one.returncode == 2
    assert f'"{count}" is not a number from 1 on' in said
