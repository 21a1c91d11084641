"""Wedges: one job baked with several sets of settings, each a row of a CSV file with cells `path=value`.

    bodies[0].material.params.youngs_modulus=2e4, time.step=0.01
    bodies[Ear].material.params.youngs_modulus=8e4

Empty lines and lines that begin with # are ignored. Rows count from 1, and each is baked in a job folder of its own.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ..errors import BadInput, ConJacError, NoSuchThing
from ..job import schema
from ..job.files import open_regular, unwritable, write_whole
from ..job.folder import Job
from ..job.load import SCENE
from ..job.validate import check
from .field_path import read_value, with_field

LARGEST_CSV = 64 << 20  #: [bytes] of a table of settings that is read
ROW = "row-{:04d}"


@dataclass(frozen=True)
class Row:
    """One row of a wedge: a set of settings."""

    number: int  #: from 1
    settings: tuple[tuple[str, Any], ...] = ()  #: path of a field of scene.json, and its value

    @property
    def folder(self) -> str:
        """Return the name of the row's job folder."""
        return ROW.format(self.number)

    @property
    def sentence(self) -> str:
        """Return the row's settings as text."""
        pairs = (f"{path}={json.dumps(value, ensure_ascii=False)}" for path, value in self.settings)
        return ", ".join(pairs) or "as it is"


def read_rows(path: Path | None) -> list[Row]:
    """Return the rows of a CSV file; for None a single row without settings.

    Raises NoSuchThing where the file cannot be read, BadInput where a cell is not a setting or there is no row.
    """
    if path is None:
        return [Row(1)]
    rows: list[Row] = []
    for line, cells in _lines(path):
        settings: dict[str, Any] = {}
        for cell in cells:
            name, equals, value = (part.strip() for part in cell.partition("="))
            if not equals or not name:
                raise BadInput(f'line {line} of {path.name}: "{cell.strip()}" is not of the form path=value',
                               "Write for example time.step=0.01")
            if name in settings:
                raise BadInput(f'line {line} of {path.name} sets "{name}" twice', "Leave one of them out")
            settings[name] = read_value(value)
        rows.append(Row(len(rows) + 1, tuple(settings.items())))
    if not rows:
        raise BadInput(f"the wedge {path.name} has no rows", "Write one line of path=value for each bake")
    return rows


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of every line that is neither empty nor a comment."""
    try:
        with open_regular(path) as stream:
            content = stream.read(LARGEST_CSV + 1)
    except OSError as error:
        raise NoSuchThing(f"the wedge {path} cannot be read ({error.strerror or error})", "Give a CSV file") from error
    if len(content) > LARGEST_CSV:
        raise BadInput(f"the wedge {path.name} is larger than {LARGEST_CSV >> 20} MB", "Split it")
    try:
        lines = csv.reader(content.decode("utf-8-sig").splitlines(), skipinitialspace=True)
        for cells in lines:
            filled = [cell for cell in cells if cell.strip()]
            if filled and not filled[0].lstrip().startswith("#"):
                yield lines.line_num, filled
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"the wedge {path.name} is no CSV file in UTF-8 ({error})", "Save it as such") from error


def row_of(path: Path | None, number: int) -> Row:
    """Return row `number`, from 1, of a CSV file. Raises the errors of `read_rows`, and NoSuchThing if there is no such
    row."""
    rows = read_rows(path)
    if not 1 <= number <= len(rows):
        raise NoSuchThing(f"the wedge has {len(rows)} rows, and row {number} was requested", "Count rows from 1")
    return rows[number - 1]


def with_row(job: Job, row: Row) -> Job:
    """Return the job with a row's settings, validated; its arrays are those of `job`.

    Raises a ConJacError with the number of the row: BadInput with the path of a wrong field, NoSuchThing where a path
    leads to no field.
    """
    try:
        raw = job.raw
        for path, value in row.settings:
            raw = with_field(raw, path, value)
        try:
            scene = msgspec.convert(raw, schema.Scene)
        except msgspec.ValidationError as error:
            text, _, where = str(error).partition(" - at `")
            raise BadInput(text, where=where.rstrip("`") or "$") from error
        made = job.with_scene(scene, raw)
        check(made)
        return made
    except ConJacError as error:
        if row.settings:
            subject = f'"{error.object}": ' if error.object else ""
            error.what = f"row {row.number} of the wedge ({row.sentence}): {subject}{error.what}"
            error.object = None
        raise


def check_rows(job: Job, rows: Sequence[Row]) -> list[Job]:
    """Return the job of every row, validated before anything runs. Raises the errors of the first row that cannot be
    baked."""
    return [with_row(job, row) for row in rows]


def expand(job: Job, row: Row, folder: Path, made: Job | None = None) -> Path:
    """Write the job folder of a row into `folder`, and return it; a folder with the same settings stays.

    made: the row's job where `check_rows` has returned it already. Arrays are linked to those of `job` on one disk,
    else copied. Raises the errors of `with_row`, BadInput where the folder has another job, CacheUnwritable where a
    file cannot be written.
    """
    made = made or with_row(job, row)
    path = folder / row.folder
    content = json.dumps(made.raw, indent=1, ensure_ascii=False).encode()
    try:
        exists = (path / SCENE).exists()
        if exists and read_bytes(path / SCENE) != content:
            raise BadInput(f"{path} was made from other settings", "Choose another output folder, or delete that one")
        for name in array_names(made.raw):
            bring(job.array_path(name), path / name)
    except OSError as error:
        raise unwritable(path / SCENE, error) from error
    if not exists:
        write_whole(path / SCENE, content, folder)  # last, since it makes the folder a complete job
    return path


def make_folders(path: Path) -> None:
    """Create a folder and its parents where they do not exist. Raises CacheUnwritable."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path / SCENE, error) from error


def read_bytes(path: Path) -> bytes:
    """Return the content of a regular file. Raises OSError."""
    with open_regular(path) as stream:
        return stream.read()


def array_names(raw: Any) -> list[str]:
    """Return the names of all arrays in plain values of scene.json, sorted, each once."""
    names: dict[str, None] = {}
    stack = [raw]
    while stack:
        at = stack.pop()
        if isinstance(at, str):
            if at.endswith(".npy"):
                names[at] = None
        elif isinstance(at, dict | list):
            stack += at.values() if isinstance(at, dict) else at
    return sorted(names)


_names = itertools.count()


def bring(source: Path, target: Path) -> None:
    """Link or copy a file to another path, atomically, also where another process does so at the same time.

    The file is linked where both paths are on one disk, else copied with its time. Does nothing where the target is the
    same file or a copy of it. Raises OSError.
    """
    if _is_same(source, target):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f"{target.name}.{os.getpid()}-{next(_names)}.new")
    try:
        try:
            os.link(source, fresh)
        except OSError:
            shutil.copy2(source, fresh)
        os.replace(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)


def _is_same(source: Path, target: Path) -> bool:
    """Return whether the target is the source file, or a copy of it by size and time."""
    try:
        one, other = source.stat(), target.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(one, other) or (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)
