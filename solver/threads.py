"""Threads of kernels and libraries, compilation of kernels, and the folder in which compiled kernels are cached.

Kernels run on Python threads (`parallel_for`), BLAS and CHOLMOD on one (`one_thread`). numba's own parallel loops would
bring OpenMP back and take LLVM twice as long to compile.

Import this module before numpy, numba, scipy and scikit-sparse: variables that they read when they load are set.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from . import kernel_archive, kernel_structs, one_thread  # noqa: F401
from .cores import available
from .pool import KernelStage, PieceTimes, Pool, Wait, Work

F = TypeVar("F", bound=Callable[..., Any])

#: names of kernels that were compiled without the files that keep them, and why
_unkept: list[tuple[str, str]] = []
_no_folder: list[str] = []  #: why there is no folder that keeps kernels for the next bake

#: what kernels may name that makes no array
NO_ARRAY = frozenset(
    "range len min max abs int float round np math shape inf pi bool_ int32 int64 float32 float64 sqrt exp expm1 log "
    "log2 sin cos tan arcsin arctan2 atan2 copysign isfinite floor ceil reshape".split())

KERNELS_FOLDER = f"kernels-{sys.implementation.cache_tag}"  #: inside of the user's cache
KERNELS = re.compile(r"^from \.+threads import .*\b(?:kernel|inline)\b", re.MULTILINE)
IMPORTED = re.compile(r"^from (\.+)([\w.]+) import", re.MULTILINE)


def _kernel_sources(root: Path) -> list[Path]:
    """Return the files with kernels and everything that they import, such as helpers and constants of kernels."""
    texts = {path: path.read_text(encoding="utf-8") for path in root.rglob("*.py")}
    kernel_sources, pending = set[Path](), [path for path, text in texts.items() if KERNELS.search(text)]
    while pending:
        path = pending.pop()
        if path in kernel_sources or path not in texts:
            continue
        kernel_sources.add(path)
        for dots, module in IMPORTED.findall(texts[path]):
            pending.append(path.parents[len(dots) - 1].joinpath(*module.split(".")).with_suffix(".py"))
    return sorted(kernel_sources)


def sources_hash(root: Path = Path(__file__).parent) -> str:
    """Return a hash of all kernels' sources: while it does not change nothing has to be compiled again. root: folder of
    the solver."""
    digest = hashlib.blake2b(digest_size=8)
    for path in _kernel_sources(root):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _user_cache() -> Path:
    """Return the folder in which this system keeps files that may be deleted at any time."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or tempfile.gettempdir())
    home = os.path.expanduser("~")
    if home == "~":  # a farm's user may have neither HOME nor an entry among the system's users
        return Path(os.environ.get("XDG_CACHE_HOME") or tempfile.gettempdir())
    if sys.platform == "darwin":
        return Path(home) / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path(home) / ".cache")


def kernel_folder() -> Path:
    """Return a folder for compiled kernels that only this user may write to, as they are code that is run.

    The extension's own folder may be read-only, and a temporary folder is everybody's: an existing one is used only
    where it is this user's own. Where no folder lasts, it is a new one for this process alone.
    """
    temporary = Path(tempfile.gettempdir()) / (f"conjac-{os.geteuid()}" if hasattr(os, "geteuid") else "conjac")
    for base in (_user_cache() / "conjac", temporary):
        try:
            base.parent.mkdir(parents=True, exist_ok=True)
            for folder in (base, base / KERNELS_FOLDER):
                folder.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            continue
        if _is_private(base) and _is_private(base / KERNELS_FOLDER) and os.access(base / KERNELS_FOLDER, os.W_OK):
            return base / KERNELS_FOLDER
    _no_folder.append("There is no folder that only you may write to in "
                      f"{_user_cache()} or {tempfile.gettempdir()}, so every bake compiles "
                      "the kernels again: make one of them writable, or set NUMBA_CACHE_DIR")
    return Path(tempfile.mkdtemp(prefix="conjac-kernels-"))


