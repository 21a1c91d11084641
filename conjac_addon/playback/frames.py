"""A run of baked frames without a gap, as playback reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Frames:
    """Object-space vertices of one object, frame by frame."""

    first: int
    last: int
    read: Callable[[int], NDArray[np.float32]]  #: frame → (n, 3) in the object's own space and Blender's units

    @property
    def vertices(self) -> int:
        """How many vertices a frame has."""
        return len(self.read(self.first))

    def __len__(self) -> int:
        return self.last - self.first + 1

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        return (self.read(frame) for frame in range(self.first, self.last + 1))


def run_from(done: set[int] | frozenset[int], first: int) -> tuple[int, int] | None:
    """Return the first and last of the consecutive frames in `done` from `first` on, None where `first` is missing."""
    if first not in done:
        return None
    last = first
    while last + 1 in done:
        last += 1
    return first, last
