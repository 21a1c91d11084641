"""`home.json` in a job folder: which object of which .blend bakes into it.

The .blend is kept relative to the folder, so that both may be moved together. One that is gone was renamed or deleted:
whoever has the UUID then is the owner.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from ...solver.job.files import open_regular, unwritable, write_whole

FILE = "home.json"


@dataclass(frozen=True)
class Home:
    """Contents of the file that names the owner of a job folder."""

    uuid: str
    object: str  #: its name when this was written, for people and for objects whose UUID was never saved
    blend: str  #: path from the folder; "" for one that was never saved
    session: str = ""  #: of the Blender that has the unsaved .blend


#: what was read of each folder, and when the file changed last
_seen: dict[Path, tuple[int, Home | None]] = {}


def read(folder: Path) -> Home | None:
    """Return the contents of a folder's file; None where there is none. Cheap enough for every redraw."""
    path = folder / FILE
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        return None
    known = _seen.get(path)
    if known is None or known[0] != stamp:
        try:
            with open_regular(path) as stream:
                known = stamp, Home(**json.loads(stream.read()))
        except (OSError, ValueError, TypeError, RecursionError):
            known = stamp, None
        _seen[path] = known
    return known[1]


def write(folder: Path, uuid: str, name: str, blend: str, session: str) -> None:
    """Write the owner of a folder. blend: absolute path, "" for one that was never saved. Raises CacheUnwritable."""
    home = Home(uuid, name, seen_from(folder, blend), "" if blend else session)
    if read(folder) == home:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    write_whole(folder / FILE, json.dumps(asdict(home), ensure_ascii=False).encode(), folder.parent)


def forget(folder: Path) -> None:
    """Remove the owner of a folder."""
    (folder / FILE).unlink(missing_ok=True)


def is_of(folder: Path, home: Home, blend: str, session: str) -> bool:
    """Whether the folder belongs to this .blend: it is named as the owner, or the named owner no longer exists."""
    if not home.blend:
        return not blend and home.session == session
    named = Path(os.path.normpath(folder / home.blend))
    try:
        return os.path.samefile(named, blend) if blend else False
    except OSError:
        return str(named) == os.path.normpath(blend) or not named.exists()


def seen_from(folder: Path, blend: str) -> str:
    """Return the .blend as seen from the folder; its absolute path where it is on another drive."""
    if not blend:
        return ""
    try:
        return Path(os.path.relpath(blend, folder)).as_posix()
    except ValueError:
        return blend
