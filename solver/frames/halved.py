"""Frames in which steps were halved, and the body that they were too long for, as the files of a cache have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..job.arrays import read_npy
from .layout import HALVED, file_of


@dataclass(frozen=True)
class HalvedFrames:
    """The frames of a cache in which steps were halved."""

    count: int
    body: str | None  #: because of which steps were halved in most of them; None where no body is known


def counts_by_body(names: Sequence[str], causes: Sequence[str | None]) -> NDArray[np.int32]:
    """Return how many steps were halved because of each body, and last because of none of them, (b + 1,)."""
    numbers = {name: k for k, name in enumerate(names)}
    found = [numbers.get(cause, len(names)) if cause is not None else len(names) for cause in causes]
    return np.bincount(found, minlength=len(names) + 1).astype(np.int32)


def halved_frames(folder: Path, frames: Sequence[int], names: Sequence[str]) -> HalvedFrames:
    """Return in how many of the frames steps were halved, and because of which body in most of them.

    frames: those with a file. names: of all bodies. A file that cannot be read counts for nothing.
    """
    by_body, count = np.zeros(len(names) + 1, dtype=np.int64), 0
    for frame in frames:
        try:
            by_body += read_npy(file_of(folder, HALVED, frame), folder) > 0
            count += 1
        except (OSError, ValueError, TypeError):
            continue
    known = by_body[:-1]
    return HalvedFrames(count, names[int(known.argmax())] if known.any() else None)
