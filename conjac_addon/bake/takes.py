"""Takes: a finished bake whose settings have changed is kept when its object is baked again.

Each take is a job folder in takes/ of its bake's folder, with scene.json and arrays of its own, so a take and the
current bake can be exchanged. `next` is a take in preparation: it links to the files that are about to be overwritten.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import bpy

from ...solver.errors import ConJacError, NoSuchThing
from ...solver.frames.layout import MANIFEST
from ...solver.frames.read import Cache
from ...solver.job.files import open_regular, refuse_links, unwritable, write_whole
from .. import prefs
from ..gather import folder as job_files
from . import contents, moving, place, shown, taken

NEXT = "next"

#: a sentence is kept of at most so many letters
LONGEST = 200


class Take(NamedTuple):
    """One of them. Not a dataclass, whose code is compiled at each start of Blender."""

    number: int
    folder: Path
    first: int  #: its frames
    last: int
    why: str  #: what changed then, as in `youngs_modulus of "Cube"`; "" where another take was chosen
    size: int  #: bytes on the disk


_listed: dict[Path, tuple[int, list[Take]]] = {}  #: by job folder: when takes/ changed last


def listed(folder: Path) -> list[Take]:
    """Return the takes of a job folder, the newest first. Fast enough for every redraw."""
    try:
        changed = (folder / contents.TAKES).stat().st_mtime_ns
    except OSError:
        return []
    known = _listed.get(folder)
    if known is None or known[0] != changed:
        found = [take for path in contents.takes(folder) if path.name.isdecimal() and (take := _read(path)) is not None]
        known = _listed[folder] = changed, sorted(found, key=lambda take: -take.number)
    return known[1]


def find(folder: Path, number: int) -> Take:
    """Return the take of this number, the newest for 0. Raises NoSuchThing."""
    for take in listed(folder):
        if number in (0, take.number):
            return take
    raise NoSuchThing(f"there is no take {number}" if number else "there are no takes", "Look at the list of takes")


def before(folder: Path) -> None:
    """Prepare for a job folder to be rewritten: link to the inputs of its finished bake. Never raises: if there is no
    space for links, a take has only its frames."""
    made = folder / contents.TAKES / NEXT
    with suppress(OSError, ConJacError):
        if (made / contents.CACHE / MANIFEST).exists():
            _number(folder, made)  # this Blender was ended while it was made
        cache = place.cache_of(folder)
        if not finished(cache) or made.is_dir() and not cache.compare(made).list_changes():
            return  # what it was made of may be there already: a bake was stopped while the scene was read
        contents.remove(made)
        if not cache.compare().list_changes():
            _link(folder, made)


def drop(folder: Path) -> None:
    """Delete the files that `before` kept for a take, since the frames are still valid."""
    contents.remove(folder / contents.TAKES / NEXT)
    with suppress(OSError):
        (folder / contents.TAKES).rmdir()


def keep(folder: Path, why: str) -> Take:
    """Convert the frames of a job folder to a take; the folder has none afterwards. Raises CacheUnwritable."""
    made, cache = folder / contents.TAKES / NEXT, place.cache_of(folder)
    assert cache.manifest is not None
    try:
        refuse_links(folder, made)
        made.mkdir(parents=True, exist_ok=True)
        if not (made / contents.SCENE).exists():
            text = json.dumps(cache.manifest["scene"], indent=1, ensure_ascii=False)
            write_whole(made / contents.SCENE, text.encode("utf-8", "surrogatepass"), folder)
        write_whole(made / contents.TAKE, json.dumps({"why": why[:LONGEST]}, ensure_ascii=False).encode(), folder)
        os.rename(folder / contents.CACHE, made / contents.CACHE)
        number = _number(folder, made)
    except OSError as error:
        raise unwritable(folder, error) from error
    take = find(folder, number)
    most = prefs.takes()
    for old in listed(folder)[most:] if most else []:
        remove(old)
    return take


def take_turns(folder: Path, finished: int, why: str) -> tuple[bool, list[str]]:
    """Keep stale frames as a take, and restore the take with the present settings, if there is one. finished: number of
    frames, 0 of an incomplete bake, which does not become a take. Returns whether a take was restored, and sentences.
    Raises ConJacError.
    """
    again, notes = same(folder), []
    if finished:
        made = keep(folder, why)
        notes = [f"The {finished} previous frames are kept as take {made.number}. These changed: {why}"]
    if again is None or not again.folder.is_dir():
        return False, notes
    bring_back(folder, again.folder)
    return True, [*notes, f"Take {again.number} matches the settings: it is the bake again"]


def same(folder: Path) -> Take | None:
    """Return the take that has exactly the job of a folder and all of its frames; None without one."""
    for take in listed(folder):
        with suppress(ConJacError, OSError):
            cache = Cache(take.folder / contents.CACHE)
            if finished(cache) and not cache.compare(folder).list_changes():
                return take
    return None


def bring_back(folder: Path, take: Path) -> None:
    """Make the frames of a take those of its job folder. Raises CacheUnwritable."""
    place.cache_of(folder).free()
    try:
        with suppress(FileNotFoundError):
            (folder / contents.CACHE).rmdir()
        os.rename(take / contents.CACHE, folder / contents.CACHE)
    except OSError as error:
        raise unwritable(folder, error) from error
    contents.remove(take)


def use(obj: bpy.types.Object, scene: bpy.types.Scene, number: int) -> list[str]:
    """Play a take of the object's bake; the present bake becomes a take. Returns sentences. Raises ConJacError."""
    folder = place.of(obj).folder
    take = find(folder, number)
    taken.sweep(folder)
    cache = place.cache_of(folder)
    if cache.manifest is not None and cache.frames_done():
        before(folder)
        keep(folder, "")
    try:
        if (take.folder / contents.ARRAYS).is_dir():
            refuse_links(folder, folder / contents.ARRAYS)
            for name in (*job_files.listed_arrays(folder), job_files.LIST):
                (folder / contents.ARRAYS / name).unlink(missing_ok=True)
            (folder / contents.ARRAYS).mkdir(exist_ok=True)
            for name in (*job_files.listed_arrays(take.folder), job_files.LIST):
                os.replace(take.folder / contents.ARRAYS / name, folder / contents.ARRAYS / name)
        os.replace(take.folder / contents.SCENE, folder / contents.SCENE)
    except OSError as error:
        raise unwritable(folder, error) from error
    bring_back(folder, take.folder)
    return [f'"{obj.name}" plays take {take.number}', *shown.show(obj, scene, folder, place.cache_of(folder), "")]


