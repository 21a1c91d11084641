"""Arrays over time: digests of what each would be if the scene ended earlier, so that a longer or shorter scene is
recognised up to a frame. Needs only numpy."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .arrays import Unreadable, read_header
from .files import open_regular

BLOCK = 1 << 20  # bytes read at once


def digests(path: Path, rows_per_frame: int) -> tuple[str, list[str]]:
    """Return blake2b of a .npy file's bytes, 40 hexadecimal digits, and for each frame from the start on that of its
    rows so far, 16 digits: two arrays that agree up to a frame have equal ones there, however long they are. Raises
    OSError.

    A file that is not laid out row by row has no digests of frames.
    """
    with open_regular(path) as stream:
        try:
            header = read_header(stream, path.stat().st_size)
        except Unreadable:
            header = None
        stream.seek(0)
        if header is None or not header.shape or header.fortran:
            return hashlib.file_digest(stream, _whole).hexdigest(), []

        start, shape, dtype = header.offset, header.shape, header.dtype
        whole, rows = _whole(stream.read(start)), hashlib.blake2b(digest_size=8)
        rows.update(f"{dtype.str} {shape[1:]}".encode())
        row, found = dtype.itemsize * math.prod(shape[1:]), []
        for frame in range(-(-(shape[0] - 1) // rows_per_frame) + 1):
            left = row * (rows_per_frame if frame else 1)
            while left and (block := stream.read(min(left, BLOCK))):
                whole.update(block)
                rows.update(block)
                left -= len(block)
            if left:
                break  # the file is shorter than it says, or its last frame is not whole
            found.append(rows.hexdigest())
        while block := stream.read(BLOCK):
            whole.update(block)
        return whole.hexdigest(), found


def let_go(until: NDArray[np.int32], frames: range) -> list[str]:
    """Return for each frame the digest, 16 digits, of the releases of pinned nodes before it, from the frames at which
    they are released, (n,); later releases are ignored."""
    found: list[str] = []
    for frame in frames:
        if not found or frame - 1 in until:
            before = np.where(until < frame, until, np.iinfo(np.int32).max)
            last = hashlib.blake2b(before.astype(np.int32).tobytes(), digest_size=8).hexdigest()
        found.append(last)
    return found


def _whole(content: bytes = b"") -> hashlib.blake2b:
    return hashlib.blake2b(content, digest_size=20)
