"""Import of all modules that a scene needs; before a first bake a second process compiles some of their kernels.

A kernel compiles when its module is imported, thirteen seconds for all of them, and numba lets one thread of a process
compile at a time. So the kernels of what the scene chose from the catalogue (materials, the linear solver) compile in a
process of their own, into the cache on disk, while this one compiles those that every scene needs. The second process
only saves time: where it does not start or fails, its kernels compile here.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

from .. import catalogue, kernel_archive, threads
from ..job.folder import parameters
from ..job.kinds import kind_of
from ..job.schema import Scene
from .load_progress import LoadProgress

POLL_SECONDS = 0.25  #: [s] between two reports of the progress
#: what choosing a linear solver loads
FACTOR = ("linear.cholesky.supernodal", "linear.cholesky.multifrontal_kernels")
MOST_REPORTED = 0.99  #: of a percentage, while something is still loading


class Loading:
    """Import of all modules that a scene needs, in a thread, so that meshing goes on at the same time."""

    def __init__(self, scene: Scene, cores: int) -> None:
        """cores: number of cores that this bake may use; with a single one there is no second process."""
        self._scene = scene
        chosen = {choice for body in scene.bodies for choice in kind_of(body).choices}
        chosen |= {("fiber_material", body.fiber_material.kind) for body in scene.bodies if body.fiber_material}
        self._methods = [scene.method_of(body) for body in scene.bodies]
        self._choices = (sorted(chosen), scene.linear_solver)
        self._joints = sorted({joint.kind for mechanism in scene.mechanisms for joint in mechanism.joints} | {"free"}) \
            if scene.mechanisms else []
        self._adaptive = any(parameters("method", method).get("adaptive") for method in self._methods)
        self._mark = Path(os.environ["NUMBA_CACHE_DIR"]) / _name_of((self._choices, self._adaptive, *self._joints))
        #: whether this computer has never compiled the kernels of such a scene, and has to
        self._first = not self._mark.exists() and not kernel_archive.has_all(sources())
        self._progress = LoadProgress(self._modules(), self._mark.parent) if self._first else None
        self._notes: list[str] = []
        self._errors: IO[bytes] = tempfile.TemporaryFile()
        self._second = (start_second(*self._choices, self._errors) if self._first and cores > 1 and scene.bodies
                        else None)
        self._thread = threading.Thread(target=self._load, daemon=True)
        self._thread.start()

    def finish(self, report: Callable[[str, str | None, float | None, str], None]) -> Sequence[str]:
        """Wait until all is loaded, and return sentences for the log. report: called with stage, body, progress in [0,
        1] and text; an exception that it raises ends the wait."""
        while self._thread.is_alive():
            if self._progress is not None:
                report("compile", None, min(self._progress.fraction(), MOST_REPORTED),
                       "Compiling for this computer, only this once")
            self._thread.join(POLL_SECONDS)
        return self._notes

    def _modules(self) -> list[str]:
        """Return the modules that `_load` imports, named from the solver's root."""
        scene, entries = self._scene, [("joint", kind) for kind in self._joints]
        modules = ["build.mechanisms"] if self._joints else []
        entries.append(("integrator", scene.integrator.kind))
        if scene.bodies:
            modules += ["build.world", "linear.choose", *FACTOR]
            entries += [("stage_solver", scene.stage_solver.kind), *self._choices[0]]
            entries += [("method", method.kind) for method in self._methods]
            entries += [("force", force.law.kind) for force in scene.forces]
        return modules + [catalogue.find(family, key).path.partition(":")[0] for family, key in entries]

    def _load(self) -> None:
        """Import the modules after the second process has ended, and mark their kernels as compiled."""
        start = time.monotonic()
        try:
            if self._joints:
                importlib.import_module(".mechanisms", __package__)
                for kind in self._joints:
                    catalogue.find("joint", kind).load()
            if not self._scene.bodies:
                catalogue.find("integrator", self._scene.integrator.kind).load()
                return self._mark.touch()
            importlib.import_module(".world", __package__)
            if any(body.fiber_material for body in self._scene.bodies):
                importlib.import_module("..forces.fiber_kernels", __package__)
            if self._adaptive:
                for name in ("stretching_kernels", "energy_kernels"):
                    importlib.import_module(f"..forces.{name}", __package__)
            methods = [catalogue.find("method", method.kind) for method in self._methods]
            for entry in methods:
                if not entry.able("draft"):
                    entry.load()
            catalogue.find("integrator", self._scene.integrator.kind).load()
            for force in self._scene.forces:
                catalogue.find("force", force.law.kind).load()
            for constraint in self._scene.constraints:
                catalogue.find("constraint", constraint.kind.kind).load()
            # both processes take about as long: a second one that takes three times as long does not end
            self._wait_for_second(2.0 * (time.monotonic() - start) + 5.0)
            load_kernels(*self._choices)
            # these call kernels of the linear solver and of materials, which the second process has compiled by now
            for entry in methods:
                entry.load()
            catalogue.find("stage_solver", self._scene.stage_solver.kind).load()
        except Exception:  # `build.world` raises it again, where it is reported
            return
        finally:
            if self._second is not None:
                self._second.kill()
            self._errors.close()
        with suppress(OSError):
            self._mark.touch()

    def _wait_for_second(self, seconds: float) -> None:
        """Wait for the second process, at most this long [s], and note where it fails."""
        if self._second is None:
            return
        try:
            how = f"ended with code {self._second.wait(seconds)}"
        except subprocess.TimeoutExpired:
            how = "does not come to an end"
        if self._second.returncode != 0:
            self._errors.seek(0)
            last_line = self._errors.read().decode("utf-8", "replace").strip().splitlines()[-1:]
            self._notes.append(": ".join([f"The second process that compiles {how}, so the first bake takes longer",
                                          *last_line]))