def _is_private(folder: Path) -> bool:
    """Whether a folder is this user's and nobody else may write to it; one of this user's that others may write to is
    closed."""
    if not hasattr(os, "geteuid"):
        return True  # on Windows both folders are the user's own
    try:
        status = os.lstat(folder)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return False
        if stat.S_IMODE(status.st_mode) & 0o022:
            # another user may have put files there already: compiled code is deleted
            folder.chmod(0o700)
            for path in folder.rglob("*.nb[ci]"):
                path.unlink()
        return True
    except OSError:
        return False


if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(kernel_folder())
os.environ.update(kernel_archive.choose_processor())


def configure(threads: int | None, left_free: int = 0) -> int:
    """Set the number of threads of kernels and return it; None or 0 means one per core that this process may use.

    left_free: cores that are left to others where no number is given.
    """
    global _pool
    most = available()
    count = min(threads, most) if threads else max(1, most - left_free)
    if _pool is None or count != _pool.count or type(_pool) is not Pool:
        if _pool is not None:
            _pool.end()
        _pool = Pool(count, waiting)
    return count


def record() -> PieceTimes:
    """Run kernels from now on, until `configure` is called, on one thread that measures each piece; return these
    measurements."""
    global _pool
    if _pool is not None:
        _pool.end()
    _pool = PieceTimes()
    return _pool


_pool: Pool | None = None


def count() -> int:
    """Return how many threads kernels may use, for libraries with pools of their own."""
    return _pool.count if _pool is not None else configure(None)


def parallel_for(kernel: Callable[..., None], pieces: int, *arguments: Any) -> None:
    """Run kernel(start, stop, *arguments) for all pieces of the work, a few at a time, on every thread that is worth
    waking.

    Each free thread takes the next few; a kernel writes each piece to memory of its own, so the result does not depend
    on which thread ran it.
    """
    if _pool is None:
        configure(None)
    assert _pool is not None
    _pool.run(kernel, pieces, arguments)


def parallel_stages(name: str, size: int, pieces: int, stages: Iterator[KernelStage]) -> None:
    """Run kernels one after the other, each on all its pieces, on every thread that is worth waking, woken once for
    all.

    stages: at least one, each generated once all before it are done. name, size: key of the measured times of such
    stages, size being about proportional to their time. pieces: of the stage that has most.
    """
    if _pool is None:
        configure(None)
    assert _pool is not None
    _pool.run_stages(name, size, pieces, stages)


def begin(task: Callable[[], None]) -> Work:
    """Return the work of a task that another thread runs meanwhile, if there is one: its `lead` ends it, wherever it is
    run.

    The task should only call kernels, as Python code runs on one thread at a time.
    """
    if _pool is None:
        configure(None)
    assert _pool is not None
    return _pool.begin(task)


def _forget_pool() -> None:
    """Replace the pool in a process that was forked, which does not have its parent's threads."""
    global _pool
    _pool = None if _pool is None else Pool(_pool.count, waiting)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def kernel(signature: Any, fastmath: frozenset[str] | set[str] = frozenset({"contract"}),
           from_python: bool = True, address: bool = True) -> Callable[[F], F]:
    """Return a decorator that compiles a function with this explicit signature, once per machine: later processes load
    it from disk.

    A kernel that makes no array is compiled without reference counts of its arguments: they take two fifths of a short
    call, and more than the work itself in a kernel that passes many arrays on. numba refuses to compile it where it
    needs memory all the same: for `a + b` of arrays write np.add(a, b), and assign no whole array to a slice of
    another. A kernel that makes arrays may not call an inlined function that makes structs: raises TypeError.

    signature: may name structs (see `kernel_structs`). fastmath: with "reassoc" sums may be evaluated in another order
    than written, always in one order on one machine. from_python, address: False where only kernels call it,
    and where its address is not passed to another kernel, each of which saves the compilation of a wrapper.
    """
    import numba

    def compiled(function: F) -> F:
        from . import kernel_cache

        options = {"error_model": "numpy", "nogil": True, "fastmath": set(fastmath), "_nrt": _makes_arrays(function)}
        if not from_python:
            options["no_cpython_wrapper"] = True
        if not (from_python and address):
            options["no_cfunc_wrapper"] = True
        if options["_nrt"] and (makes := _struct_of_views(function)):
            raise TypeError(f"{function.__qualname__} makes arrays and calls {makes}, which makes structs of parts of "
                            "arrays without counting references: they would be freed too early")
        kernel_cache.name(function, options, kernel_structs.layouts(signature))
        types = kernel_structs.resolve(signature)
        try:
            return kernel_cache.compile_cached(types, function, options)  # type: ignore[no-any-return]
        except Exception as error:
            # a file of the cache that a crash left torn, or a full disk: the next process writes it again, this one
            # does without. What is wrong with the kernel itself is raised again here
            kernel_cache.forget(function)
            made: F = numba.njit(types, **options)(function)
            _unkept.append((function.__qualname__, f"{type(error).__name__}: {error}"))
            return made

    return compiled


