"""Atomic writing of files (temporary name, flush, rename, flush), safe opening, and digests. Standard library only.

A job or a cache may come from a stranger, so no link in it is followed and only regular files are opened: a link could
lead to a file of somebody else, and opening a pipe could wait for ever.
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
UNREACHABLE = {errno.ENOENT, errno.ENODEV, errno.EIO, errno.ENXIO, getattr(errno, "ESTALE", errno.EIO)}
NO_FLUSH = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EROFS}  # errors where folders cannot be flushed
#: attempts to rename a file, with waits of 10 ms, 20 ms, ... 1.3 s: a virus scanner or a player lets go within that
BUSY_TRIES = 9
LARGEST_JSON = 256 << 20  #: [bytes] of a scene.json or a manifest that is read
TEMPORARY = ".tmp"

#: flags for opening files: links are not followed, and a pipe is opened without waiting for its other end
CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

#: reparse tags of links on Windows; tags of files that a cloud service stores differ from these
LINK_TAGS = {0xA000000C, 0xA0000003}  # symbolic link, junction


class NotRegular(OSError):
    """Error for a path that is a link, no regular file, or a file with several names."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(errno.ELOOP, f"{path.name} is {what}, which ConJac does not touch")


def is_link(path: Path) -> bool:
    """Return whether a path is a symbolic link or a junction; False where it does not exist."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) in LINK_TAGS


def refuse_links(root: Path, path: Path) -> None:
    """Raise NotRegular where `path`, or a folder between `root` and `path`, is a link; `root` itself may be one."""
    at = root
    for part in path.relative_to(root).parts:
        at = at / part
        if is_link(at):
            raise NotRegular(at, "a link")


def open_regular(path: Path, root: Path | None = None) -> BufferedReader:
    """Open a regular file for reading bytes. Raises OSError; its subclass NotRegular for a link, a pipe or a device.

    root: folder below which no folder on the path to the file may be a link either; by default the file's own folder.
    """
    refuse_links(path.parent if root is None else root, path)
    return os.fdopen(_descriptor(path, os.O_RDONLY), "rb")


def open_to_change(path: Path) -> BufferedRandom:
    """Open an existing regular file for reading and writing in place.

    Raises OSError; NotRegular where the file has other names.
    """
    stream = os.fdopen(_descriptor(path, os.O_RDWR), "r+b")
    if os.fstat(stream.fileno()).st_nlink > 1:
        stream.close()
        raise NotRegular(path, "a file of several names")
    return stream


def append(path: Path, content: bytes, root: Path) -> None:
    """Append bytes to a regular file, which is created if it does not exist. root: see `open_regular`.

    Raises OSError; NotRegular for a file that has other names, which may belong to a backup.
    """
    refuse_links(root, path)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | CAREFUL, 0o666)
    with os.fdopen(descriptor, "ab") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise NotRegular(path, "no regular file" if status.st_nlink < 2 else "a file of several names")
        stream.write(content)


def _descriptor(path: Path, how: int) -> int:
    """Return a descriptor of an existing regular file. Raises OSError; NotRegular for any other kind of file."""
    # checked before opening, which alone may have an effect on a device
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise NotRegular(path, "no regular file")
    descriptor = os.open(path, how | CAREFUL)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegular(path, "no regular file")
    return descriptor


def create(path: Path, root: Path | None = None) -> BufferedWriter:
    """Create a new file for writing bytes. An older file or link of this name is deleted, but not the link's target.

    root: see `open_regular`. Raises OSError.
    """
    refuse_links(path.parent if root is None else root, path.parent)
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | CAREFUL, 0o666), "wb")


def make_folder(path: Path) -> None:
    """Make a folder unless it exists. Its parent must exist, so that a job folder that has gone is not made again.

    Raises OSError; NotRegular where the path is a link.
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
    """Flush the list of a folder's files to disk, which may otherwise be seconds behind a rename. Raises OSError.

    No effect where the system or the file system cannot flush folders (Windows, some network drives).
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
    """Return blake2b of a regular file's bytes, 40 hexadecimal digits. Raises OSError."""
    with open_regular(path) as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=20)).hexdigest()


def digest_of(content: bytes | memoryview) -> str:
    """Return blake2b of bytes, 40 hexadecimal digits; equal to `digest` of a file with these bytes."""
    return hashlib.blake2b(content, digest_size=20).hexdigest()


def write_whole(path: Path, content: bytes | memoryview, root: Path | None = None) -> None:
    """Write a file atomically: an older file of this name stays until the new one is complete and on disk.

    The folder must exist. root: folder below which no folder on the path to the file may be a link; by default the
    file's own folder. Raises CacheUnwritable when the disk is full or the folder cannot be written, and then leaves no
    temporary file.
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
    """Rename a file as os.replace does, with retries while another program has the target open (Windows).

    Raises OSError, after BUSY_TRIES attempts where it is a PermissionError.
    """
    for attempt in range(BUSY_TRIES):
        try:
            return os.replace(source, target)
        except PermissionError:
            if attempt == BUSY_TRIES - 1:
                raise
            time.sleep(0.01 * 2**attempt)


#: remedy for a folder that has gone
BRING_BACK = "Restore it, or its disk, and resume: the frames written so far are in it. Otherwise bake again"


def unwritable(path: Path, error: OSError) -> CacheUnwritable:
    """Return the error for the user, with a remedy, where writing `path` raised `error`."""
    if error.errno in FULL:
        return CacheUnwritable(f"there is no room left to write {path}",
                               "Free some space on that disk and resume; the frames written so far are whole")
    if isinstance(error, NotRegular):
        return CacheUnwritable(f"{path} cannot be written ({error.strerror})",
                               "Check where it leads; remove it, or bake in another folder")
    if error.errno in READ_ONLY:
        return CacheUnwritable(f"{path} cannot be written: its disk is read-only",
                               "Choose a folder on another disk, or make that one writable and resume")
    if error.errno in UNREACHABLE and not path.parent.is_dir():
        return CacheUnwritable(f"{path} cannot be written: the folder {path.parent} is missing", BRING_BACK)
    return CacheUnwritable(f"{path} cannot be written ({error.strerror or error})",
                           "Choose a folder that you may write to")


def make_safe_name(name: str) -> str:
    """Return a unique file name for any object name: never a path, and readable where possible.

    Letters and digits of all alphabets remain, other characters become `_`. A digest at its end distinguishes "a/b",
    "a:b" and "A_B", also on file systems that ignore case.
    """
    readable = re.sub(r"[^\w-]+", "_", unicodedata.normalize("NFC", name)).strip("_")[:40]
    return f"{readable}-{digest_of(name.encode('utf-8', 'surrogatepass'))[:8]}".lstrip("-")