def load_kernels(materials: Sequence[tuple[str, str]], linear_solver: str) -> None:
    """Import, and so compile, the modules of the second process. materials: families and keys of the catalogue.
    linear_solver: key, or "auto"."""
    importlib.import_module("..linear.choose", __package__).choose(linear_solver)
    for family, key in materials:
        catalogue.find(family, key).load()


def start_second(materials: Sequence[tuple[str, str]], linear_solver: str,
                 errors: Any) -> subprocess.Popen[bytes] | None:
    """Return a new process that compiles its kernels and ends, at the latest when this one does; None where none can be
    started. errors: file for its standard error."""
    return start_beside(f"loading.load_kernels({list(materials)!r}, {linear_solver!r})", errors)


def start_beside(call: str, errors: Any) -> subprocess.Popen[bytes] | None:
    """Return a new process that makes a call of `loading` or `compiling`, and ends at the latest when this one does;
    None where none can be started. errors: file for its standard error."""
    root = Path(__file__).resolve().parents[1]
    code = (f"import sys; sys.path[:] = {[str(root.parent), *sys.path]!r}\n"
            f"from {root.name}.build import compiling, loading\n"
            f"loading.end_with_the_first({sys.implementation.cache_tag!r})\n{call}")
    options: dict[str, Any] = {}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.CREATE_NO_WINDOW}
    try:
        # its standard input ends when this process does, in any case
        return subprocess.Popen([sys.executable, "-I", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                stderr=errors, **options)
    except OSError:
        return None


def end_with_the_first(python: str) -> None:
    """Let this process end when the one that started it does. python: the cache tag of that one's Python.

    Raises SystemExit where this is another Python, whose compiled kernels would be of no use.
    """
    if sys.implementation.cache_tag != python:
        sys.exit(f"{sys.executable} is another Python")
    threading.Thread(target=_end_when_input_closes, daemon=True).start()


def _end_when_input_closes() -> None:
    while os.read(0, 4096):
        pass
    os._exit(1)


@cache
def sources() -> str:
    """Return a hash of the kernels' sources, as this process loaded them."""
    return threads.sources_hash()


def _name_of(choices: Any) -> str:
    """Return the name of an empty file that marks the present kernels of such a scene as compiled. Machines may share
    folders."""
    made_by = repr((platform.node(), sources(), choices))
    return "loaded-" + hashlib.blake2b(made_by.encode(), digest_size=8).hexdigest()
