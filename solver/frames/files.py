"""Verification of a cache folder's files. Needs only numpy.

A file is good when it has the size in the log and was not written since, or its content is unchanged. Resuming and
`info` read every byte. `layout` lists the files.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from ..job.files import digest, is_link, open_regular
from .layout import CUTS, FILES, FRAME, LOG, Written, file_of

DOUBTS = 64 << 20  #: [bytes] of files with a later time that are read to compare them: some 0.1 s of reading

#: whether files with a later time than the bake's have the same content: by (path, size, time, digest)
_looked_at: dict[tuple[str, int, int, str], bool] = {}


class CacheFiles:
    """Files of one folder at present; create a new object to read it again."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._links: dict[str, bool] = {}
        self._bytes_left = DOUBTS

    @cached_property
    def log(self) -> dict[tuple[str, int], Written]:
        """Return the last line of every file in the log, by kind and frame; a line that a crash tore is left out."""
        try:
            with open_regular(self.folder / LOG) as stream:
                text = stream.read().decode("ascii", "replace")
        except OSError:
            return {}
        entries = {}
        for line in text.splitlines(keepends=True):
            fields = line.split()
            if line.endswith("\n") and len(fields) in (4, 5) and fields[0] in FILES and len(fields[3]) == 40:
                try:
                    written = Written(fields[0], int(fields[1]), int(fields[2]), fields[3], *map(int, fields[4:]))
                except ValueError:
                    continue
                entries[written.kind, written.frame] = written
        return entries

    def is_intact(self, written: Written) -> bool:
        """Return whether the file exists as it was written: its size, and its bytes where its time has changed.

        One object reads DOUBTS bytes for this; further files in doubt then count as good.
        """
        path = file_of(self.folder, written.kind, written.frame)
        status = self._status(path, written)
        if status is None or written.mtime_ns in (None, status.st_mtime_ns):
            return status is not None
        key = (str(path), status.st_size, status.st_mtime_ns, written.digest)
        if key not in _looked_at and self._bytes_left > 0:
            self._bytes_left -= status.st_size
            _looked_at[key] = self.good(written.kind, written.frame)
        return _looked_at.get(key, True)

    def _status(self, path: Path, written: Written) -> os.stat_result | None:
        """Return the system's status of a file that exists in the size that was written; else None."""
        try:
            status = os.lstat(path)
        except OSError:
            return None
        fits = stat.S_ISREG(status.st_mode) and status.st_size == written.bytes and not self._leads_away(written.kind)
        return status if fits else None

    def existing(self, kind: str) -> list[int]:
        """Return the frames, ascending, with a file of this kind in the size that was written."""
        return sorted(w.frame for w in self.log.values()
                      if w.kind == kind and self._status(file_of(self.folder, kind, w.frame), w) is not None)

    def good(self, kind: str, frame: int) -> bool:
        """Return whether the file's content is as written, byte for byte, and in the size of its line in the log.

        Where only the size differs the line is wrong, and both are written again.
        """
        written = self.log.get((kind, frame))
        try:
            path = file_of(self.folder, kind, frame)
            return written is not None and self._status(path, written) is not None and digest(path) == written.digest
        except OSError:
            return False

    def find_damaged_frames(self, kind: str) -> list[int]:
        """Return the frames whose file of this kind is missing or differs from what was written. Reads every byte of
        these files."""
        return sorted(w.frame for w in self.log.values() if w.kind == kind and not self.good(kind, w.frame))

    def cut_frames(self) -> list[int]:
        """Return the last frames before cuts, or before nails were driven or drawn, ascending."""
        return sorted(frame for kind, frame in self.log if kind == CUTS)

    def first_torn_cut(self, is_whole: Callable[[int], bool]) -> int | None:
        """Return the frame of the first cut whose file is not whole or whose line is missing in the log; None without
        one. is_whole: whether the file of the cut after a frame is."""
        torn = next((cut for cut in self.cut_frames() if not is_whole(cut)), None)
        return min((cut for cut in (torn, self.unlogged_cut) if cut is not None), default=None)

    @cached_property
    def torn_cut(self) -> int | None:
        """Return the frame of the first cut whose file differs from what was written: no frame after it can be shown.
        None without one."""
        return self.first_torn_cut(lambda cut: self.good(CUTS, cut))

    @cached_property
    def unlogged_cut(self) -> int | None:
        """Return the last frame before a cut of which the log has no line: later frames can neither be shown nor
        resumed. None where there is no such frame.

        It is found by a record without a line, and by frames of which one is larger than the one before.
        """
        logged = {frame for kind, frame in self.log if kind == CUTS}
        unlogged = {number for number in self._list_records() if number not in logged}
        frames = sorted((w for w in self.log.values() if w.kind == FRAME), key=lambda one: one.frame)
        for before, after in pairwise(frames):
            if before.bytes != after.bytes and not any(before.frame <= cut < after.frame for cut in logged) and all(
                    self._status(file_of(self.folder, FRAME, written.frame), written) for written in (before, after)):
                unlogged.add(before.frame)
        return min(unlogged, default=None)

    def _list_records(self) -> list[int]:
        """Return the frames of all records of cuts in the folder."""
        if self._leads_away(CUTS):
            return []
        try:
            names = os.listdir(file_of(self.folder, CUTS, 0).parent)
        except OSError:
            return []
        return [int(name[:-4]) for name in names if re.fullmatch(r"-?\d{5,9}\.npz", name)]

    def _leads_away(self, kind: str) -> bool:
        """Return whether the folder of these files is a link, which is never followed."""
        if kind not in self._links:
            self._links[kind] = is_link(file_of(self.folder, kind, 0).parent)
        return self._links[kind]
