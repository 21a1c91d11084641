"""Cache of compiled kernels by their sources: a kernel is compiled again where these changed, and only then.

numba identifies a kernel by its file, line and time. It does not notice a changed helper or constant of another file,
and an edited comment or another clone of the same text compile everything again. Here the files of a kernel are named
by a hash of its bytecode and of all that goes into the machine code: kernels that it calls, constants, options,
versions.

Import `threads` before this module: it sets NUMBA_CACHE_DIR, the folder of the cache.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, _CacheLocator
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

from . import kernel_archive, kernel_structs

LIBRARIES = ("builtins", "ctypes", "math", "numba", "numpy")  #: what kernels use of these changes with VERSIONS alone
VERSIONS = (sys.implementation.cache_tag, numba.__version__, np.__version__.partition(".")[0])

HOUR = 3600.0
UNUSED_SECONDS = 60 * 24 * HOUR  #: compiled code that was not used for so long is deleted
MOST = 8  #: how many versions of one kernel are kept: checkouts beside one another, and one that goes back and forth

VERSION = re.compile(r".+-[0-9a-f]{24}")  #: of a kernel; beside them stand marks of scenes (build/loading)

#: attribute of a function with the name under which its code is cached
KEY = "__kernel_key__"


def key_of(function: Callable[..., Any], options: Mapping[str, Any], layouts: Sequence[str] = ()) -> str:
    """Return a hash of all that goes into the machine code of a function which numba compiles with these options.

    layouts: of the structs in its signature. Raises TypeError where the function uses an object whose content cannot be
    known from here: a kernel compiled before a change of that object would be taken.
    """
    digest = hashlib.blake2b(digest_size=12)
    for part in (*_list_dependencies(function, options), *layouts):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def _list_dependencies(function: Callable[..., Any], options: Mapping[str, Any]) -> Iterator[str]:
    """Yield as texts everything that the machine code of a kernel depends on."""
    yield repr((*VERSIONS, function.__module__, function.__qualname__))
    yield from map(_content, function.__defaults__ or ())
    yield from (f"{name} {sorted(value) if isinstance(value, (set, frozenset)) else value!r}"
                for name, value in sorted(options.items()))
    for code in _codes(function.__code__):
        # a docstring does not change the machine code
        constants = [value for value in code.co_consts if not isinstance(value, CodeType)]
        if function.__doc__ is not None and constants[:1] == [function.__doc__]:
            constants[0] = None
        yield repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, code.co_flags,
                    code.co_exceptiontable))
        yield from (f"{type(value).__name__} {_content(value)}" for value in constants)
        # attributes stand among these names too: one too many is compiled again now and then
        for name in code.co_names:
            if name in function.__globals__:
                yield f"{name} {_content(function.__globals__[name])}"
    for cell in function.__closure__ or ():
        yield _content(cell.cell_contents)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _codes(value)


def _content(value: object) -> str:
    """Return a text of a global value that a kernel finds by name."""
    if value is None or value is ... or isinstance(value, (bool, int, float, complex, str, bytes, slice, np.generic)):
        return repr(value)
    if isinstance(value, (tuple, frozenset)):
        return repr([_content(item) for item in value] if isinstance(value, tuple) else sorted(map(_content, value)))
    if isinstance(value, np.ndarray):
        return repr((value.dtype.str, value.shape, hashlib.blake2b(value.tobytes()).hexdigest()))
    if isinstance(value, Dispatcher):
        return _of_callee(value)
    if kernel_structs.is_struct(value):
        return repr(kernel_structs.layouts(value.__name__))  # type: ignore[attr-defined]
    if isinstance(value, _Intrinsic):
        return _of_file(sys.modules[value._defn.__module__].__file__ or "")  # its Python code writes the machine code
    origin = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", None))
    if origin.partition(".")[0] in LIBRARIES:
        return f"{origin}.{getattr(value, '__qualname__', '')}"
    raise TypeError(f"a kernel uses {value!r}: import or name the kernels and constants themselves, since a change "
                    "inside of this would not be noticed")


@cache
def _of_callee(dispatcher: Any) -> str:
    return key_of(dispatcher.py_func, dispatcher.targetoptions)


@cache
def _of_file(path: str) -> str:
    return hashlib.blake2b(Path(path).read_bytes()).hexdigest()


class ByContent(_CacheLocator):  # type: ignore[misc]
    """Locator by which numba finds the cached files of a function that has a KEY."""

    def __init__(self, key: str, py_file: str) -> None:
        self._key, self._py_file = key, py_file

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> ByContent | None:
        """Return the locator of a function; None for a function without a KEY, which numba then caches by file and
        time."""
        key = getattr(py_func, KEY, None)
        if key is None:
            return None
        made = cls(key, py_file)
        _writable(made.get_cache_path())
        return made

    def get_cache_path(self) -> str:
        """Return the folder of compiled kernels."""
        return os.environ["NUMBA_CACHE_DIR"]

    def get_source_stamp(self) -> str:
        """Return the KEY, which changes with the content that the kernel is compiled from."""
        return self._key

    def get_disambiguator(self) -> str:
        """Return the KEY, so that two functions of one name in one file have different files."""
        return self._key


@cache
def _writable(folder: str) -> None:
    """Create a folder. Raises OSError where it cannot be written to: numba would use another one, where our rules do
    not hold."""
    os.makedirs(folder, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} cannot be written to")


# before numba's own locators, which are those of functions without a KEY
CompileResultCacheImpl._locator_classes = [ByContent, *CompileResultCacheImpl._locator_classes]


def name(function: Callable[..., Any], options: Mapping[str, Any], layouts: Sequence[str] = ()) -> None:
    """Set the KEY of a function, by which its code is cached. layouts: of the structs in its signature. Raises
    TypeError as `key_of` does."""
    setattr(function, KEY, key_of(function, options, layouts))


def compile_cached(signature: Any, function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """Return the compiled function, from disk or the extension's archive where it is cached; the function must have a
    KEY.

    signature: types of arguments and result, as for numba.njit. options: of numba.njit. Raises what numba raises, also
    for a damaged file.
    """
    kernel_archive.bring(index_of(function))
    made = numba.njit(signature, cache=True, **options)(function)
    if sum(made.stats.cache_misses.values()):
        _clean_once(os.environ["NUMBA_CACHE_DIR"])
    else:
        _mark_used(index_of(function))
    return made


def index_of(function: Callable[..., Any]) -> Path:
    """Return the path of the file that lists the cached files of a function with a KEY, named as numba does; files with
    code are in the same folder."""
    name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}".replace("<", "").replace(">", "")
    python = f"py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
    return Path(os.environ["NUMBA_CACHE_DIR"], f"{name}-{getattr(function, KEY)}.{python}.nbi")


def forget(function: Callable[..., Any]) -> None:
    """Delete the cached files of a function with a KEY."""
    index = index_of(function)
    for path in [index, *index.parent.glob(f"{index.stem}.*.nbc")]:
        with suppress(OSError):
            path.unlink()


def _mark_used(index: Path) -> None:
    """Mark an index file as used just now."""
    with suppress(OSError):
        if time.time() - index.stat().st_mtime > HOUR:
            os.utime(index)


@cache
def _clean_once(folder: str) -> None:
    """Delete files that are no longer used, once something is compiled: versions before updates, other checkouts."""
    clean(Path(folder), time.time())


def clean(folder: Path, now: float) -> None:
    """Delete versions of a kernel beyond the MOST that were used last, and every file that was unused for
    UNUSED_SECONDS.

    folder: of the cache. now: present time, as time.time() returns it [s].
    """
    files, used = defaultdict[str, list[Path]](list), defaultdict[str, float](float)
    for path in folder.iterdir():
        with suppress(OSError):
            version = path.name.partition(".py")[0]  # module.function-key
            used[version] = max(used[version], path.stat().st_mtime)
            files[version].append(path)
    newer = defaultdict[str, int](int)
    for version in sorted(files, key=lambda version: -used[version]):
        kernel = version.rpartition("-")[0]
        newer[kernel] += 1
        if now - used[version] > UNUSED_SECONDS or newer[kernel] > MOST and VERSION.fullmatch(version):
            for path in files[version]:
                with suppress(OSError):
                    path.unlink()
    # once each state of all sources had a folder of its own
    for path in folder.parent.glob("kernels-*-????????????????"):
        with suppress(OSError):
            if now - path.stat().st_mtime > UNUSED_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
