"""Files that are whole or not there: temporary name, flush, rename; and their digests. Standard library only."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import time
import unicodedata
from pathlib import Path

from ..errors import CacheUnwritable

FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG}
BUSY_TRIES = 8  # waits of 10 ms, 20 ms, ... 1.3 s: a virus scanner or a player lets go within that
TEMPORARY = ".tmp"


def digest(path: Path) -> str:
    """blake2b of a file's bytes, 40 hexadecimal digits. Raises OSError."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=20)).hexdigest()


def digest_of(content: bytes | memoryview) -> str:
    """blake2b of these bytes, as `digest` gives it for a file."""
    return hashlib.blake2b(content, digest_size=20).hexdigest()


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Write a file that is complete under its name or not there; an older one of that name stays until then.

    Raises CacheUnwritable when the disk is full or the folder cannot be written; nothing is left behind then.
    """
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True) if os.access(path.parent, os.W_OK) else None
        raise unwritable(path, error) from error


def replace(source: Path, target: Path) -> None:
    """os.replace, tried again with growing waits where another program holds the target open (Windows)."""
    for attempt in range(BUSY_TRIES):
        try:
            return os.replace(source, target)
        except PermissionError:
            if attempt == BUSY_TRIES - 1:
                raise
            time.sleep(0.01 * 2**attempt)


def unwritable(path: Path, error: OSError) -> CacheUnwritable:
    """The error for the user when `path` could not be written."""
    if error.errno in FULL:
        return CacheUnwritable(f"there is no room left to write {path}",
                               "Free some space on that disk and resume; the frames written so far are whole")
    return CacheUnwritable(f"{path} cannot be written ({error.strerror or error})",
                           "Choose a folder that you may write to")


def safe_name(name: str) -> str:
    """A file name for any object name: readable where it can be, always unique, never a path.

    Letters and digits of any alphabet stay; the rest becomes `_`; a digest keeps "a/b", "a:b" and "A_B" apart,
    also on file systems that do not tell capitals.
    """
    readable = re.sub(r"[^\w-]+", "_", unicodedata.normalize("NFC", name)).strip("_")[:40]
    return f"{readable}-{digest_of(name.encode('utf-8', 'surrogatepass'))[:8]}".lstrip("-")
