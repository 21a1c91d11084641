"""Access to the scene and the arrays of a job folder, for the stages of a bake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import catalogue
from ..errors import BadInput, BadScene, ConJacError, NoSuchThing
from . import schema, schema_values
from .arrays import Unreadable, header_of, read_npy
from .files import NotRegular

LARGE = 16 << 20  #: [bytes]: larger arrays stay on disk and are read where they are touched
FARTHEST = 1e30  #: largest number of a job: frames are in single precision, and products of ten lengths must be finite


def refuse(what: str, where: str, remedy: str = "", kind: type[BadInput] = BadScene) -> BadInput:
    """Return an error of class `kind` that ends with the path `where` of a field of scene.json."""
    return kind(what, remedy, where=where)


@contextmanager
def blame(scene: schema.Scene, body: schema.Body, part: str) -> Iterator[None]:
    """Return a context that adds a body's name to ConJac's errors, and its path in the scene to errors of the input.

    part: field of the body for the path of an error that has none.
    """
    try:
        yield
    except ConJacError as error:
        error.object = error.object or body.name
        if isinstance(error, BadInput) and not (error.where or "").startswith("$"):
            error.where = f"$.bodies[{scene.bodies.index(body)}].{error.where or part}"
        raise


@dataclass(frozen=True)
class Job:
    """Input of one bake: a job folder, its validated scene and the arrays that the scene names."""

    path: Path
    scene: schema.Scene
    raw: dict[str, Any]  #: contents of scene.json, for the manifest
    _loaded: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False, compare=False)
    #: names of arrays (nodes, tets) of checked volumes: checked once, as rows of a wedge share them
    sound: set[tuple[str, str]] = field(default_factory=set, repr=False, compare=False)

    def with_scene(self, scene: schema.Scene, raw: dict[str, Any]) -> Job:
        """Return a job with the same folder and arrays and another scene, which is not checked.

        raw: plain values of that scene, for the manifest."""
        return Job(self.path, scene, raw, self._loaded, self.sound)

    @property
    def stages(self) -> Path:
        """Return the folder of stored results between scene and bake."""
        return self.path / "stages"

    @property
    def cache(self) -> Path:
        """Return the folder of the bake's frames."""
        return self.path / "cache"

    @cached_property
    def frames(self) -> range:
        """Numbers of all frames of the scene, from the start frame to the last frame."""
        return range(self.scene.time.start, self.scene.time.end + 1)

    @cached_property
    def samples(self) -> int:
        """Number T of samples of every motion."""
        return (self.scene.time.end - self.scene.time.start) * self.scene.time.samples_per_frame + 1

    def array(self, name: str, where: str = "$") -> NDArray[Any]:
        """Return an array by its path in the job folder: float64 or int32 in C order, read-only, finite.

        where: path of the field that names it, for messages. Large arrays are memory-mapped.
        Raises BadScene for a path that leaves the job folder, a file that is no array, a wrong number type or a
        number that is not finite or beyond 1e30; NoSuchThing for a missing file.
        """
        if name not in self._loaded:
            self._loaded[name] = read_array(self.array_path(name, where), name, where, self.path)
        return self._loaded[name]

    def describe_array(self, name: str, where: str = "$") -> tuple[str, tuple[int, ...]]:
        """Return the kind ("f", "i" or another of numpy) and the shape of an array, from its header alone.

        Raises BadScene, NoSuchThing."""
        with _read(name, where):
            header = header_of(self.array_path(name, where), self.path)
        return "i" if header.dtype.kind == "u" else header.dtype.kind, header.shape

    def array_path(self, name: str, where: str = "$") -> Path:
        """Return the path of an array file. Raises BadScene where `name` leads out of the job folder."""
        if name.startswith(("/", "\\")) or ":" in name or "\\" in name or ".." in name.split("/"):
            raise refuse(f'"{name}" is not a path inside the job folder', where)
        return self.path / name


@contextmanager
def _read(name: str, where: str) -> Iterator[None]:
    """Return a context that turns errors of reading an array file into BadScene or NoSuchThing at the field's path."""
    try:
        yield
    except FileNotFoundError as error:
        raise refuse(f'there is no file "{name}" in the job folder', where, kind=NoSuchThing) from error
    except NotRegular as error:
        raise refuse(f'"{name}" is not read: {error.strerror}', where,
                     "Put the file itself into the job folder") from error
    except OSError as error:
        raise refuse(f'"{name}" cannot be read ({error.strerror or error})', where) from error
    except Unreadable as error:
        raise refuse(f'"{name}" is not a .npy file of numbers: {error}', where) from error


def read_array(path: Path, name: str, where: str, root: Path) -> NDArray[Any]:
    """Return the array of a .npy file, read-only, as float64 or int32 in C order.

    name, where: its name and the path of its field, for messages. root: see `open_regular`. Raises BadScene,
    NoSuchThing.
    """
    with _read(name, where):
        stored = read_npy(path, root, LARGE)
    if stored.dtype.kind not in "fiu":
        raise refuse(f'"{name}" does not hold plain numbers', where)

    if stored.dtype.kind == "f":
        if not all((np.abs(part) <= FARTHEST).all() for part in parts(stored)):
            beyond = all(np.isfinite(part).all() for part in parts(stored))
            raise refuse(f'"{name}" holds a number {f"beyond {FARTHEST:g}" if beyond else "that is not finite"}', where)
        array = np.ascontiguousarray(stored, dtype=np.float64)
    else:
        if stored.size and (stored.min() < -(2**31) or stored.max() >= 2**31):
            raise refuse(f'"{name}" holds an index beyond 32 bits', where)
        array = np.ascontiguousarray(stored, dtype=np.int32)
    array.flags.writeable = False
    return array


def parts(array: NDArray[Any]) -> list[NDArray[Any]]:
    """Return views of some 8 MB of rows each, so that a memory-mapped array is never read into memory as a whole."""
    if array.ndim == 0:
        return [array]
    rows = max(1, int(8 << 20) // max(1, array[:1].nbytes))
    return [array[first:first + rows] for first in range(0, len(array), rows)]


def parameters(family: str, choice: schema_values.Choice) -> dict[str, float | bool]:
    """Return all parameters of a choice of a catalogue family by key, with defaults for those that are not given."""
    entry = catalogue.find(family, choice.kind)
    return {param.key: choice.params.get(param.key, param.default) for param in entry.params}
