"""A job folder while it is being written. The earlier contents remain intact until the new ones are complete."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ...solver.errors import CacheUnwritable
from ...solver.job.files import create, is_link, make_folder, open_regular, refuse_links, write_whole

#: in arrays/, the names of the arrays that were written there; jobs of older versions have none
LIST = "written.json"

#: arrays that no field of scene.json names, by how they begin, in jobs without that list
_UNNAMED = ("placed_", "mechanism_")


class ArrayStream:
    """An array that is written row by row, so that it is never in memory as a whole."""

    def __init__(self, file: BinaryIO, shape: tuple[int, ...]) -> None:
        self._file, self._row = file, shape[1:]
        header = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)

    def append(self, row: NDArray[np.float64]) -> None:
        """Write the next row; its shape is the array's without the first axis."""
        if row.shape != self._row:
            raise ValueError(f"a row of shape {row.shape} in an array of rows {self._row}")
        self._file.write(np.ascontiguousarray(row, dtype="<f8").tobytes())

    def close(self) -> None:
        self._file.close()


class JobFolder:
    """Writes arrays to arrays.new/ and, at `finish`, moves them to arrays/ and writes scene.json last.

    A folder may come from a stranger: no link below it is followed. Raises CacheUnwritable, naming the folder and
    the system's error.
    """

    def __init__(self, folder: Path, owner: str) -> None:
        self.folder, self.owner = Path(folder), owner
        self._fresh = self.folder / "arrays.new"
        self._streams: list[ArrayStream] = []
        with self._disk():
            self.folder.mkdir(parents=True, exist_ok=True)
            refuse_links(self.folder.parent, self._fresh)
            shutil.rmtree(self._fresh, ignore_errors=True)
            self._fresh.mkdir()

    def array(self, name: str, values: NDArray[Any]) -> str:
        """Write an array. Returns its name for scene.json."""
        with self._disk():
            with create(self._fresh / f"{name}.npy", self.folder) as file:
                np.save(file, values, allow_pickle=False)
        return self.path(name)

    def path(self, name: str) -> str:
        """Return the name of an array in scene.json."""
        return f"arrays/{name}.npy"

    def stream(self, name: str, shape: tuple[int, ...]) -> ArrayStream:
        """Begin a float64 array that is written row by row."""
        with self._disk():
            stream = ArrayStream(create(self._fresh / f"{name}.npy", self.folder), shape)
        self._streams.append(stream)
        return stream

    def append(self, stream: ArrayStream, row: NDArray[np.float64]) -> None:
        with self._disk():
            stream.append(row)

    def drop(self, name: str) -> None:
        """Forget an array that turned out not to be needed."""
        self.close()
        (self._fresh / f"{name}.npy").unlink()

    def finish(self, scene: dict[str, Any]) -> None:
        """Put the arrays in place, then scene.json, then remove arrays that no scene names any more."""
        before = listed_arrays(self.folder)
        with self._disk():
            self.close()
            arrays = self.folder / "arrays"
            make_folder(arrays)
            names = {path.name for path in self._fresh.iterdir()}
            write_whole(arrays / LIST, json.dumps(sorted(names | before)).encode(), self.folder)
            for name in names:
                os.replace(self._fresh / name, arrays / name)
            self._fresh.rmdir()
        text = json.dumps(scene, indent=1, ensure_ascii=False, allow_nan=False)
        write_whole(self.folder / "scene.json", text.encode("utf-8", "surrogatepass"), self.folder)
        with self._disk():
            for name in before - names:
                (arrays / name).unlink(missing_ok=True)
            write_whole(arrays / LIST, json.dumps(sorted(names)).encode(), self.folder)

    def close(self) -> None:
        with self._disk():  # what was appended last may find no room only here
            while self._streams:
                self._streams.pop().close()

    def abandon(self) -> None:
        """Delete the unfinished files; the files of before remain."""
        try:
            self.close()
        except CacheUnwritable:
            pass  # the disk is full: the reason has been raised where it was met
        shutil.rmtree(self._fresh, ignore_errors=True)

    @contextmanager
    def _disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise CacheUnwritable(f"the folder {self.folder} cannot be written ({error.strerror or error})",
                                  "Choose another cache folder or make room on the disk", self.owner) from error


class JobPart:
    """Arrays of one of several bodies in a job: equal names, distinguished by a prefix."""

    def __init__(self, job: JobFolder, prefix: str) -> None:
        self._job, self._prefix = job, prefix

    def array(self, name: str, values: NDArray[Any]) -> str:
        return self._job.array(self._prefix + name, values)

    def path(self, name: str) -> str:
        return self._job.path(self._prefix + name)

    def stream(self, name: str, shape: tuple[int, ...]) -> ArrayStream:
        return self._job.stream(self._prefix + name, shape)

    def append(self, stream: ArrayStream, row: NDArray[np.float64]) -> None:
        self._job.append(stream, row)

    def drop(self, name: str) -> None:
        self._job.drop(self._prefix + name)

    def close(self) -> None:
        """The whole job closes them."""


def listed_arrays(folder: Path) -> set[str]:
    """Return names of the arrays in arrays/ that a JobFolder wrote, by its list, or by scene.json of an older
    version."""
    with suppress(OSError, ValueError, RecursionError):
        with open_regular(folder / "arrays" / LIST, folder) as stream:
            names = json.loads(stream.read())
        if isinstance(names, list):
            return {name for name in names if isinstance(name, str) and _is_array(name)}
    if is_link(folder / "arrays"):
        return set()
    with suppress(OSError, ValueError, RecursionError):
        with open_regular(folder / "scene.json") as stream:
            named = set(re.findall(r'"arrays/([^"/\\\\]+\.npy)"', stream.read().decode()))
        there = {path.name for path in (folder / "arrays").glob("*.npy") if path.name.startswith(_UNNAMED)}
        return {name for name in named | there if _is_array(name)} if named else set()
    return set()


def _is_array(name: str) -> bool:
    return name.endswith(".npy") and name == Path(name).name
