"""Loads the repository root as the package `conjac`, whatever the clone's folder is called, as Blender would; and what
the workers of one run share: kernels that are compiled before they start, and answers that are worked out once."""

import fcntl
import gc
import importlib.util
import os
import pathlib
import subprocess
import sys

from solver import threads  # isort: skip  # before numpy: its BLAS reads what that sets

import compile_kernels
import numpy as np
import pytest
import rewritten_asserts

ROOT = pathlib.Path(__file__).resolve().parents[1]
IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ

if "conjac" not in sys.modules:
    place = {"location": ROOT / "__init__.py", "submodule_search_locations": [str(ROOT)]}
    spec = importlib.util.spec_from_file_location("conjac", **place)
    package = importlib.util.module_from_spec(spec)
    sys.modules["conjac"] = package
    spec.loader.exec_module(package)


def pytest_configure(config):
    """Compile all kernels and test files before workers start, which would each compile the same ones and wait for one
    another."""
    workers = getattr(config.option, "numprocesses", None)
    if IS_WORKER or not workers or config.option.collectonly:
        return
    # from both ends: what one has compiled the other finds on disk
    halves = [] if compile_kernels.compiled().exists() else [
        subprocess.Popen([sys.executable, compile_kernels.__file__, step]) for step in ("1", "-1")]
    rewritten_asserts.write(config, [pathlib.Path(place.partition("::")[0]).absolute() for place in config.args])
    failed = [half.wait() for half in halves]
    if any(failed):
        raise pytest.UsageError("the kernels cannot be compiled: see above")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Keep the garbage collector from walking through modules and tests, which stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Let Python cache pytest's compiled test files: bpy disables bytecode, so every run would compile them again."""
    forbidden, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = forbidden or sys.dont_write_bytecode


@pytest.fixture(autouse=True)
def _one_thread_a_worker():
    """Workers share the cores already. Tests of threads set two."""
    if IS_WORKER:
        threads.configure(1)


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """A folder of this run, the same one for all its workers."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if IS_WORKER else base) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def once(shared):
    """once(name, make): the array returned by make(), computed once per run by the first caller."""
    known = {}

    def of(name, make):
        if name not in known:
            path = shared / f"{name}.npy"
            with open(shared / f"{name}.lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not path.exists():
                    np.save(path, make())
            known[name] = np.load(path)
            known[name].flags.writeable = False
        return known[name]

    return of


@pytest.fixture(scope="session")
def built_examples(shared):
    """built_examples(names): a folder with these examples, each built once per run, those of one call together."""
    folder = shared / "examples"

    def of(names):
        with open(shared / "examples.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            folder.mkdir(exist_ok=True)
            if lacking := [name for name in names if not (folder / f"{name}.blend").exists()]:
                subprocess.run([sys.executable, "-m", "examples_blend.build", *lacking, "--folder", str(folder)],
                               cwd=ROOT, check=True, capture_output=True)
        return folder

    return of
