"""Where kernels are kept and who may use threads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from solver import threads

ROOT = Path(__file__).resolve().parents[1]


def test_kernels_go_to_a_writable_folder_named_by_the_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    first = threads.kernel_folder()
    assert first.is_dir() and first.parent == tmp_path / "home/conjac" and first == threads.kernel_folder()
    monkeypatch.setattr(threads, "_sources_hash", lambda: "other")
    assert threads.kernel_folder().name != first.name


def test_an_unwritable_cache_falls_back_to_the_temporary_folder(tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    monkeypatch.setattr(threads.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    assert threads.kernel_folder().parent == tmp_path / "tmp/conjac"
    # another user's folder stands there
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/conjac").write_text("")
    monkeypatch.setattr(threads.tempfile, "gettempdir", lambda: str(tmp_path / "shared"))
    last = threads.kernel_folder()
    assert last.is_dir() and last.parent == tmp_path / "shared" and last.name.startswith("conjac-kernels-")


def test_an_edited_kernel_or_what_it_imports_makes_another_folder(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "plain.py").write_text("a = 1")
    (tmp_path / "algebra.py").write_text("from .deep.lanes import LANES")
    (tmp_path / "deep/lanes.py").write_text("LANES = 8")
    (tmp_path / "deep/kernels.py").write_text("from ..threads import kernel\nfrom ..algebra import dot\n")
    hashes = [threads._sources_hash(tmp_path)]
    (tmp_path / "deep/lanes.py").write_text("LANES = 4")
    hashes.append(threads._sources_hash(tmp_path))
    with (tmp_path / "deep/kernels.py").open("a") as file:
        file.write("b = 2")
    hashes.append(threads._sources_hash(tmp_path))
    assert len(set(hashes)) == 3
    # a bake after an update that changes no kernel does not wait for the compiler
    (tmp_path / "plain.py").write_text("a = 2")
    assert threads._sources_hash(tmp_path) == hashes[-1]


def test_every_compiled_file_is_a_kernel_source():
    compiled = {path for path in (ROOT / "solver").rglob("*.py")
                if "numba.njit" in (text := path.read_text()) or "@kernel" in text or "@inlined" in text}
    assert compiled <= {*threads._kernel_sources(ROOT / "solver")}


LOAD = """
import sys
from solver import catalogue, threads
import solver.world.build
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
    assert (ran.returncode, ran.stdout) == (0, "[]\n"), ran.stderr


SMALL = """
from solver.threads import kernel
@kernel("f8(f8)")
def twice(x):
    return 2.0 * x
"""


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 20])
def test_a_torn_file_of_the_cache_is_made_anew(tmp_path, kind, left):
    """The bake that meets it compiles without the cache; the one after fills the cache again."""
    (tmp_path / "small.py").write_text(SMALL)

    def run() -> list[str]:
        told = "import small; print(small.twice(2.0), sum(small.twice.stats.cache_hits.values()))"
        ran = subprocess.run([sys.executable, "-c", told], cwd=tmp_path, capture_output=True, text=True,
                             env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": str(ROOT)})
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.split()

    assert [run(), run()] == [["4.0", "0"], ["4.0", "1"]]
    [path] = (tmp_path / "kernels").glob(f"*/*.{kind}")
    path.write_bytes(path.read_bytes()[:left])
    assert [run(), run(), run()] == [["4.0", "0"], ["4.0", "0"], ["4.0", "1"]]


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
        threads.share(lambda start, stop, into: into.extend(range(start, stop)), pieces, done)
        assert sorted(done) == list(range(pieces))

        def fails(start, stop):
            raise ZeroDivisionError

        if pieces:
            with pytest.raises(ZeroDivisionError):
                threads.share(fails, pieces)
    finally:
        monkeypatch.undo()
        threads.configure(None)


CHOLMOD = """
from solver import threads
import os
import numpy as np
import scipy.sparse as sp
from solver.linear.cholmod import Cholmod
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
