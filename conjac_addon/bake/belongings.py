"""Files that the add-on adds to a job folder for playback: besides the cache's own, only these are deleted."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from ...solver.errors import CacheUnwritable
from ...solver.job.files import open_regular, write_whole

LIST = "playback.json"


def listed(folder: Path) -> list[Path]:
    """Return the listed files; names that lead out of the folder are ignored."""
    try:
        with open_regular(folder / LIST) as stream:
            names = json.loads(stream.read())["files"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    return [folder / name for name in names if isinstance(name, str) and name == Path(name).name and name != LIST]


def add(folder: Path, file: Path) -> None:
    """Remember a file before it is written. Raises CacheUnwritable."""
    names = [path.name for path in listed(folder)]
    if file.name in names:
        return
    _write(folder, [*names, file.name])


def _write(folder: Path, names: list[str]) -> None:
    write_whole(folder / LIST, json.dumps({"files": names}, ensure_ascii=False).encode(), folder)


def free(folder: Path, retained: Collection[str] = ()) -> int:
    """Delete the files and the list, and return how many files. Raises CacheUnwritable where a program has one open.

    retained: names of files that stay, and stay listed.
    """
    freed = 0
    for path in listed(folder):
        if path.name in retained:
            continue
        try:
            path.unlink()
            freed += 1
        except FileNotFoundError:
            pass
        except OSError as error:
            raise CacheUnwritable(f"{path} cannot be deleted ({error.strerror or error})",
                                  "Close the program that holds it") from error
    names = [path.name for path in listed(folder) if path.name in retained]
    if names:
        _write(folder, names)
    else:
        (folder / LIST).unlink(missing_ok=True)
    return freed
