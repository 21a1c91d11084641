"""The first bake on a fresh install: two processes compile, and a bake succeeds without the second one, too."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import linked_kernels
import pytest
from small_jobs import box_job

from solver import catalogue
from solver.frames.read import Cache

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="children are found in /proc")


def first_bake(folder: Path, *arguments: str) -> subprocess.Popen:
    """Start a bake of two frames with nothing compiled yet."""
    job = folder / "job" if (folder / "job").exists() else box_job(folder / "job", end=2)
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "fresh")}
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.Popen([sys.executable, "-m", "solver", "bake", str(job), "--json", *arguments], cwd=ROOT,
                            text=True, encoding="utf-8", env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def until_it_compiles(process: subprocess.Popen) -> None:
    for line in process.stdout:
        if json.loads(line).get("text", "").startswith("Compiling"):
            return
    raise AssertionError(process.stderr.read())


def children(pid: int) -> list[int]:
    processes = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid and state != "Z":
            processes.append(int(stat.parent.name))
    return processes


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


#: a kernel that the first process compiles, and two of the second
LACKING = ("locate._search", "stable_neo_hookean._energy", "stable_neo_hookean._stress")


@pytest.fixture(scope="module",
                params=["little is missing", pytest.param("nothing is compiled", marks=pytest.mark.long)])
def bakes(request, tmp_path_factory):
    """Return a folder where a job was baked twice, the first time with kernels missing, and (exit code, errors, events,
    frames on disk) of both bakes."""
    folder, runs = tmp_path_factory.mktemp("bakes"), []
    if request.param == "little is missing":
        linked_kernels.give(folder / "fresh", without=LACKING)
    for _ in range(2):
        process = first_bake(folder)
        output, errors = process.communicate(timeout=300)
        runs.append((process.returncode, errors, [json.loads(line) for line in output.splitlines()],
                     Cache(folder / "job/cache").frames_done()))
        for frame in (folder / "job/cache").glob("frames/*"):
            frame.unlink()
    return folder, runs


def test_the_second_process_says_nothing_and_the_next_bake_has_none(bakes):
    for compiles, (code, errors, events, frames) in zip((True, False), bakes[1]):
        assert (code, errors) == (0, "") and events[-1]["event"] == "end"
        assert any(event.get("text", "").startswith("Compiling") for event in events) == compiles
        assert not any("second process" in event.get("text", "") for event in events)
        assert frames == [1, 2]


def test_kernels_of_a_helper_that_was_killed_are_compiled_by_the_bake(bakes, tmp_path):
    """Only kernels of the sparse factor are missing, which the helper compiles, and there was no bake before."""
    shutil.copytree(bakes[0] / "fresh", tmp_path / "fresh")
    lost = [*(tmp_path / "fresh").rglob("supernodal.backward_*"), *(tmp_path / "fresh").rglob("loaded-*")]
    assert len(lost) > 4
    for path in lost:
        path.unlink()
    process = first_bake(tmp_path)
    until_it_compiles(process)
    [second] = children(process.pid)
    deadline = time.monotonic() + 60.0
    while not any((tmp_path / "fresh").rglob("supernodal.backward_*.nbc")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(second, signal.SIGKILL)  # one of its kernels is on disk, the next one is incomplete
    output, errors = process.communicate(timeout=300)
    logs = [event["text"] for event in map(json.loads, output.splitlines()) if event["event"] == "log"]
    assert (process.returncode, errors) == (0, "")
    assert sum("second process that compiles ended with code -9" in text for text in logs) == 1
    assert Cache(tmp_path / "job/cache").verify() == [] and Cache(tmp_path / "job/cache").frames_done() == [1, 2]


def test_it_does_not_outlive_the_bake(tmp_path):
    process = first_bake(tmp_path)
    until_it_compiles(process)
    [second] = children(process.pid)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 30.0
    while runs(second) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not runs(second)


def test_a_bake_on_one_thread_keeps_to_one_process(tmp_path):
    process = first_bake(tmp_path, "--threads", "1")
    until_it_compiles(process)
    alone = children(process.pid) == []
    process.kill()
    process.communicate()
    assert alone


def test_a_bake_that_leaves_a_core_to_the_window_compiles_on_both(tmp_path, monkeypatch):
    """Blender's window asks for a core, and on two of them the first bake took twice as long to compile."""
    monkeypatch.setenv("PYTHON_CPU_COUNT", "2")
    process = first_bake(tmp_path, "--cores-left-free", "1")
    until_it_compiles(process)
    beside = children(process.pid)
    process.kill()
    process.communicate()
    assert len(beside) == 1


LOAD = """
import importlib, os, sys
import numba, scipy.sparse  # for both shares at once
from solver import catalogue, threads
from solver.build import loading
for share in sys.argv[1:]:
    if os.fork():
        os.wait()
        continue
    exec(share)
    print(*sorted(f"{module}.{name}" for module in [*sys.modules] if module.startswith("solver.")
                  for name, kernel in vars(sys.modules[module]).items()
                  if getattr(getattr(kernel, "stats", None), "cache_path", None) and kernel.__module__ == module))
    break
"""


def test_no_kernel_is_compiled_by_both():
    """Modules that both processes import would compile twice, side by side, and save nothing."""
    methods = [(entry.family, entry.key) for family in ("method", "integrator")
               for entry in catalogue.family(family).values() if not entry.able("draft")]
    materials = [(name, key) for name in ("material", "fiber_material") for key in catalogue.family(name)]
    modules = ("solver.build.world", "solver.forces.fiber_kernels")
    codes = [f"loading.load_kernels({materials!r}, 'auto')",
             f"[importlib.import_module(name) for name in {modules!r}]; "
             f"[catalogue.find(*one).load() for one in {methods!r}]"]
    ran = subprocess.run([sys.executable, "-c", LOAD, *codes], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0 and not ran.stderr, ran.stderr
    kernels = [set(line.split()) for line in ran.stdout.splitlines()]
    assert len(kernels) == 2 and min(map(len, kernels)) >= 5 and not kernels[0] & kernels[1]
