"""Files that are whole or not there: temporary name, flush, rename, flush; their digests. Standard library only.

A job or a cache may come from a stranger, so no link in it is followed, and nothing but regular files is opened:
what is written or deleted through a link is somebody else's, and a pipe would be waited for without end.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import time
import unicodedata
from io import BufferedRandom, BufferedReader, BufferedWriter
from pathlib import Path

from ..errors import CacheUnwritable

FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG}
READ_ONLY = {errno.EROFS}
GONE = {errno.ENOENT, errno.ENODEV, errno.EIO, errno.ENXIO, getattr(errno, "ESTALE", errno.EIO)}
NO_FLUSH = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EROFS}  # of a folder, where that is not done
BUSY_TRIES = 8  # waits of 10 ms, 20 ms, ... 1.3 s: a virus scanner or a player lets go within that
TEMPORARY = ".tmp"

#: how files are opened: not through a link, and a pipe at once, to be refused, instead of waiting for its other end
CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

#: as Windows calls what leads elsewhere; files that a cloud keeps are marked in the same place and are none of these
LINK_TAGS = {0xA000000C, 0xA0000003}  # symbolic link, junction


class NotRegular(OSError):
    """A link, or what is neither a file nor a folder."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(errno.ELOOP, f"{path.name} is {what}, which ConJac does not touch")


def is_link(path: Path) -> bool:
    """Whether this name leads elsewhere: a symbolic link or a junction. False where there is nothing."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) in LINK_TAGS


def refuse_links(root: Path, path: Path) -> None:
    """Raises NotRegular where `path`, or a folder on the way to it from `root`, is a link. `root` itself may be one."""
    at = root
    for part in path.relative_to(root).parts:
        at = at / part
        if is_link(at):
            raise NotRegular(at, "a link")


def open_regular(path: Path, root: Path | None = None) -> BufferedReader:
    """Open a regular file for reading bytes; never one behind a link, nor a pipe. Raises OSError.

    root: no folder below it, on the path to the file, may be a link either; the file's own folder where left out.
    """
    refuse_links(path.parent if root is None else root, path)
    return os.fdopen(_descriptor(path, os.O_RDONLY), "rb")


def open_to_change(path: Path) -> BufferedRandom:
    """A regular file that is there and has no other name, to be read and written where it stands. Raises OSError."""
    stream = os.fdopen(_descriptor(path, os.O_RDWR), "r+b")
    if os.fstat(stream.fileno()).st_nlink > 1:
        stream.close()
        raise NotRegular(path, "a file of several names")
    return stream


def append(path: Path, content: bytes, root: Path) -> None:
    """Add to the end of a regular file, which is made where there is none. root: as of `open_regular`.

    A file that has other names as well is not changed: a backup may have it. Raises OSError.
    """
    refuse_links(root, path)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | CAREFUL, 0o666)
    with os.fdopen(descriptor, "ab") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise NotRegular(path, "no regular file" if status.st_nlink < 2 else "a file of several names")
        stream.write(content)


def _descriptor(path: Path, how: int) -> int:
    """Return a descriptor of an existing regular file."""
    # looked at before: opening a device may already do something
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise NotRegular(path, "no regular file")
    descriptor = os.open(path, how | CAREFUL)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegular(path, "no regular file")
    return descriptor


def create(path: Path, root: Path | None = None) -> BufferedWriter:
    """A file that was not there, to be written. What a crash or a stranger left under its name goes, not its target.

    root: as of `open_regular`. Raises OSError.
    """
    refuse_links(path.parent if root is None else root, path.parent)
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | CAREFUL, 0o666), "wb")


def make_folder(path: Path) -> None:
    """Make a folder where there is none. The one around it must exist: a folder that vanished is not made again.

    Raises OSError, NotRegular where a link is there.
    """
    try:
        path.mkdir()
    except FileExistsError:
        if is_link(path):
            raise NotRegular(path, "a link") from None
        if not path.is_dir():
            raise
    else:
        flush_names(path.parent)


def flush_names(folder: Path) -> None:
    """Let the disk keep which files a folder has, which a rename alone leaves to it for seconds. Raises OSError.

    Nothing where the system or the file system does not do this for folders (Windows, some network drives).
    """
    how = getattr(os, "O_DIRECTORY", None)
    if how is None:
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | how)
    except PermissionError:  # it may be written to but not listed
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_FLUSH:
            raise
    finally:
        os.close(descriptor)


def digest(path: Path) -> str:
    """blake2b of a regular file's bytes, 40 hexadecimal digits. Raises OSError."""
    with open_regular(path) as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=20)).hexdigest()


def digest_of(content: bytes | memoryview) -> str:
    """Return blake2b of these bytes, equal to `digest` of a file with them."""
    return hashlib.blake2b(content, digest_size=20).hexdigest()


def write_whole(path: Path, content: bytes | memoryview, root: Path | None = None) -> None:
    """Write a file that is complete under its name or does not exist; an older one of that name stays until then.

    Once this returns the disk has it, even if the power fails.

    Its folder must exist. root: no folder below it, on the path to the file, may be a link; the file's own folder where
    left out. Raises CacheUnwritable when the disk is full or the folder cannot be written; nothing is left over then.
    """
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        stream = create(temporary, root)
        try:
            with stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            replace(temporary, path)
            flush_names(path.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
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


#: what to do about a folder that has gone
BRING_BACK = "Restore it, or its disk, and resume: the frames written so far are in it. Otherwise bake again"


def unwritable(path: Path, error: OSError) -> CacheUnwritable:
    """The error for the user when `path` could not be written."""
    if error.errno in FULL:
        return CacheUnwritable(f"there is no room left to write {path}",
                               "Free some space on that disk and resume; the frames written so far are whole")
    if isinstance(error, NotRegular):
        return CacheUnwritable(f"{path} cannot be written ({error.strerror})",
                               "Check where it leads; remove it, or bake in another folder")
    if error.errno in READ_ONLY:
        return CacheUnwritable(f"{path} cannot be written: its disk is read-only",
                               "Choose a folder on another disk, or make that one writable and resume")
    if error.errno in GONE and not path.parent.is_dir():
        return CacheUnwritable(f"{path} cannot be written: the folder {path.parent} has gone", BRING_BACK)
    return CacheUnwritable(f"{path} cannot be written ({error.strerror or error})",
                           "Choose a folder that you may write to")


def safe_name(name: str) -> str:
    """Return a file name for any object name: readable where it can be, always unique, never a path.

    Letters and digits of any alphabet stay; the rest becomes `_`; a digest distinguishes "a/b", "a:b" and "A_B", also
    on file systems that ignore case.
    """
    readable = re.sub(r"[^\w-]+", "_", unicodedata.normalize("NFC", name)).strip("_")[:40]
    return f"{readable}-{digest_of(name.encode('utf-8', 'surrogatepass'))[:8]}".lstrip("-")
