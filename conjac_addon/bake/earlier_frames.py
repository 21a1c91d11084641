"""Frames of earlier settings while a job folder is baked, from which unchanged objects are reused.

If the window bakes, finished frames become a take. Those of a stopped bake, and those that a script replaces, are kept
in takes/aside until every frame of the new settings exists.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ...solver.errors import ConJacError
from ...solver.frames.layout import MANIFEST
from ...solver.frames.read import Cache
from ...solver.job.files import refuse_links
from . import contents, place, takes


class EarlierFrames:
    """Earlier frames during one bake, and what is reused from them."""

    def __init__(self, keeps: bool, solves_all: bool) -> None:
        """keeps: finished frames become a take. solves_all: no frames are reused."""
        self._keeps, self._solves_all = keeps, solves_all
        self._replaced = False  #: whether they are of other settings than those that are baked
        self._is_take_back = False

    def before(self, folder: Path) -> None:
        """Prepare for a job folder to be rewritten. Never raises."""
        if self._keeps:
            takes.before(folder)

    def to_reuse(self, folder: Path, resume: bool) -> Path | None:
        """Return the folder from which unchanged objects are reused; None without one. resume: whether there is a bake
        to resume."""
        if self._solves_all:
            return None
        if _lie_aside(folder):
            return _aside(folder)
        found = takes.listed(folder) if resume or self._replaced else []
        return found[0].folder if found else None

    def replace(self, folder: Path, finished: int, why: str) -> tuple[bool, list[str]]:
        """Make room for the frames of other settings. finished: number of frames of a complete bake, else 0. why: the
        changes. Returns whether a take with the present settings was restored, and sentences. Raises ConJacError."""
        self._replaced = True
        if not (finished and self._keeps) and not self._solves_all:
            _put_aside(folder)
        if self._keeps:
            self._is_take_back, notes = takes.take_turns(folder, finished, why)
            if finished and not self._is_take_back:
                delete(folder)  # the take has more
            return self._is_take_back, notes
        return False, []

    def settle(self, folder: Path) -> None:
        """Delete files that are no longer needed after the solver has ended. Never raises."""
        self.put_back(folder)
        with suppress(OSError, ConJacError):
            if takes.finished(place.cache_of(folder)) and not self._is_take_back:
                delete(folder)
        if self._keeps:
            takes.drop(folder)

    def put_back(self, folder: Path) -> None:
        """Restore the frames in takes/aside unless others have replaced them. Never raises."""
        with suppress(OSError, ConJacError):
            if self._replaced and _lie_aside(folder) and place.cache_of(folder).manifest is None:
                takes.bring_back(folder, _aside(folder))
                delete(folder)


def delete(folder: Path) -> None:
    """Delete the frames of a job folder that lie aside. Never raises."""
    contents.remove(_aside(folder))
    with suppress(OSError):
        (folder / contents.TAKES).rmdir()


def _aside(folder: Path) -> Path:
    return folder / contents.TAKES / contents.ASIDE


def _lie_aside(folder: Path) -> bool:
    return (_aside(folder) / contents.CACHE / MANIFEST).exists()


def _put_aside(folder: Path) -> None:
    """Move the frames of a job folder aside. Where some lie there already the longer bake stays, and the other one is
    replaced by the solver. Where the disk does not let them be moved they stay where they are."""
    with suppress(OSError, ConJacError):
        count = [len(cache.frames_done()) for cache in (place.cache_of(folder), Cache(_aside(folder) / contents.CACHE))
                 if cache.manifest is not None]
        if len(count) == 1 and not _lie_aside(folder) or len(count) == 2 and count[0] >= count[1]:
            refuse_links(folder, _aside(folder))
            contents.remove(_aside(folder))
            _aside(folder).mkdir(parents=True)
            os.rename(folder / contents.CACHE, _aside(folder) / contents.CACHE)
