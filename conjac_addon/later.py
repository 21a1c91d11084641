"""Delays modules of ConJac that Blender's start does not need to their first use: Blender starts hardly slower with the
add-on on.

While it registers, `from . import module` runs nothing of the module, and `from .module import name` does. So whatever
registers names modules, and leaves numpy and the like to them. (Python's own LazyLoader runs a module as soon as a
second one imports it.)
"""

from __future__ import annotations

import gc
import importlib
import marshal
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source
from io import FileIO
from struct import pack
from types import ModuleType
from typing import Any

BITS = 0xFFFFFFFF  #: of a number in bytecode
ROOT = __package__.rpartition(".")[0]  #: what all of ConJac is called here, the reading half of the solver too


class Waiting(ModuleType):
    """A module that runs when something of it is asked for that it does not have yet."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # code that inspects all modules asks for such names
        inside, part = vars(self).get("__path__"), f"{self.__name__}.{name}"
        if inside and _Finder.find_spec(part, inside):
            # `from .package import module` runs neither; later on it runs the module, whose package may need it
            return importlib.import_module(part)
        run(self)
        return getattr(self, name)


def run(module: ModuleType) -> None:
    """Import a waiting module, after its package. Raises as its import would. If another module of the package was
    imported directly, and may still be running, the package keeps waiting, since names that it imports may not exist
    yet.
    """
    name = module.__name__.rpartition(".")[0]
    package = sys.modules.get(name)
    if isinstance(package, Waiting) and not any(map(has_run, _inside(package))):
        run(package)
    if isinstance(module, Waiting):  # the package may have imported it
        module.__class__ = ModuleType  # type: ignore[assignment]
        assert module.__spec__ is not None and isinstance(module.__spec__.loader, _Later)
        if _Finder in sys.meta_path and "__path__" in vars(module) and module.__name__.startswith(f"{__package__}."):
            _lay_out(module)
        try:
            module.__spec__.loader.own.exec_module(module)
        except BaseException:
            module.__class__ = Waiting
            raise


def _inside(package: ModuleType) -> Iterator[ModuleType]:
    """Yield the imported modules below a package. Searching all of Blender's would take two thousand names."""
    for name, value in list(vars(package).items()):
        if isinstance(value, ModuleType) and sys.modules.get(f"{package.__name__}.{name}") is value:
            yield value
            yield from _inside(value)


def has_run(module: ModuleType) -> bool:
    """Whether a module was used, so that it may have something to unregister."""
    return not isinstance(module, Waiting)


class _Own(SourceFileLoader):
    """Runs a module. Its bytecode is read in one go where it is that of the source, as importlib would find too."""

    def get_code(self, fullname: str) -> Any:
        with suppress(OSError, EOFError, ValueError, NotImplementedError):
            source = os.stat(self.path)
            with FileIO(_bytecode_of(self.path)) as file:
                bytecode = file.readall()
            # no flags: it is that of a source of this date and size
            if bytecode[:16] == MAGIC_NUMBER + pack("<LLL", 0, int(source.st_mtime) & BITS, source.st_size & BITS):
                return marshal.loads(memoryview(bytecode)[16:])
        return super().get_code(fullname)


@cache
def _beside(folder: str) -> str:
    """Return the path of the bytecode of a folder's modules, with a zero byte in place of a module's name."""
    return cache_from_source(f"{folder}{os.sep}\0.py")


def _bytecode_of(path: str) -> str:
    folder, _, file = path.rpartition(os.sep)
    return _beside(folder).replace("\0", file[:-len(".py")])


class _Later:
    """Loads a module without running it."""

    def __init__(self, own: _Own) -> None:
        self.own = own  #: the loader that runs it

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Waiting(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Not yet."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)  # its source, for tracebacks


class _Finder:
    """Finder of modules that lists each folder once."""

    names: dict[str, frozenset[str]] = {}  #: by folder: its contents

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith(f"{ROOT}.") or not path:
            return None
        folder, tail = path[0], name.rpartition(".")[2]
        if folder not in cls.names:
            cls.names[folder] = frozenset(os.listdir(folder))
        if f"{tail}.py" in cls.names[folder]:
            return _waiting(name, os.path.join(folder, f"{tail}.py"), None)
        if tail in cls.names[folder]:
            inside = os.path.join(folder, tail)
            return _waiting(name, os.path.join(inside, "__init__.py"), [inside])
        return None


def _waiting(name: str, file: str, inside: list[str] | None) -> ModuleSpec:
    spec = ModuleSpec(name, _Later(_Own(name, file)), origin=file)  # type: ignore[arg-type]
    spec.submodule_search_locations = inside
    spec.has_location = True
    return spec


def _lay_out(package: ModuleType) -> None:
    """Put the modules of a package into their places, waiting: importing them is as good as nothing then."""
    folder = package.__path__[0]
    for entry in os.listdir(folder):
        tail, _, ending = entry.partition(".")
        name, path = f"{package.__name__}.{tail}", f"{folder}{os.sep}{entry}"
        if name in sys.modules or tail == "__init__":
            continue
        if ending == "py":
            _put(package, tail, _waiting(name, path, None))
        elif not ending and os.path.exists(init := f"{path}{os.sep}__init__.py"):
            _put(package, tail, _waiting(name, init, [path]))


def _put(package: ModuleType, tail: str, spec: ModuleSpec) -> ModuleType:
    """Return a new module that waits, put where importing would put it, without the machinery of an import."""
    module = sys.modules[spec.name] = Waiting(spec.name)
    module.__spec__, module.__loader__, module.__file__ = spec, spec.loader, spec.origin
    module.__package__ = spec.parent
    if spec.submodule_search_locations is not None:
        module.__path__ = spec.submodule_search_locations
    setattr(package, tail, module)
    return module


@contextmanager
def loading() -> Iterator[None]:
    """Context in which modules of ConJac are imported at their first use."""
    collects = gc.isenabled()
    gc.disable()  # classes and functions that are to stay: a look at all that Blender has finds nothing
    sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type]
    try:
        _lay_out(sys.modules[__package__])
        yield
    finally:
        sys.meta_path.remove(_Finder)  # type: ignore[arg-type]
        _Finder.names.clear()
        if collects:
            gc.enable()
