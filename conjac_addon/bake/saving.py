"""Save the .blend without a user: to a temporary file first, which replaces the old one only if it is complete, since
Blender reports success also if the disk was full and half of the file is missing."""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import bpy

from ...solver.errors import Environment
from ...solver.job.files import flush_names, replace
from . import handlers

ZSTD, SEEK_TABLE = 0xFD2FB528, 0x184D2A5E  # how frames of compressed data begin, and the table behind them
TABLE_END = struct.Struct("<IBI")  # number of frames, flags, magic number
TABLE_MAGIC = 0x8F92EAB1
BESIDE = ".conjac-saving.blend"


def save() -> None:
    """Save the .blend under its own name. Raises Environment where that cannot be; the file is as it was then."""
    target = Path(os.path.realpath(bpy.data.filepath))
    fresh = beside(target)
    try:
        if target.exists() and not os.access(target, os.W_OK):
            raise OSError("the file may not be written")
        _remove(fresh)
        with handlers.saves_as(fresh, bpy.data.filepath):
            _write(fresh, target)
            check(fresh)
            _put_in_place(fresh, target)
    except (OSError, RuntimeError, ValueError) as error:
        why = str(getattr(error, "strerror", None) or error).strip().removeprefix("Error: ").splitlines()[0].strip()
        raise Environment(f"every frame is baked, and {bpy.data.filepath} is not saved ({why})",
                          "Make the file writable, or free some space, and run this again: no frame is baked again"
                          ) from error
    finally:
        _remove(fresh)
        _remove(fresh.with_name(fresh.name + "@"))  # what Blender was about to write


def beside(target: Path) -> Path:
    """Return the path at which a .blend is written before it replaces the old one."""
    return target.with_name(target.stem + BESIDE)


def check(path: Path) -> None:
    """Raises ValueError, OSError where a .blend is not whole: it ends too early, or Blender cannot read its scenes."""
    with open(path, "rb") as stream:
        (_check_compressed if is_compressed(path) else _check_blocks)(stream, path.stat().st_size)
    with bpy.data.libraries.load(str(path)) as (there, _):  # type: ignore[func-returns-value]
        found = set(there.scenes)
    if found != {scene.name for scene in bpy.data.scenes if scene.library is None}:
        raise ValueError("what was written has other scenes")


def is_compressed(path: Path) -> bool:
    """Whether a .blend is. Raises OSError."""
    with open(path, "rb") as stream:
        return stream.read(4) == struct.pack("<I", ZSTD)


def _check_blocks(stream: BinaryIO, size: int) -> None:
    """A header, blocks one behind the other with the description of all their types, and the block that ends them."""
    start = stream.read(17)
    if not start.startswith(b"BLENDER"):
        raise ValueError("what was written is no .blend")
    # from Blender 5.0 on the header tells its own length, and blocks may be larger than 2 GB
    large = start[7:9].isdigit()
    at, head = (int(start[7:9]), struct.Struct("<4si8xq8x")) if large else (12, struct.Struct("<4si16x"))
    described = False
    while at + head.size <= size:
        stream.seek(at)
        code, *lengths = head.unpack(stream.read(head.size))
        if code == b"ENDB":
            if described:
                return
            break
        described |= code == b"DNA1"
        if lengths[-1] < 0:
            break
        at += head.size + lengths[-1]
    raise ValueError(_CUT_SHORT)


def _check_compressed(stream: BinaryIO, size: int) -> None:
    """Frames one behind the other and a table of their lengths, which has to add up to the size of the file."""
    if size < TABLE_END.size:
        raise ValueError(_CUT_SHORT)
    stream.seek(size - TABLE_END.size)
    count, flags, magic = TABLE_END.unpack(stream.read(TABLE_END.size))
    each = 12 if flags & 0x80 else 8  # with a checksum
    begins = size - TABLE_END.size - count * each - 8
    if magic != TABLE_MAGIC or begins < 0:
        raise ValueError(_CUT_SHORT)
    stream.seek(begins)
    table = stream.read(8 + count * each)
    if struct.unpack_from("<II", table) != (SEEK_TABLE, count * each + TABLE_END.size):
        raise ValueError(_CUT_SHORT)
    at = 0
    for k in range(count):
        stream.seek(at)
        if stream.read(4) != struct.pack("<I", ZSTD):
            raise ValueError(_CUT_SHORT)
        at += struct.unpack_from("<I", table, 8 + k * each)[0]
    if at != begins:
        raise ValueError(_CUT_SHORT)


_CUT_SHORT = "only a part of it could be written"


def _write(fresh: Path, target: Path) -> None:
    """As Blender would write the file itself. Raises RuntimeError."""
    options: dict[str, Any] = {"compress": is_compressed(target)} if target.exists() else {}
    bpy.ops.wm.save_as_mainfile(filepath=str(fresh), check_existing=False, copy=True, relative_remap=False, **options)


def _put_in_place(fresh: Path, target: Path) -> None:
    """Replace the old file by the new one; the old one remains as .blend1 if the preferences ask for backups. Raises
    OSError."""
    # what is only in the system's memory may still turn out to have no room
    with open(fresh, "rb+") as stream:
        os.fsync(stream.fileno())
    if target.exists():
        os.chmod(fresh, target.stat().st_mode & 0o7777)
        _keep_versions(target, bpy.context.preferences.filepaths.save_version)
    replace(fresh, target)
    flush_names(target.parent)


def _keep_versions(target: Path, count: int) -> None:
    """The last few files before this one, as Blender keeps them: .blend1 is the newest. Raises OSError."""
    for k in range(count - 1, 0, -1):
        older = target.with_name(f"{target.name}{k}")
        if older.exists():
            replace(older, target.with_name(f"{target.name}{k + 1}"))
    if count:
        newest = target.with_name(target.name + "1")
        newest.unlink(missing_ok=True)
        try:
            os.link(target, newest)
        except OSError:  # a disk where a file has one name
            replace(target, newest)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
