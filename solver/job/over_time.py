"""Digests of arrays over time as if the scene ended at each frame. Needs only numpy.

With these digests a longer or shorter scene is recognised as equal up to a frame.
"""

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
    """Return blake2b of a .npy file, 40 hexadecimal digits, and a digest for each frame, 16 hexadecimal digits.

    The digest of a frame is that of all rows up to the frame, so arrays that agree up to a frame have equal digests
    there, whatever their lengths. A file that is not in C order has no digests of frames. Raises OSError.
    """
    with open_regular(path) as stream:
        try:
            header = read_header(stream, path.stat().st_size)
        except Unreadable:
            header = None
        stream.seek(0)
        if header is None or not header.shape or header.fortran:
            return hashlib.file_digest(stream, _begin_hash).hexdigest(), []

        start, shape, dtype = header.offset, header.shape, header.dtype
        whole, rows = _begin_hash(stream.read(start)), hashlib.blake2b(digest_size=8)
        rows.update(f"{dtype.str} {shape[1:]}".encode())
        row, of_samples = dtype.itemsize * math.prod(shape[1:]), []
        for frame in range(-(-(shape[0] - 1) // rows_per_frame) + 1):
            left = row * (rows_per_frame if frame else 1)
            while left and (block := stream.read(min(left, BLOCK))):
                whole.update(block)
                rows.update(block)
                left -= len(block)
            if left:
                break  # the file is shorter than its header promises, or its last frame is incomplete
            of_samples.append(rows.hexdigest())
        while block := stream.read(BLOCK):
            whole.update(block)
        return whole.hexdigest(), of_samples


def digest_releases(until: NDArray[np.int32], frames: range) -> list[str]:
    """Return for each frame a digest, 16 hexadecimal digits, of the releases of pinned nodes before this frame.

    until: frame at which each node is released, (n,); releases at or after a frame are ignored in its digest.
    """
    of_releases: list[str] = []
    for frame in frames:
        if not of_releases or frame - 1 in until:
            before = np.where(until < frame, until, np.iinfo(np.int32).max)
            last = hashlib.blake2b(before.astype(np.int32).tobytes(), digest_size=8).hexdigest()
        of_releases.append(last)
    return of_releases


def _begin_hash(content: bytes = b"") -> hashlib.blake2b:
    return hashlib.blake2b(content, digest_size=20)
