"""Memory that Blender and the live worker share: one file, mapped by both. Needs only numpy.

Each direction is a `Slot` with the newest message alone: a slow reader misses messages, and neither side waits for the
other. A slot has two copies, of which one is written while the other may be read, each with an ascending number and a
checksum. A message that was overwritten while it was read is read again.
"""

from __future__ import annotations

import mmap
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..job.files import create

MAGIC = b"CONJAC-LIVE-2\0\0\0"
LEADING = "leading.npz"  #: in a job folder: "body", (s,), and "vertex", (s,), of pinned vertices that bones lead
BUMPS = 16  #: how many meshes bodies may bump into
BODIES = 32  #: how many objects may be played together
GRABS = 8  #: largest number of grabs at a time

#: one grab. id: number of the hand, a new one for each grab; 0: no grab. rigid: number of the grabbed rigid body plus
#: 1; 0: a soft body. start, target: where the body was grabbed and where that point is pulled to [m]. radius: [m]
GRAB = np.dtype([("id", "<u4"), ("rigid", "<u4"), ("start", "<f8", 3), ("target", "<f8", 3), ("radius", "<f8"),
                 ("strength", "<f8")])

#: record from Blender to the worker. settings: how often scene.json was written. carriers, bumps: motion of the object
#: of each body and of each collider since the job was read, world to world [m]; a bump of zeros: none. ground: a point
#: [m] and the normal, or zeros. run: one of the three values below. Positions of pinned vertices follow it, (s, 3) [m]
HALTED, PLAYED, RECORDED = 0, 1, 2
CONTROL = np.dtype([("settings", "<u4"), ("run", "<u4"), ("gravity", "<f8", 3), ("carriers", "<f8", (BODIES, 4, 4)),
                    ("grabs", GRAB, GRABS), ("ground", "<f8", (2, 3)), ("bumps", "<f8", (BUMPS, 4, 4))])

#: record before the positions of a frame. time: simulated [s]. pace: simulated seconds in a real second. cost: seconds
#: of computing in a simulated second. step: [s]. effort: index of the effort. settings: those of the last CONTROL
#: whose scene.json could be played. restarts: number of restarts
FRAME = np.dtype([("time", "<f8"), ("pace", "<f8"), ("cost", "<f8"), ("step", "<f8"), ("effort", "<u4"),
                  ("settings", "<u4"), ("restarts", "<u4"), ("pad", "<u4")])

_HEAD = np.dtype([("magic", "S16"), ("vertices", "<u8"), ("rigid", "<u8"), ("pinned", "<u8"), ("origin", "<f8", 3)])
_COPY = np.dtype([("number", "<u8"), ("check", "<u4"), ("pad", "<u4")])
_TRIES = 4  #: to read a message that is being written


