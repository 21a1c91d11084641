"""`players.json` in a job folder: which other .blends play its files, so that Free leaves these to them.

A .blend that was saved as another one, or that has a soft body of another file linked, overridden or appended, plays
the file of a folder that is not its own. It says so in that folder whenever it is saved, and takes it back when it is
saved and plays it no longer. One that is gone counts for nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import bpy

from ...solver.errors import CacheUnwritable
from ...solver.job.files import open_regular, write_whole
from .. import members, playback
from . import contents, home, place

FILE = contents.PLAYERS

#: folders of others in which this .blend is listed, as far as this session knows
_listed: set[Path] = set()


def look() -> None:
    """Note, after a .blend was loaded, in which other folders it is listed: those whose bakes it plays."""
    _listed.clear()
    _listed.update(_played(set(_own_folders())))


def note(blend: str) -> None:
    """Record which bakes of other files the .blend at this path plays, after it was saved."""
    if not _same(Path(blend), bpy.data.filepath):  # a copy, for which all folders are another's
        for folder, names in _played(set()).items():
            with suppress(OSError, CacheUnwritable):
                _write(folder, blend, names)
        return
    played = _played(set(_own_folders()))
    for folder in _listed | played.keys():
        with suppress(OSError, CacheUnwritable):  # nobody could free a folder that cannot be written
            _write(folder, blend, played.get(folder, []))
    _listed.clear()
    _listed.update(played)


def others(folder: Path, blend: str) -> dict[Path, list[str]]:
    """Return the files of a job folder that other .blends play, with the names of the .blends that exist."""
    found: dict[Path, list[str]] = {}
    for named, names in _read(folder).items():
        path = Path(os.path.normpath(folder / named))
        if path.is_file() and not _same(path, blend):
            for name in names:
                found.setdefault(folder / name, []).append(path.name)
    return found


def forget(folder: Path) -> None:
    """Remove all records of who plays the folder."""
    (folder / FILE).unlink(missing_ok=True)


def _played(own: set[Path]) -> dict[Path, list[str]]:
    """Return names of files that this .blend plays, by their job folders, except its own folders."""
    found: dict[Path, set[str]] = {}
    for obj in bpy.data.objects:
        file = playback.file_of(obj)
        if file is not None and home.read(file.parent) is not None:
            found.setdefault(file.parent, set()).add(file.name)
    return {folder: sorted(names) for folder, names in found.items() if folder not in own}


def _own_folders() -> Iterator[Path]:
    for obj in bpy.data.objects:
        if obj.library is None and (members.is_soft_body(obj) or members.is_mechanism(obj)):
            at = place.of(obj)
            if at.own:
                yield at.folder


def _read(folder: Path) -> dict[str, list[str]]:
    """Return names of files by path of the .blend from the folder; empty if the file is not a valid list."""
    try:
        with open_regular(folder / FILE) as stream:
            listed = json.loads(stream.read())["files"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    if not isinstance(listed, dict):
        return {}
    return {blend: [name for name in names if isinstance(name, str) and name == Path(name).name]
            for blend, names in listed.items() if isinstance(names, list)}


def _write(folder: Path, blend: str, names: list[str]) -> None:
    listed = {named: files for named, files in _read(folder).items()
              if (folder / named).is_file() and not _same(folder / named, blend)}
    if names:
        listed[home.seen_from(folder, blend)] = names
    if listed:
        write_whole(folder / FILE, json.dumps({"files": listed}, ensure_ascii=False).encode(), folder)
    else:
        forget(folder)


def _same(path: Path, blend: str) -> bool:
    try:
        return os.path.samefile(path, blend)
    except OSError:
        return False
