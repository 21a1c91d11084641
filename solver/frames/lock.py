"""Who bakes into a cache: a lock file that says its process. Standard library only."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import CacheBusy
from ..job.files import unwritable

LOCK = "lock"
SETTLE = 10.0  # s: an empty lock file younger than this is one that is being written


@dataclass(frozen=True)
class Holder:
    """The process that a lock file names."""

    pid: int
    host: str
    start: str  #: when the process began, in the system's own words; "" where the system does not tell

    def alive(self) -> bool:
        """Whether the process still runs. One of another host is taken to run: nothing here can tell."""
        if self.host != socket.gethostname():
            return True
        return process_runs(self.pid) and (not self.start or process_start(self.pid) in ("", self.start))


def here() -> Holder:
    """This process."""
    return Holder(os.getpid(), socket.gethostname(), process_start(os.getpid()))


def holder(folder: Path) -> Holder | None:
    """Who holds the cache, dead or alive; None where nobody does or the lock file says nothing."""
    try:
        return Holder(**json.loads((folder / LOCK).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def busy(folder: Path) -> bool:
    """Whether a living process bakes into this cache."""
    found = holder(folder)
    return found.alive() if found else _just_made(folder / LOCK)


def process_runs(pid: int) -> bool:
    """Whether there is such a process on this machine. Sends it nothing: on Windows even signal 0 is one."""
    if sys.platform == "win32":
        import ctypes

        synchronize, access_denied, timeout = 0x00100000, 5, 0x102
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        handle = kernel.OpenProcess(synchronize, False, pid)
        if not handle:
            return ctypes.get_last_error() == access_denied
        try:
            return bool(kernel.WaitForSingleObject(handle, 0) == timeout)
        finally:
            kernel.CloseHandle(handle)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return not _zombie(pid)


def process_start(pid: int) -> str:
    """When the process began, so that a number given out again is not mistaken for it; "" where unknown."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else ""


def _zombie(pid: int) -> bool:
    return _stat(pid)[:1] == ["Z"]


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on; empty where there is no such file."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the cache while the block runs; a lock whose process died is taken over.

    Raises CacheBusy where another process holds it, CacheUnwritable where the folder cannot be written.
    """
    path = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        if not _create(path, here()):
            _take_over(folder)
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        yield
    finally:
        if holder(folder) == here():
            path.unlink(missing_ok=True)


def _create(path: Path, who: Holder) -> bool:
    """Make the lock file; False where there is one. The system lets only one process succeed."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(asdict(who), stream)
    return True


def _take_over(folder: Path) -> None:
    """Replace the lock of a dead process. A second file keeps two heirs from both taking it."""
    guard = folder / "lock.heir"
    if busy(folder) or not _create(guard, here()):
        raise _busy(folder)
    try:
        if busy(folder):
            raise _busy(folder)
        (folder / LOCK).unlink(missing_ok=True)
        if not _create(folder / LOCK, here()):
            raise _busy(folder)
    finally:
        guard.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Drop the guard of an heir that died while it took over."""
    guard = folder / "lock.heir"
    if guard.exists() and not _just_made(guard):
        guard.unlink(missing_ok=True)


def _just_made(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime < SETTLE
    except OSError:
        return False


def _busy(folder: Path) -> CacheBusy:
    found = holder(folder)
    who = f"process {found.pid} on {found.host}" if found else "another process"
    return CacheBusy(f"{who} bakes into {folder}",
                     f"Wait for it or stop it; if it is long gone, delete the file {folder / LOCK}")
