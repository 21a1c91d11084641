"""Frames in which steps were halved, and the bodies that caused it, from the files of a cache."""

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
    """Number of frames in which steps were halved, and the most frequent cause."""

    count: int
    body: str | None  #: the cause in most of them; None where no body is known


def counts_by_body(names: Sequence[str], causes: Sequence[str | None]) -> NDArray[np.int32]:
    """Return the number of steps that were halved because of each body, and last because of no known body, (b + 1,).
    names: of the bodies. causes: name of a body, or None, for each halved step."""
    numbers = {name: k for k, name in enumerate(names)}
    slots = [numbers.get(cause, len(names)) if cause is not None else len(names) for cause in causes]
    return np.bincount(slots, minlength=len(names) + 1).astype(np.int32)


def count_halved_frames(folder: Path, frames: Sequence[int], names: Sequence[str]) -> HalvedFrames:
    """Return the number of frames in which steps were halved, and the body that caused it in most of them.

    frames: those with a file. names: of all bodies. A file that cannot be read is left out.
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
