"""State of bakes: one line for each below a folder, read from their folders alone, also while they run."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import NoSuchThing
from ..frames import lock
from ..frames.layout import FRAME
from ..frames.read import Cache
from ..job.load import SCENE
from . import diary

LATELY = 20  #: number of last frames whose median time is reported
OURS = {"arrays", "cache", "stages"}  # folders of a job, which contain no other job


@dataclass(frozen=True)
class BakeStanding:
    """State of one bake."""

    name: str  #: its job folder, relative to the folder that is searched
    state: str  #: none, partial, complete, stale, broken, baking; failed where its last task reported that
    frame: int | None  #: the last one on disk
    done: int
    total: int
    seconds_a_frame: float | None  #: median of the last frames
    ends_at: float | None  #: seconds since 1970, while it bakes
    memory_mb: float | None  #: peak of its process
    text: str  #: the last sentence

    def plain(self) -> dict[str, Any]:
        """Return the state as plain values by name, for JSON."""
        return asdict(self)


def jobs_below(folder: Path) -> Iterator[Path]:
    """Yield every job folder in and below a folder, in order. Raises NoSuchThing where there is no such folder."""
    if not folder.is_dir():
        raise NoSuchThing(f"there is no folder {folder}", "Give one that has job folders in it")
    for at, folders, files in os.walk(folder):
        if SCENE in files:
            yield Path(at)
            folders[:] = [name for name in folders if name not in OURS]
        folders.sort()


def standing(job: Path, named: str) -> BakeStanding:
    """Return the state of the bake in a job folder. named: its name in the result."""
    cache, last = Cache(job / "cache"), diary.read(job)
    status, pace = cache.status(job), seconds_a_frame(cache)
    baked = sorted(written.frame for written in cache.log.values() if written.kind == FRAME)
    state, text = status.state, last.text or status.text
    if last.state == "failed" and state not in ("complete", "baking"):
        state = "failed"
    elif state in ("complete", "stale", "broken") or last.state == "complete":
        text = status.text
    ends = time.time() + pace * (status.total - status.done) if state == "baking" and pace is not None else None
    memory = last.memory_mb or (running_memory(job / "cache") if state == "baking" else None)
    return BakeStanding(named, state, baked[-1] if baked else None, status.done, status.total, pace, ends, memory, text)


def seconds_a_frame(cache: Cache, lately: int | None = LATELY) -> float | None:
    """Return the median time of frames [s], of the last `lately` or of all; None where fewer than two were written in a
    row.

    Times are those of the log, so a pause between two runs counts as one slow frame at most.
    """
    written = {entry.frame: entry.mtime_ns for entry in cache.log.values()
               if entry.kind == FRAME and entry.mtime_ns is not None}
    took = [(written[frame] - written[frame - 1]) * 1e-9 for frame in sorted(written) if frame - 1 in written]
    positive = [seconds for seconds in took if seconds >= 0.0]
    chosen = positive if lately is None else positive[-lately:]
    return statistics.median(chosen) if chosen else None


def running_memory(cache: Path) -> float | None:
    """Return the peak memory of the process that bakes a cache [MB]; None where this system does not report it."""
    holder = lock.holder(cache)
    if holder is None or not holder.near:
        return None
    try:
        lines = Path(f"/proc/{holder.pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def all_below(folder: Path) -> list[BakeStanding]:
    """Return the state of every bake in and below a folder. Raises NoSuchThing where there is none."""
    summaries = [standing(job, job.relative_to(folder).as_posix() if job != folder else folder.resolve().name)
             for job in jobs_below(folder)]
    if not summaries:
        raise NoSuchThing(f"there is no job folder in {folder}", "Give a folder above those that hold a scene.json")
    return summaries


def table(titles: Sequence[str], lines: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> list[str]:
    """Return lines of text with aligned columns. right: numbers of columns that are aligned to the right."""
    widths = [max(len(line[k]) for line in (titles, *lines)) for k in range(len(titles))]
    return ["  ".join(cell.rjust(width) if k in right else cell.ljust(width)
                      for k, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in (titles, *lines)]


def format_standing(bakes: Sequence[BakeStanding]) -> list[str]:
    """Return the table of `solver watch` as lines of text."""
    def or_dash(value: float | None, shown: str) -> str:
        return "-" if value is None else shown.format(value)

    lines = [(bake.name, f"{bake.done}/{bake.total}", or_dash(bake.frame, "{}"),
              or_dash(bake.seconds_a_frame, "{:.2f}"),
              "-" if bake.ends_at is None else time.strftime("%H:%M:%S", time.localtime(bake.ends_at)),
              or_dash(bake.memory_mb, "{:.0f} MB"), bake.state, bake.text) for bake in bakes]
    return table(("bake", "done", "frame", "s/frame", "ends at", "memory", "state", "last sentence"), lines,
                 frozenset({1, 2, 3, 4, 5}))
