"""Files of a job folder that belong to the extension: no others are ever moved or deleted.

A .blend may come from a stranger and name any folder of the user, so its paths are not trusted: a folder belongs to the
extension only if it contains a `home.json` that the extension wrote, and only the files in its lists count.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from ...solver.frames import lock
from ...solver.frames.read import Cache
from ...solver.job.files import TEMPORARY, is_link, open_regular
from ..gather import folder as job_files
from . import belongings, home

SCENE, PLAYERS, ARRAYS, STAGES, CACHE = "scene.json", "players.json", "arrays", "stages", "cache"
TAKES, TAKE = "takes", "take.json"
ASIDE = "aside"  #: in takes/: frames that are replaced, see earlier_frames.py
LOCKS = (lock.LOCK, lock.FRESH, lock.TURN)

#: files by name that lie in a job folder itself
NAMES = frozenset({SCENE, PLAYERS, TAKE, home.FILE, belongings.LIST})

#: names of the solver's files in stages/
STAGE = re.compile(r".+_(tets|fields)_[0-9a-f]{8,40}\.npz(\.tmp)?")

#: what the folders in takes/ are called, each a job folder with what was baked before: see takes.py
A_TAKE = re.compile(r"next|aside|[1-9][0-9]{0,5}")

#: fields that scene.json has whatever is baked
FIELDS = frozenset({"version", "time", "bodies", "method", "integrator"})


def files(folder: Path) -> list[Path]:
    """Return the existing files of a job folder that are in its lists; none behind a link."""
    found = [folder / name for name in (*NAMES, *(name + TEMPORARY for name in NAMES))]
    found += belongings.listed(folder)
    for path in belongings.listed(folder):  # what is written beside a file before it takes its place
        found += [path.with_name(path.name + ".new"), path.with_name(f"{path.stem}.new{path.suffix}")]
    if not is_link(folder / ARRAYS):
        found += [folder / ARRAYS / name for name in (*job_files.listed_arrays(folder), job_files.LIST)]
    found += [path for path in _inside(folder / STAGES) if STAGE.fullmatch(path.name)]
    if not is_link(folder / CACHE):
        found += [*Cache(folder / CACHE).files(), *(folder / CACHE / name for name in LOCKS)]
    for take in takes(folder):
        found += files(take)
    return [path for path in dict.fromkeys(found) if os.path.lexists(path)]


def takes(folder: Path) -> list[Path]:
    """Return the folders of takes, none behind a link. A take has no takes of its own."""
    if folder.parent.name == TAKES:
        return []
    return [path for path in _inside(folder / TAKES) if A_TAKE.fullmatch(path.name) and path.is_dir()
            and not is_link(path)]


def _inside(folder: Path) -> Iterator[Path]:
    """Yield the contents of a folder that is no link; nothing where there is none."""
    if not is_link(folder):
        with suppress(OSError):
            yield from sorted(folder.iterdir())


def remove(folder: Path, retained: Collection[str] = ()) -> None:
    """Delete the extension's files in a job folder, and folders that are empty then. Other files remain. retained:
    names of files in the folder itself that remain."""
    for path in files(folder):
        if path.parent != folder or path.name not in retained:
            with suppress(OSError):
                path.unlink()
    if not retained:
        lock.sweep(folder)
    below = {path.parent for path in map(Path, _folders(folder))}
    for path in (*sorted({*_folders(folder), *below}, reverse=True), folder):
        if path.is_relative_to(folder):
            with suppress(OSError):
                path.rmdir()  # not empty: somebody else's files stay, and so does their folder


def _folders(folder: Path) -> list[Path]:
    """Return the folders below a job folder that are ours, the cache's among them."""
    cache = [path for path in _inside(folder / CACHE) if path.is_dir() and not path.is_symlink()]
    of_takes = [below for take in takes(folder) for below in (take, *_folders(take))]
    return [folder / ARRAYS, folder / f"{ARRAYS}.new", folder / STAGES, folder / CACHE, *cache, folder / TAKES,
            *of_takes]


def is_vacant(folder: Path) -> bool:
    """Whether an unsigned folder may become a job folder: it does not exist, is empty, or has only files of a ConJac
    that did not sign it: tetrahedra of a preview, a lock, a job of a version before signatures."""
    if is_link(folder):
        return False
    try:
        there = [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]
    except FileNotFoundError:
        return True
    except OSError:
        return False
    if not there:
        return folder.is_dir() or not folder.exists()
    ours = {*files(folder), *(folder / name for name in LOCKS)}
    return all(path in ours for path in there) and not (folder / home.FILE).exists() and _is_scene(folder / SCENE)


def _is_scene(path: Path) -> bool:
    """Whether there is no scene.json, or it is one of ours."""
    if not os.path.lexists(path):
        return True
    try:
        with open_regular(path) as stream:
            scene = json.loads(stream.read())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(scene, dict) and scene.keys() >= FIELDS