def remove(take: Take) -> None:
    """Delete a take from the disk."""
    contents.remove(take.folder)


def finished(cache: Cache) -> int:
    """Return the number of frames of a complete bake, else 0: an incomplete bake does not become a take."""
    done = set(cache.frames_done())
    # a shorter range than the last bake's is one that the panel calls complete
    ranges = cache.compare().frames, cache.frames
    return next((len(wanted) for wanted in ranges if wanted and set(wanted) <= done), 0)


def _link(folder: Path, made: Path) -> None:
    refuse_links(folder, made)
    (made / contents.ARRAYS).mkdir(parents=True)
    arrays = (Path(contents.ARRAYS, name) for name in (*job_files.listed_arrays(folder), job_files.LIST))
    for name in (Path(contents.SCENE), *arrays):
        if (folder / name).is_file():
            moving.link(str(folder / name), str(made / name))


def _number(folder: Path, made: Path) -> int:
    """Give the finished take `next` its number, and return that."""
    number = 1 + max((int(path.name) for path in contents.takes(folder) if path.name.isdecimal()), default=0)
    os.rename(made, made.with_name(str(number)))
    return number


def _read(path: Path) -> Take | None:
    try:
        with open_regular(path / contents.TAKE) as stream:
            why = str(json.loads(stream.read())["why"])[:LONGEST]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        why = ""
    cache = Cache(path / contents.CACHE)
    try:
        done = cache.frames_done()
    except ConJacError:
        return None
    size = 0
    for file in contents.files(path):
        with suppress(OSError):
            size += file.stat().st_size
    return Take(int(path.name), path, done[0], done[-1], why, size) if done else None
