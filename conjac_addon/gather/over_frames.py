"""Sources of a job that are read sample by sample, and the loop that leads the scene through the frames for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from .body import BodyReader
from .evaluation import Evaluation
from .ground import GroundPlane


class Source(Protocol):
    """Something that may be different at each sample."""

    @property
    def moves_between(self) -> bool:
        """Whether it must be read between whole frames."""

    def take(self, sample: int, frame: int, is_whole: bool) -> None:
        """Read it at the present sample. is_whole: whether the scene is at the frame itself."""


class Sampled(Protocol):
    """Wind, constraints, colliders, obstacles or a mechanism, which `EachSample` reads."""

    @property
    def may_move(self) -> bool: ...
    def sample(self) -> None: ...


class Playing(Protocol):
    """Poses of a mechanism that playing the bake needs."""

    def sample(self) -> None: ...


class EachSample:
    """A source without regard to which sample it is."""

    def __init__(self, source: Sampled) -> None:
        self._source = source

    @property
    def moves_between(self) -> bool:
        """Whether it may move."""
        return self._source.may_move

    def take(self, sample: int, frame: int, is_whole: bool) -> None:
        """Read it."""
        self._source.sample()


class EachBody:
    """Pins, maps and activation of a body at each sample, cuts and nails at whole frames."""

    def __init__(self, reader: BodyReader) -> None:
        self._reader = reader

    @property
    def moves_between(self) -> bool:
        """Whether anything of it is looked at between whole frames."""
        return self._reader.motion.moves_between

    def take(self, sample: int, frame: int, is_whole: bool) -> None:
        """Read its motion, and at a whole frame its events."""
        self._reader.motion.take(sample)
        if is_whole:
            self._reader.see(frame)


class MovingGround:
    """Points of a ground plane at each sample, where it may move."""

    def __init__(self, ground: GroundPlane) -> None:
        self._ground, self.points = ground, list[np.ndarray]()

    @property
    def moves_between(self) -> bool:
        """Whether any part of it is read between whole frames."""
        return self._ground.may_move

    def take(self, sample: int, frame: int, is_whole: bool) -> None:
        """Read the plane's point. Raises BadInput if the plane has turned."""
        if self._ground.may_move:
            self.points.append(self._ground.follow())


class WholeFrames:
    """Poses that playing the bake needs, at whole frames."""

    moves_between = False

    def __init__(self, playing: Playing) -> None:
        self._playing = playing

    def take(self, sample: int, frame: int, is_whole: bool) -> None:
        """Read the poses of a whole frame."""
        if is_whole:
            self._playing.sample()


def read_frames(evaluation: Evaluation, readings: list[Source], frames: tuple[int, int], samples: int) -> Iterator[int]:
    """Step the scene through the frames, with so many samples per frame, and let each source read; yields each whole
    frame. Samples between frames are skipped unless a source needs them."""
    start, end = frames
    for sample in range((end - start) * samples + 1):
        frame, sub = start + sample // samples, sample % samples
        if sub and not any(reading.moves_between for reading in readings):
            continue
        evaluation.go_to(frame, sub / samples)
        for reading in readings:
            reading.take(sample, frame, not sub)
        if not sub:
            yield frame
