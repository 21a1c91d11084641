"""Lock of a cache: a file with the process that bakes into it and its heartbeat. Standard library only.

The file is written under another name and linked into place, so it is whole as soon as it exists: a process that is
killed meanwhile leaves no lock. To take or take over the file requires a lock of the operating system, which is
released at death. Whether a holder on this machine lives, the system knows; of another machine only the file's time
counts, which its holder renews every few seconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from ..errors import CacheBusy, CacheUnwritable
from ..job.files import BRING_BACK, CAREFUL, NotRegular, create, is_link, make_folder, open_regular, unwritable

LOCK, FRESH, TURN = "lock", "lock.new", "lock.turn"
SETTLE = 10.0  #: [s] an empty lock file younger than this is one that an older ConJac is writing
BEAT = 5.0  #: [s] between two signs of life
#: [s] without a sign of life: a file server may show a time a minute late, and one library call may take as long
EXPIRY = 300.0
REBOOT = 30.0  #: [s] of the same where the name is this machine's: most likely it was rebooted, which takes longer
PATIENCE = 5.0  #: [s] to wait for a turn
LONGEST_LOCK = 4096  #: [bytes] of a lock file that are read: no lock is longer


@dataclass(frozen=True)
class Holder:
    """Process that a lock file names."""

    pid: int
    host: str
    start: str  #: when the process began, in the system's own words; "" where the system does not know
    machine: str = ""  #: distinguishes two machines of one name; "" where nothing does
    beats: bool = False  #: whether it renews the file's time while it lives; older versions do not

    @property
    def near(self) -> bool:
        """Whether the process is of this machine, so that its system can be queried."""
        return self.host == socket.gethostname() and self.machine in ("", machine())

    def alive(self) -> bool:
        """Return whether the process still runs. A process of another machine is assumed to run: only its heartbeat is
        known."""
        return not self.near or (process_runs(self.pid)
                                 and (not self.start or process_start(self.pid) in ("", self.start)))


@cache
def machine() -> str:
    """Return an identity of this boot of this machine and the processes visible here; "" where the system has none."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def this_process() -> Holder:
    """Return this process as a holder of a lock."""
    return Holder(os.getpid(), socket.gethostname(), process_start(os.getpid()), machine(), beats=True)


def holder(folder: Path) -> Holder | None:
    """Return the holder of the cache, dead or alive; None where there is none or the lock file is empty."""
    try:
        with open_regular(folder / LOCK) as stream:
            holding = Holder(**json.loads(stream.read(LONGEST_LOCK)))
        fits = isinstance(holding.pid, int) and 0 < holding.pid < 2**31 and isinstance(holding.host, str)
        return holding if fits and isinstance(holding.start, str) and isinstance(holding.machine, str) else None
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def silence(folder: Path) -> float | None:
    """Return the time since the last heartbeat of the lock's holder by this machine's clock [s]; None where there is no
    lock.

    Negative where the file is dated in the future.
    """
    try:
        return time.time() - os.lstat(folder / LOCK).st_mtime
    except OSError:
        return None


def busy(folder: Path) -> bool:
    """Return whether a living process bakes into this cache."""
    holding, quiet = holder(folder), silence(folder)
    if quiet is None:
        return False
    if holding is None:
        return 0 <= quiet < SETTLE and not is_link(folder / LOCK)
    if holding.near or not holding.beats:
        return holding.alive()
    return abs(quiet) < (REBOOT if holding.host == socket.gethostname() else EXPIRY)


def description(folder: Path) -> str:
    """Return a sentence on the process that has the lock and the time since its last heartbeat; "" where there is no
    lock."""
    holding, quiet = holder(folder), silence(folder)
    if quiet is None:
        return ""
    holding_process = f"process {holding.pid} on {holding.host}" if holding else "another process"
    if quiet < 0:
        return f"{holding_process}, whose clock is ahead of this one"
    return f"{holding_process}, last heard of {_ago(quiet)} ago"


def break_lock(folder: Path) -> str:
    """Take the lock away from its holder and return a description of it; a bake that lives stops before its next frame.

    For a lock whose process is known to be gone and cannot be queried. Raises CacheUnwritable.
    """
    holding_process = description(folder)
    try:
        with _turn(folder):
            (folder / LOCK).unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(folder / LOCK, error) from error
    return holding_process


def sweep(folder: Path) -> None:
    """Remove the lock of a process that died, and temporary files of its locking."""
    for name in (LOCK, FRESH, TURN):
        with contextlib.suppress(OSError):
            (folder / name).unlink()


