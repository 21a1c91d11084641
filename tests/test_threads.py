"""Folder of compiled kernels, and use of threads."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from matrix import crossed
from small_jobs import box_job

from solver import threads

ROOT = Path(__file__).resolve().parents[1]


def test_kernels_go_to_a_writable_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    first = threads.kernel_folder()
    assert first.is_dir() and first.parent == tmp_path / "home/conjac" and first == threads.kernel_folder()


def test_an_unwritable_cache_falls_back_to_the_temporary_folder(tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    monkeypatch.setattr(threads.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    own = f"conjac-{os.geteuid()}"
    assert threads.kernel_folder().parent == tmp_path / "tmp" / own
    # something else stands there
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / own).write_text("")
    monkeypatch.setattr(threads.tempfile, "gettempdir", lambda: str(tmp_path / "shared"))
    monkeypatch.setattr(threads, "_no_folder", [])
    last = threads.kernel_folder()
    assert last.is_dir() and last.parent == tmp_path / "shared" and last.name.startswith("conjac-kernels-")
    assert len(threads.cache_notes()) == 1 and "every bake compiles the kernels again" in threads.cache_notes()[0]


def test_a_user_without_a_home_keeps_kernels_in_the_temporary_folder(tmp_path, monkeypatch):
    """A farm may run a container as a user that has no entry and no HOME."""
    pwd = pytest.importorskip("pwd")

    def nobody(uid):
        raise KeyError(uid)

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads.tempfile, "gettempdir", lambda: str(tmp_path))
    assert threads.kernel_folder().parent.parent == tmp_path


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files to others")
@pytest.mark.parametrize("of", ["the folder", "the folder around it", "both, through a link"])
def test_kernels_that_another_user_left_are_not_run(tmp_path, monkeypatch, of):
    """numba unpickles them, so anyone who may write there could run code here."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(threads.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    for place in (tmp_path / "home/conjac", tmp_path / "tmp" / f"conjac-{os.geteuid()}", tmp_path / "tmp/conjac"):
        name = threads.KERNELS_FOLDER
        (place / name).mkdir(parents=True)
        if of == "the folder":
            os.chown(place / name, 12345, 12345)
        elif of == "the folder around it":
            os.chown(place, 12345, 12345)
        else:
            theirs = place.rename(place.with_name(f"{place.name}-theirs"))
            os.chown(theirs, 12345, 12345)
            place.symlink_to(theirs, target_is_directory=True)
    found = threads.kernel_folder()
    assert found.name.startswith("conjac-kernels-") and found.stat().st_uid == os.geteuid()
    assert found.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are POSIX's")
