"""A kernel is compiled again after a change of anything that it depends on, wherever that is, and only then."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from solver import kernel_cache, threads

ROOT = Path(__file__).resolve().parents[1]
DAY = 24 * kernel_cache.HOUR

FILES = {
    "pack/__init__.py": "",
    "pack/deep/__init__.py": "",
    "pack/deep/lanes.py": "LANES = 8\n",
    "pack/algebra.py": """
from solver.threads import inline
from .deep.lanes import LANES
@inline
def wide(x):
    return x * LANES
@inline
def narrow(x):
    return x + 1.0
""",
    "pack/kernels.py": """
from solver.threads import kernel
from .algebra import narrow, wide
@kernel("f8(f8)")
def inner(x):
    return wide(x)
@kernel("f8(f8)")
def outer(x):
    return inner(x) + 0.5
@kernel("f8(f8)")
def alone(x):
    return narrow(x)
""",
}

#: for each folder of its standard input: a fork, which has nothing of it in memory, runs the kernels that stand there
FORKING = """
import json, os, sys
import numba
from solver import kernel_cache, threads
for line in sys.stdin:
    if not os.fork():
        sys.path.insert(0, line.strip())
        from pack import kernels
        ran = {name: getattr(kernels, name) for name in ("inner", "outer", "alone")}
        print(json.dumps([{name: one(1.0) for name, one in ran.items()},
                          [name for name, one in ran.items() if sum(one.stats.cache_misses.values())],
                          threads.cache_notes()]), flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def forking(kept):
    """Run a folder's kernels in a new process: (results, compiled kernels)."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(kept), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen([sys.executable, "-c", FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=environment) as process:
        def run(folder):
            process.stdin.write(f"{folder}\n")
            process.stdin.flush()
            given, compiled, told = json.loads(process.stdout.readline())
            assert told == []
            return given, compiled

        yield run
        process.stdin.close()


@pytest.fixture(scope="module")
def clone(forking, tmp_path_factory):
    """A folder with kernels that are compiled."""
    folder = tmp_path_factory.mktemp("clone")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    assert forking(folder) == ({"inner": 8.0, "outer": 8.5, "alone": 2.0}, ["inner", "outer", "alone"])
    return folder


def edited(clone, folder, **texts):
    """A clone beside it in which (file, old, new) is replaced."""
    shutil.copytree(clone, folder)
    for file, (old, new) in texts.items():
        path = folder / "pack" / f"{file.replace('__', '/')}.py"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    return folder


def test_another_clone_of_the_same_text_compiles_nothing(clone, forking, tmp_path):
    assert forking(clone)[1] == []
    assert forking(edited(clone, tmp_path / "other")) == ({"inner": 8.0, "outer": 8.5, "alone": 2.0}, [])


def test_words_about_a_kernel_and_where_it_stands_are_not_compiled(clone, forking, tmp_path):
    folder = edited(clone, tmp_path / "other", kernels=("def inner(x):", "def inner(x):\n    # why\n\n    'what'"))
    assert forking(folder) == ({"inner": 8.0, "outer": 8.5, "alone": 2.0}, [])


def test_a_constant_of_a_file_that_a_helper_imports_reaches_all_who_call_it(clone, forking, tmp_path):
    """numba alone would go on with 8: neither the helper's file nor the kernels' has changed."""
    folder = edited(clone, tmp_path / "other", deep__lanes=("8", "4"))
    assert forking(folder) == ({"inner": 4.0, "outer": 4.5, "alone": 2.0}, ["inner", "outer"])
    assert forking(folder)[1] == [] and forking(clone) == ({"inner": 8.0, "outer": 8.5, "alone": 2.0}, [])


def test_an_edited_helper_of_another_file_reaches_its_callers_alone(clone, forking, tmp_path):
    folder = edited(clone, tmp_path / "other", algebra=("x + 1.0", "x + 2.0"))
    assert forking(folder) == ({"inner": 8.0, "outer": 8.5, "alone": 3.0}, ["alone"])


def test_an_edited_kernel_reaches_the_kernels_that_call_it(clone, forking, tmp_path):
    folder = edited(clone, tmp_path / "other", kernels=("return wide(x)", "return wide(x) + 1.0"))
    assert forking(folder) == ({"inner": 9.0, "outer": 9.5, "alone": 2.0}, ["inner", "outer"])


def test_options_and_defaults_are_part_of_what_it_is_made_of():
    def plain(x, factor=2.0):
        return x * factor

    names = {kernel_cache.key_of(plain, {"fastmath": {"contract"}}),
             kernel_cache.key_of(plain, {"fastmath": {"contract", "reassoc"}})}
    assert kernel_cache.key_of(plain, {"fastmath": {"contract"}}) in names
    plain.__defaults__ = (3.0,)
    assert len(names | {kernel_cache.key_of(plain, {"fastmath": {"contract"}})}) == 3


def not_compiled(x):
    return x


SETTINGS = {"a": 1}


@pytest.mark.parametrize("body", ["threads.count()", "SETTINGS", "not_compiled(x)"])
def test_what_cannot_be_looked_into_is_refused(body):
    """A module of ours, a dict, a Python function: a change inside of them would go unnoticed."""
    with pytest.raises(TypeError, match="would not be noticed"):
        threads.kernel("f8(f8)")(eval(f"lambda x: {body}", globals()))


def file_of(folder, name, days, now):
    for ending in ("nbi", "1.nbc"):
        path = folder / f"{name}.py311.{ending}"
        path.write_bytes(b"")
        os.utime(path, (now - days * DAY,) * 2)


def test_versions_that_nobody_uses_any_more_go(tmp_path):
    folder, now = tmp_path / threads.KERNELS_FOLDER, time.time()
    folder.mkdir()
    for age in range(12):
        file_of(folder, f"kernels.twice-{age:024x}", age, now)
    file_of(folder, f"kernels.other-{0:024x}", 59, now)
    file_of(folder, f"kernels.old-{0:024x}", 61, now)
    for mark in range(20):
        (folder / f"loaded-{mark}").touch()
    (tmp_path / "kernels-cpython-311-0123456789abcdef").mkdir()  # before kernels had names of their own
    os.utime(tmp_path / "kernels-cpython-311-0123456789abcdef", (now - 61 * DAY,) * 2)
    kernel_cache.clean(folder, now)
    left = {path.name.partition(".py")[0] for path in folder.iterdir() if not path.name.startswith("loaded-")}
    assert left == {*(f"kernels.twice-{age:024x}" for age in range(kernel_cache.MOST)), f"kernels.other-{0:024x}"}
    assert len([*folder.glob("loaded-*")]) == 20 and [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_what_is_used_counts_as_used(clone, forking, kept):
    """A kernel that is only ever loaded is as old as its last use."""
    for path in kept.glob("*.nbi"):
        os.utime(path, (time.time() - 61 * DAY,) * 2)
    forking(clone)
    kernel_cache.clean(kept, time.time())
    assert forking(clone)[1] == []
