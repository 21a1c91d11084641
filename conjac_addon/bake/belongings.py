"""What the add-on has put into a job folder to play a bake: the only files, beside the cache's own, that are freed."""

from __future__ import annotations

import json
from pathlib import Path

from ...solver.errors import CacheUnwritable
from ..playback.pc2 import replace

LIST = "playback.json"


def listed(folder: Path) -> list[Path]:
    """The files; names that would lead out of the folder are not believed."""
    try:
        names = json.loads((folder / LIST).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [folder / name for name in names if isinstance(name, str) and name == Path(name).name and name != LIST]


def add(folder: Path, file: Path) -> None:
    """Remember a file before it is written. Raises CacheUnwritable."""
    names = [path.name for path in listed(folder)]
    if file.name in names:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f"{LIST}.new"
        fresh.write_text(json.dumps({"files": [*names, file.name]}, ensure_ascii=False), encoding="utf-8")
        replace(fresh, folder / LIST)
    except OSError as error:
        raise CacheUnwritable(f"the folder {folder} cannot be written ({error.strerror or error})",
                              "Choose another cache folder") from error


def free(folder: Path) -> int:
    """Delete the files and the list. Returns how many files. Raises CacheUnwritable where one is held."""
    freed = 0
    for path in listed(folder):
        try:
            path.unlink()
            freed += 1
        except FileNotFoundError:
            pass
        except OSError as error:
            raise CacheUnwritable(f"{path} cannot be deleted ({error.strerror or error})",
                                  "Close the program that holds it") from error
    (folder / LIST).unlink(missing_ok=True)
    return freed