class Slot:
    """A slot of mapped memory for the newest message of one direction."""

    def __init__(self, memory: mmap.mmap, offset: int, size: int) -> None:
        """Map a slot. memory: file that both processes map. offset: of the slot in it. size: of a message [bytes]."""
        self._newest = np.frombuffer(memory, "<u8", 1, offset)
        self._copies: list[tuple[NDArray[Any], NDArray[np.uint8]]] = []
        for k in range(2):
            at = offset + 8 + k * (_COPY.itemsize + size)
            self._copies.append((np.frombuffer(memory, _COPY, 1, at),
                                 np.frombuffer(memory, np.uint8, size, at + _COPY.itemsize)))
        self._written, self._seen = int(self._newest[0]), 0

    @staticmethod
    def room(size: int) -> int:
        """Return the memory that a slot takes [bytes], a multiple of 8. size: of a message [bytes]."""
        return -(-(8 + 2 * (_COPY.itemsize + size)) // 8) * 8

    def write(self, *parts: NDArray[Any]) -> None:
        """Write a message over the older of the two copies. parts: arrays that are concatenated in the message."""
        self._written += 1
        head, body = self._copies[self._written % 2]
        head["number"] = 0
        first = 0
        for part in parts:
            raw = np.ascontiguousarray(part).view(np.uint8).reshape(-1)
            body[first:first + len(raw)] = raw
            first += len(raw)
        head["check"] = _check(body, self._written)
        head["number"] = self._written
        self._newest[0] = self._written

    def read(self) -> NDArray[np.uint8] | None:
        """Return a copy of the newest message, (size,) bytes; None where there is none, it was read before, or each of
        the tries was interrupted by the writer."""
        for _ in range(_TRIES):
            number = int(self._newest[0])
            if number == self._seen or number == 0:
                return None
            head, body = self._copies[number % 2]
            copied = body.copy()
            if int(head["number"][0]) == number and int(head["check"][0]) == _check(copied, number):
                self._seen = number
                return copied
        return None


def _check(body: NDArray[np.uint8], number: int) -> int:
    return zlib.adler32(body.data, number & 0x7FFF)


class Board:
    """The slots of both directions in one file, of `create_board` or `open_board`; `close` releases the memory."""

    def __init__(self, path: Path, head: NDArray[Any]) -> None:
        """Map an existing file. head: the record of _HEAD that it begins with, (1,)."""
        vertices, self.rigid, self.pinned = (int(head[name][0]) for name in ("vertices", "rigid", "pinned"))
        self.vertices = vertices  #: number of vertices of all meshes; others: of rigid bodies, of input vertices
        self.origin: NDArray[np.float64] = head["origin"][0].copy()  #: [m], (3,): positions are relative to it, so that
        #: single precision is enough
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _size(head))
        self.control = Slot(self._memory, _HEAD.itemsize, _control_bytes(head))
        self.frame = Slot(self._memory, _HEAD.itemsize + Slot.room(_control_bytes(head)), _frame_bytes(head))

    def write_control(self, control: NDArray[Any], pinned: NDArray[np.float64] | None = None) -> None:
        """Write one record of CONTROL, (1,), and positions of pinned vertices, (s, 3) [m]; zeros by default."""
        self.control.write(control, np.zeros((self.pinned, 3)) if pinned is None else pinned)

    def read_control(self) -> tuple[NDArray[Any], NDArray[np.float64]] | None:
        """Return the newest record of CONTROL, (1,), and positions of pinned vertices, (s, 3) [m]; None where it was
        read before or there is none."""
        raw = self.control.read()
        if raw is None:
            return None
        return raw[:CONTROL.itemsize].view(CONTROL), raw[CONTROL.itemsize:].view("<f8").reshape(-1, 3)

    def show(self, frame: NDArray[Any], positions: NDArray[np.float64],
             poses: NDArray[np.float64] | None = None) -> None:
        """Write one record of FRAME, (1,), positions in world space, (n, 3) [m], and rigid bodies' poses, (r, 4, 4)."""
        self.frame.write(frame, np.zeros((self.rigid, 4, 4)) if poses is None else poses,
                         (positions - self.origin).astype("<f4"))

    def read_frame(self) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[np.float64]] | None:
        """Return the newest record of FRAME, (1,), positions relative to `origin`, (n, 3) [m], and poses of rigid
        bodies, (r, 4, 4) [m]; None where it was read before or there is none."""
        raw = self.frame.read()
        if raw is None:
            return None
        first, then = FRAME.itemsize, FRAME.itemsize + 128 * self.rigid
        return (raw[:first].view(FRAME), raw[then:].view("<f4").reshape(-1, 3),
                raw[first:then].view("<f8").reshape(-1, 4, 4))

    def close(self) -> None:
        """Release the memory. Neither the board nor its slots may be used afterwards."""
        del self.control, self.frame
        with suppress(BufferError):  # an array still refers to it, and releases it later
            self._memory.close()


def create_board(path: Path, vertices: int, origin: NDArray[np.float64], rigid: int = 0, pinned: int = 0) -> Board:
    """Return a new board in a new file.

    vertices: number of vertices of all meshes. origin: to which positions are relative, (3,) [m]. rigid: number of
    rigid bodies. pinned: number of vertices whose positions are inputs. Raises CacheUnwritable where the file cannot
    be written.
    """
    head = np.zeros(1, _HEAD)
    for name, value in (("magic", MAGIC), ("vertices", vertices), ("rigid", rigid), ("pinned", pinned),
                        ("origin", origin)):
        head[name] = value
    with create(path) as file:
        file.truncate(_size(head))
        file.write(head.tobytes())
    return Board(path, head)


@contextmanager
def open_board(path: Path) -> Iterator[Board]:
    """Yield the board that another process made, and close it. Raises BadInput where the file is not a board."""
    try:
        with open(path, "rb") as file:
            raw, size = file.read(_HEAD.itemsize), os.path.getsize(path)
    except OSError as error:
        why = error.strerror or error
        raise BadInput(f"{path} cannot be read ({why})", "Give the board of a live window") from error
    head = np.frombuffer(raw, _HEAD) if len(raw) == _HEAD.itemsize else np.zeros(1, _HEAD)
    if head["magic"][0] != MAGIC.rstrip(b"\0") or size != _size(head):
        raise BadInput(f"{path} is no board of a live window", "Give the one that Blender made")
    board = Board(path, head)
    try:
        yield board
    finally:
        board.close()


def _control_bytes(head: NDArray[Any]) -> int:
    return CONTROL.itemsize + 24 * int(head["pinned"][0])


def _frame_bytes(head: NDArray[Any]) -> int:
    return FRAME.itemsize + 128 * int(head["rigid"][0]) + 12 * int(head["vertices"][0])


def _size(head: NDArray[Any]) -> int:
    return _HEAD.itemsize + Slot.room(_control_bytes(head)) + Slot.room(_frame_bytes(head))