_load: Any = None  #: what `waiting` compiles it with


@cache
def waiting() -> Wait:
    """Return a kernel wait(flag, most) for whether a flag (1,) of int64 was set, reading it at most `most` times."""
    global _load
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def load(context: Any, array: Any) -> Any:
        """Return the first entry of an array as memory has it now: a compiler may read an array once for a whole
        loop."""

        def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            view = context.make_array(signature.args[0])(context, builder, given[0])
            at = cgutils.get_item_pointer(context, builder, signature.args[0], view,
                                          [context.get_constant(types.intp, 0)], wraparound=False)
            return builder.load_atomic(at, "acquire", 8)

        return types.int64(array), code

    _load = load

    @kernel("b1(i8[::1], i8)")
    def wait(flag, most):  # type: ignore[no-untyped-def]
        for _ in range(most):
            if _load(flag) != 0:
                return True
        return False

    return wait  # type: ignore[no-any-return]


def cache_notes() -> list[str]:
    """Return sentences for the log about kernels that had to be compiled although they should have been cached."""
    notes = list(_no_folder)
    if _unkept:
        which = ", ".join(name for name, _ in _unkept[:3]) + (", ..." if len(_unkept) > 3 else "")
        notes.append(f"Kernels were compiled again ({len(_unkept)}: {which}), as what {os.environ['NUMBA_CACHE_DIR']} "
                     f"keeps of them cannot be used: {_unkept[0][1]}. The next bake tries to keep them again")
    return notes


def inline(function: F) -> F:
    """Return a compiled function that is always inlined into the kernels that call it, such as 3x3 algebra, so that
    lanes vectorise."""
    import numba

    # Python never calls them, so nothing is compiled for it to call
    return numba.njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True,  # type: ignore[no-any-return]
                      error_model="numpy", fastmath={"contract"}, _nrt=_makes_arrays(function))(function)


def _struct_of_views(function: Callable[..., Any]) -> str:
    """Return the name of a function that is inlined into a kernel and makes structs; "" where there is none."""
    for name in function.__code__.co_names:
        value: Any = function.__globals__.get(name)
        if "forceinline" in getattr(value, "targetoptions", ()):
            inner = value.py_func
            if any(kernel_structs.is_struct(inner.__globals__.get(used)) for used in inner.__code__.co_names):
                return name
            if struct := _struct_of_views(inner):
                return struct
    return ""


def _makes_arrays(function: Callable[..., Any]) -> bool:
    """Whether a kernel may make arrays, or receive some from functions that it calls; true where that is not known."""
    if function.__closure__:
        return True
    for name in function.__code__.co_names:
        value: Any = function.__globals__.get(name)
        if hasattr(value, "py_func"):
            # of a kernel it is known what it returns, what is inlined is a part of this
            returned = [str(signature.return_type) for signature in value.nopython_signatures]
            if _makes_arrays(value.py_func) if "forceinline" in value.targetoptions else "array" in str(returned):
                return True
        elif kernel_structs.is_struct(value) or value is None and name in kernel_structs.fields:
            continue  # of arrays that exist
        elif name not in NO_ARRAY and not hasattr(value, "__float__"):
            return True
    return False