class AcquiredLock:
    """Lock of a cache that this process has. The heartbeat has a thread of its own until the lock is released."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._me, self._end = folder, this_process(), threading.Event()
        self._thread = threading.Thread(target=self._beat, name="lock", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise CacheBusy where another process took the lock away, CacheUnwritable where the whole folder has gone."""
        if holder(self._folder) == self._me:
            return
        if not self._folder.is_dir():
            raise CacheUnwritable(f"the folder {self._folder} disappeared while it was baked into", BRING_BACK)
        now = description(self._folder)
        raise CacheBusy(f"the lock of {self._folder} was taken away" + (f" by {now}" if now else ""),
                        "Resume once no other process bakes into it")

    def release(self) -> None:
        """End the heartbeat and remove the lock file, where it is still that of this process."""
        self._end.set()
        self._thread.join()
        if holder(self._folder) == self._me:
            with contextlib.suppress(OSError):  # its disk has gone: so has the lock
                (self._folder / LOCK).unlink(missing_ok=True)

    def _beat(self) -> None:
        while not self._end.wait(BEAT):
            if holder(self._folder) == self._me:
                with contextlib.suppress(OSError):  # `check` reports it
                    os.utime(self._folder / LOCK)


@contextlib.contextmanager
def acquire(folder: Path) -> Iterator[AcquiredLock]:
    """Lock the cache while the block runs, and yield the lock; that of a process that died is taken over.

    The folder is made where there is none; the one around it must exist. Raises CacheBusy where another process has the
    lock, CacheUnwritable where the folder cannot be written.
    """
    try:
        make_folder(folder)
        with _turn(folder):
            _take(folder)
    except OSError as error:
        raise unwritable(folder / LOCK, error) from error
    holding = AcquiredLock(folder)
    try:
        yield holding
    finally:
        holding.release()


def _take(folder: Path) -> None:
    """Write the lock file, in place of that of a dead process if there is one. Raises CacheBusy, OSError."""
    path, fresh = folder / LOCK, folder / FRESH
    if busy(folder) or _is_beating(folder):
        raise CacheBusy(f"{description(folder) or 'another process'}, bakes into {folder}",
                        f"Wait for it or stop it; if it is long gone, use Break Lock or delete the file {path}")
    path.unlink(missing_ok=True)
    with create(fresh) as stream:
        stream.write(json.dumps(asdict(this_process())).encode())
    try:
        os.link(fresh, path)  # of two without a turn only one succeeds
    except FileExistsError:
        raise CacheBusy(f"another process begins to bake into {folder}", "Wait for it or stop it") from None
    except OSError:  # a file system without links
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)


def _is_beating(folder: Path) -> bool:
    """Return whether another machine's lock is alive although its time is far off: clocks differ, so changes are
    awaited."""
    holding, seen = holder(folder), _beat_seen(folder)
    if holding is None or seen is None or holding.near or not holding.beats:
        return False
    until = time.monotonic() + 2.5 * BEAT
    while time.monotonic() < until:
        time.sleep(BEAT / 10)
        if _beat_seen(folder) != seen:
            return True
    return False


def _beat_seen(folder: Path) -> int | None:
    """Return the time to which the lock was last set [ns]. The file is opened, since a file server then updates it."""
    try:
        with open_regular(folder / LOCK) as stream:
            return os.fstat(stream.fileno()).st_mtime_ns
    except OSError:
        return None


@contextlib.contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Run the block in one process of this machine at a time; the system releases the turn at death.

    Where the file system has no locks, no process waits: the link then decides. Raises CacheBusy, OSError.
    """
    path, until = folder / TURN, time.monotonic() + PATIENCE
    while True:
        if is_link(path):
            raise NotRegular(path, "a link")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | CAREFUL, 0o666)
        try:
            is_locked = _lock(descriptor)
            # its file may have gone with the process that had the turn before
            with contextlib.suppress(OSError):
                if is_locked is not False and os.path.samestat(os.fstat(descriptor), os.stat(path)):
                    break
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if time.monotonic() > until:
            raise CacheBusy(f"another process takes or frees {folder}", "Try again in a moment")
        time.sleep(0.02)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows deletes no file that is open
            path.unlink()
        os.close(descriptor)
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                path.unlink()


def _lock(descriptor: int) -> bool | None:
    """Lock an open file for this process and return True; False where another one has locked it, None where the file
    system cannot."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return None
    return True


def process_runs(pid: int) -> bool:
    """Return whether there is such a process on this machine. No signal is sent: on Windows even signal 0 is one."""
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
    """Return when the process began, which distinguishes it from a later one of the same number; "" where unknown."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else ""


def _zombie(pid: int) -> bool:
    return _stat(pid)[:1] == ["Z"]


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the state on; empty where there is no such file."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _ago(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