def test_the_folder_is_closed_to_others(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    before = os.umask(0)
    try:
        found = threads.kernel_folder()
        assert [path.stat().st_mode & 0o777 for path in (found, found.parent)] == [0o700, 0o700]
        # one that was open to others is closed, and what they may have put there is not run
        found.chmod(0o777)
        (found / "kernel.nbi").write_bytes(b"theirs")
        assert threads.kernel_folder() == found and found.stat().st_mode & 0o777 == 0o700
        assert not (found / "kernel.nbi").exists()
    finally:
        os.umask(before)


def test_modules_of_a_job_are_not_imported(tmp_path):
    """`cd JOB; python -m solver bake .`: a numpy.py in the job, or a json.py, is the job's and stays a file."""
    job = box_job(tmp_path / "job", end=3)
    for name in ("numpy", "json", "msgspec", "argparse", "numba"):
        (job / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').write({name!r})\n")
    ran = subprocess.run([sys.executable, "-m", "solver", "bake", "."], cwd=job, capture_output=True, text=True,
                         env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert ran.returncode == 0, ran.stderr
    assert not (tmp_path / "ran").exists()


def test_the_hash_of_all_sources_knows_an_edited_kernel_and_what_it_imports(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "plain.py").write_text("a = 1")
    (tmp_path / "algebra.py").write_text("from .deep.lanes import LANES")
    (tmp_path / "deep/lanes.py").write_text("LANES = 8")
    (tmp_path / "deep/kernels.py").write_text("from ..threads import kernel\nfrom ..algebra import dot\n")
    hashes = [threads.sources_hash(tmp_path)]
    (tmp_path / "deep/lanes.py").write_text("LANES = 4")
    hashes.append(threads.sources_hash(tmp_path))
    with (tmp_path / "deep/kernels.py").open("a") as file:
        file.write("b = 2")
    hashes.append(threads.sources_hash(tmp_path))
    assert len(set(hashes)) == 3
    # the first bake after an update that changes no kernel starts no second process
    (tmp_path / "plain.py").write_text("a = 2")
    assert threads.sources_hash(tmp_path) == hashes[-1]


def test_every_compiled_file_is_a_kernel_source():
    compiled = {path for path in (ROOT / "solver").rglob("*.py")
                if re.search(r"^\s*@(numba\.njit|kernel|inline)\b", path.read_text(), re.MULTILINE)}
    assert len(compiled) > 30
    assert compiled <= {*threads._kernel_sources(ROOT / "solver")}


LOAD = """
import sys
from solver import catalogue, threads
import solver.build.world
for name in ("material", "damping", "linear_solver"):
    for entry in catalogue.family(name).values():
        entry.load()
kernels = {f"{module}.{name}": kernel for module in [*sys.modules] if module.startswith("solver.")
           for name, kernel in vars(sys.modules[module]).items()
           if getattr(getattr(kernel, "stats", None), "cache_path", None)}
assert len(kernels) >= 10, sorted(kernels)
print(sorted(name for name, kernel in kernels.items() if sum(kernel.stats.cache_misses.values())))
"""


def test_the_next_process_compiles_nothing():
    """Each kernel that the first process had to compile is found on disk by the second."""
    for _ in range(2):
        ran = subprocess.run([sys.executable, "-c", LOAD], cwd=ROOT, capture_output=True, text=True)
        if ran.stdout == "[]\n":
            break  # who compiled them was the first process
    assert (ran.returncode, ran.stdout) == (0, "[]\n"), ran.stderr


@threads.kernel("f8[::1](i8)")
def _counted_up(count):
    out = np.empty(count)
    for i in range(count):
        out[i] = i
    return out


@threads.inline
def _twice_in(values, i):
    room = np.full(3, values[i])
    return room[0] + room[1]


@threads.kernel("f8(f8[::1])")
def _total(values):
    total = 0.0
    for i in range(values.shape[0]):
        total += math.sqrt(values[i] * values[i])
    return total


@threads.kernel("f8(i8)")
def _total_of_made(count):
    return _total(_counted_up(count))


@threads.kernel("f8(f8[::1])")
def _total_of_twice(values):
    total = 0.0
    for i in range(values.shape[0]):
        total += _twice_in(values, i)
    return total


def test_kernels_that_are_given_arrays_let_go_of_them_and_others_count_none():
    counting = [one.targetoptions["_nrt"] for one in (_counted_up, _twice_in, _total, _total_of_made, _total_of_twice)]
    assert counting == [True, True, False, True, True]
    memory = numba.core.runtime.rtsys
    numba.core.runtime._nrt_python.memsys_enable_stats()
    try:
        before = memory.get_allocation_stats()
        assert sum(_total_of_made(count) for count in range(200)) == sum(k * (k - 1) // 2 for k in range(200))
        assert _total_of_twice(np.ones(100)) == 200.0 and _total(np.full(7, -2.0)) == 14.0
        after = memory.get_allocation_stats()
    finally:
        numba.core.runtime._nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc >= 300
    assert after.alloc - before.alloc == after.free - before.free


SMALL = """
from solver.threads import kernel
@kernel("f8(f8)")
def twice(x):
    return 2.0 * x
"""


#: runs the module `small` in a fork for each line of its standard input: a process that has nothing of it in memory
FORKING = """
import os, sys
import numba
from solver import threads
for line in sys.stdin:
    if not os.fork():
        import small
        print(small.twice(2.0), sum(small.twice.stats.cache_hits.values()), len(threads.cache_notes()), flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def small_kernel(tmp_path_factory):
    """Return from a new process with a kernel of its own: the kernel's answer, how often the cache had it, and how
    many sentences are told; and the folder of the cache, which has it."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.py").write_text(SMALL)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "kernels"), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", FORKING], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, env=environment) as forking:
        def run() -> list[str]:
            forking.stdin.write("\n")
            forking.stdin.flush()
            return forking.stdout.readline().split()

        assert [run(), run()] == [["4.0", "0", "0"], ["4.0", "1", "0"]]
        yield run, folder / "kernels"
        forking.stdin.close()


@pytest.mark.parametrize("kind, left", crossed(["nbi", "nbc"], [0, 20]))
def test_a_torn_file_of_the_cache_is_made_anew(small_kernel, kind, left):
    """The bake that meets it compiles without the cache and says so; the one after fills the cache again."""
    run, folder = small_kernel
    [path] = folder.glob(f"*.{kind}")
    path.write_bytes(path.read_bytes()[:left])
    assert [run(), run(), run()] == [["4.0", "0", "1"], ["4.0", "0", "0"], ["4.0", "1", "0"]]


def test_threads_asked_for_are_capped_by_the_machine():
    try:
        assert threads.configure(1) == 1
        most = threads.configure(10_000)
        assert threads.configure(None) == threads.configure(0) == most <= (os.cpu_count() or 1)
    finally:
        threads.configure(None)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("pieces", [0, 1, 2, 5, 64])
def test_each_piece_of_shared_work_is_done_once(count, pieces, monkeypatch):
    """By one kernel or another, in the thread that is free; what a kernel raises reaches the caller."""
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _pid: range(count), raising=False)
    try:
        assert threads.configure(None) == count
        done = []
        threads.parallel_for(lambda start, stop, into: into.extend(range(start, stop)), pieces, done)
        assert sorted(done) == list(range(pieces))

        def fails(start, stop):
            raise ZeroDivisionError

        if pieces:
            with pytest.raises(ZeroDivisionError):
                threads.parallel_for(fails, pieces)
    finally:
        monkeypatch.undo()
        threads.configure(None)


CHOLMOD = """
from solver import threads
import os
import numpy as np
import scipy.sparse as sp
from solver.linear.cholesky.cholmod import Cholmod
n = 12
grid = sp.kronsum(sp.kronsum(sp.diags([-1, 2.1, -1], [-1, 0, 1], (n, n)), sp.eye(n)), sp.eye(n)).tocsc()
solver = Cholmod()
solver.analyse(sp.tril(grid).tocsc(), 0)
solver.factor(sp.tril(grid).tocsc())
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads in /proc")
def test_cholmod_opens_no_threads_of_its_own():
    ran = subprocess.run([sys.executable, "-c", CHOLMOD], cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "1\n"), ran.stdout + ran.stderr
