"""The one place that decides who may use how many threads, and where compiled kernels are kept.

numba runs its kernels on its OpenMP layer, BLAS and CHOLMOD run on one thread: on two cores they cost each other
more than they give. Debian's CHOLMOD opens an OpenMP region of its own whatever OMP_NUM_THREADS says, so around a
factorization the OpenMP runtime is told to open none (`one_openmp_level`).

Import this module before numba, scipy and scikit-sparse: it sets the variables that they read when they load.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def _sources_hash() -> str:
    """Hash of the solver's sources: numba does not notice an edited helper in another file, the folder's name does."""
    digest = hashlib.blake2b(digest_size=8)
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _user_cache() -> Path:
    """Where this system keeps files that may be deleted at any time."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or tempfile.gettempdir())
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def kernel_folder() -> Path:
    """A writable folder for this version's compiled kernels. The extension's own folder may be read-only."""
    name = f"kernels-{sys.implementation.cache_tag}-{_sources_hash()}"
    for base in (_user_cache() / "conjac", Path(tempfile.gettempdir()) / "conjac"):
        try:
            (base / name).mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(base / name, os.W_OK):
            return base / name
    return Path(tempfile.mkdtemp(prefix="conjac-kernels-"))


def _prepare() -> None:
    """Set what numba and BLAS read when they load; a value the user has set stands."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("MKL_NUM_THREADS", "1")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("NUMBA_THREADING_LAYER_PRIORITY", "omp tbb workqueue")
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(kernel_folder())


_prepare()


def configure(threads: int | None) -> int:
    """Let kernels use `threads` threads; None or 0 means one per core this process may run on. Returns how many."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = min(threads or available, available)
    if "numba" not in sys.modules:
        os.environ["NUMBA_NUM_THREADS"] = str(available)
    import numba

    numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
    return count


def kernel(signature: Any, parallel: bool = False, fastmath: frozenset[str] | set[str] = frozenset({"contract"})
           ) -> Callable[[F], F]:
    """Compile a function with this explicit signature, once per machine: later processes load it from disk.

    fastmath: with "reassoc" sums may be taken in another order than written, the same one on the same machine.
    """
    import numba

    def compiled(function: F) -> F:
        options = {"error_model": "numpy", "parallel": parallel, "fastmath": set(fastmath)}
        try:
            return numba.njit(signature, cache=True, **options)(function)  # type: ignore[no-any-return]
        except Exception:
            # a file of the cache that a crash left torn, or a full disk: the next process starts it anew, this one
            # does without. What is wrong with the kernel itself is raised again here
            _forget(function)
            return numba.njit(signature, **options)(function)  # type: ignore[no-any-return]

    return compiled


def _forget(function: Callable[..., Any]) -> None:
    """Delete what the cache holds of this function, by the names that numba gives its files."""
    code = function.__code__
    name = f"{Path(code.co_filename).stem}.{function.__qualname__}-{code.co_firstlineno}.py*.nb[ci]"
    for path in Path(os.environ["NUMBA_CACHE_DIR"]).glob(f"*/{name}"):
        with suppress(OSError):
            path.unlink()


def inlined(function: F) -> F:
    """3x3 algebra of scalars and tuples, always inlined into the kernel that calls it so that lanes vectorise."""
    import numba

    # Python never calls them, so nothing is compiled for it to call
    return numba.njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True,  # type: ignore[no-any-return]
                      error_model="numpy", fastmath={"contract"})(function)


@functools.cache
def _set_active_levels() -> Callable[[int], None] | None:
    """libgomp's omp_set_max_active_levels, from the copy that is in use; None where there is none to silence."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        loaded = Path("/proc/self/maps").read_text()
        name = next(line.split()[-1] for line in loaded.splitlines() if "libgomp" in line and ".so" in line)
        function = ctypes.CDLL(name).omp_set_max_active_levels
    except (OSError, StopIteration, AttributeError):
        return None
    function.argtypes, function.restype = [ctypes.c_int], None
    return function  # type: ignore[no-any-return]


@contextmanager
def one_openmp_level() -> Iterator[None]:
    """Inside, libraries open no OpenMP threads of their own; after it numba's kernels have theirs back."""
    set_levels = _set_active_levels()
    if set_levels is None:
        yield
        return
    set_levels(0)
    try:
        yield
    finally:
        set_levels(1)
