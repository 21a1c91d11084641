"""Frames of a running bake, seen while they come."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import ConJacError, NoSuchThing
from ...solver.frames.read import Cache
from .. import members, playback
from ..playback import pc2
from ..timeline import present_frame
from . import belongings, place
from .progress import Progress
from .shown import bodies_at, players


class Watched(Protocol):
    """The part of a bake that shows its frames."""

    folder: Path
    progress: Progress

    def object(self) -> bpy.types.Object:
        """Return the object, looked up again each time, since undo moves data-blocks in memory."""

    def scene(self) -> bpy.types.Scene:
        """Return the scene of the object."""

    def note(self, text: str) -> None:
        """Report a note when the bake ends."""


class LiveFrames:
    """Appends frames to the PC2 of each soft body while the solver writes them."""

    def __init__(self, bake: Watched) -> None:
        self._bake = bake
        self._cache: Cache | None = None
        self._writers: dict[str, pc2.Writer] = {}  # by the body's name in the cache
        self._next = 0
        self._off = members.is_mechanism(bake.object())  # keyframes come when it has ended

    def next(self) -> bool:
        """Show one more frame; False where there is none yet."""
        progress = self._bake.progress
        ready = progress.first if progress.frame is None else progress.frame
        if self._off or ready is None:
            return False
        if self._cache is None:
            # frames of an earlier run that is gone on with stand before the first one of this run
            self._cache = place.cache_of(self._bake.folder)
            self._next = self._cache.frames[0]
        if self._next > ready:
            return False
        try:
            positions = bodies_at(self._cache, self._next)
        except NoSuchThing:  # the very first frame is announced before it stands
            return False
        try:
            for obj, name in players(self._bake.object(), self._bake.scene(), self._cache):
                self._append(obj, name, positions[name])
        except ConJacError as error:
            # the bake is worth more than watching it; its end says it again
            self._bake.note(f"Its frames are not shown: {error}")
            self._off = True
        self._next += 1
        return not self._off

    def _append(self, obj: bpy.types.Object, name: str, positions: NDArray[np.float32]) -> None:
        writer = self._writers.get(name)
        if writer is None:
            playback.check_count(obj, len(positions))
            base = place.playback_path(obj, self._bake.folder)
            file = base.with_name(base.name + playback.PC2.suffix)
            belongings.add(self._bake.folder, file)
            writer = self._writers[name] = pc2.Writer(file, self._next)
        writer.append(positions)
        # the first frame, or undo has taken the modifier away
        if playback.find(obj) is None or writer.count == 1:
            pc2.attach(obj, writer.path, writer.first_frame)
        elif present_frame(self._bake.scene()) >= self._next - 1:
            obj.update_tag(refresh={"DATA"})  # what is on the screen is this frame, or waits for it
