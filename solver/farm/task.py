"""One task of a farm: a step of one row of a wedge. Work that is already complete is reported and not repeated.

Messages for the queue are lines on stdout, as of Open Job Description: `openjd_progress: 40`, `openjd_status: Frame 12
of 48`, `openjd_fail: …`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ..errors import BadInput, ConJacError, Stopped, printable
from ..frames import lock
from ..frames.pc2 import Writer
from ..frames.read import Cache
from ..job.files import make_folder, make_safe_name, unwritable, write_whole
from ..job.folder import Job
from ..job.load import load
from . import islands
from .diary import Diary
from .wedge import bring, expand, make_folders, row_of

ISLANDS = "islands"  #: of a row: folder of the jobs that are baked separately
PLAYED = "played.json"  #: of the export: list of the objects and their files


class TaskLines(Protocol):
    """Protocol of an output for sentences: `cli.Lines`."""

    def say(self, *sentences: str, **event: Any) -> None:
        """Write a line for each sentence, or the event as JSON."""

    def log(self, text: str) -> None:
        """Write a sentence of the log."""

    def stage(self, stage: str, body: str | None, progress: float | None, text: str) -> None:
        """Write the progress of a stage, in [0, 1], before the first frame; None: unknown. Raises Stopped after a
        request to pause."""

    def start(self, first: int, last: int, steps_per_frame: int) -> None:
        """Write the first and the last frame, and the number of steps of each."""

    def frame(self, frame: int, ms: float, left_s: float) -> None:
        """Write the number of a finished frame, its duration [ms] and the remaining time [s]."""


class ForQueue:
    """Reporter of `simulate.bake`: writes progress for people, for the queue and into the job folder's diary."""

    def __init__(self, lines: TaskLines, diary: Diary) -> None:
        self._lines, self._diary = lines, diary
        self._first = self._last = 0

    def _report(self, kind: str, text: str) -> None:
        self._lines.say(f"openjd_{kind}: {printable(text)}", event=f"openjd_{kind}", text=text)

    def log(self, text: str) -> None:
        """Write a sentence of the log, and note it in the diary."""
        self._lines.log(text)
        self._diary.note(text)

    def stage(self, stage: str, body: str | None, progress: float | None, text: str) -> None:
        """Write the progress of a stage before the first frame, and note its text. Raises Stopped after a request to
        pause."""
        if text:
            self._diary.note(f"{body}: {text}" if body else text)
        self._lines.stage(stage, body, progress, text)

    def start(self, first: int, last: int, steps_per_frame: int) -> None:
        """Write the first and the last frame, from which progress is computed."""
        self._first, self._last = first, last
        self._lines.start(first, last, steps_per_frame)

    def frame(self, frame: int, ms: float, left_s: float) -> None:
        """Write a finished frame, its duration [ms] and the remaining time [s]; the queue reads progress in percent."""
        self._lines.frame(frame, ms, left_s)
        self._report("progress", f"{100.0 * (frame - self._first) / max(1, self._last - self._first):.1f}")
        self._report("status", f"Frame {frame} of {self._last}")
        self._diary.note(f"Frame {frame} of {self._last}")

    def end(self, text: str) -> None:
        """Write the last sentence of a complete bake."""
        self._report("progress", "100")
        self._report("status", text)
        self._diary.note(text, "complete")

    def fail(self, error: ConJacError) -> None:
        """Write an error as the last sentence; a stop on request is not a failure for the queue."""
        stopped = isinstance(error, Stopped)
        self._report("status" if stopped else "fail", str(error))
        self._diary.note(str(error), "stopped" if stopped else "failed")


@dataclass(frozen=True)
class Task:
    """Arguments of one call of `solver task`."""

    job: Path
    out: Path  #: the folder of all rows
    wedge: Path | None
    row: int
    frames: tuple[int, int] | None
    threads: int | None
    islands: Path | None = None  #: list of groups of bodies that are baked separately; None: no groups
    island: int | None = None  #: number of the group to bake, from 1; None: the whole scene


def run(step: str, task: Task, lines: TaskLines, stop: Callable[[], bool]) -> str:
    """Run a step of a row; return a sentence on its result. Raises a ConJacError, after it is reported to the queue."""
    folder = job_folder(task)
    queue = ForQueue(lines, Diary(folder))
    try:
        text = STEPS[step](task, folder, queue, stop)
    except ConJacError as error:
        queue.fail(error)
        raise
    queue.end(text)
    return text


def job_folder(task: Task) -> Path:
    """Return the job folder of the task's row, or of an island of it; write it where it does not exist yet."""
    make_folders(task.out)
    folder = expand(load(task.job), row_of(task.wedge, task.row), task.out)
    if task.island is None:
        return folder
    row = load(folder)
    return islands.part_one(row, _islands_of(task, row), task.island, folder / ISLANDS)


def _islands_of(task: Task, row: Job) -> list[list[str]]:
    if task.islands is None:
        raise BadInput("which bodies are baked separately is not known",
                       "Give the bundle's list of islands with --islands")
    return islands.read_list(task.islands, row)


def tetrahedralize(task: Task, folder: Path, queue: ForQueue, stop: Callable[[], bool]) -> str:
    """Create the volumes of a row, or use equal ones of another row or of the job; return a sentence on them."""
    job = load(folder)
    _take_stages(task, job)
    from ..build.filled import fill_for_bake  # which takes a while to import

    volumes = fill_for_bake(job, queue.stage)[1]
    return f"{sum(len(volume.tets) for volume in volumes)} tetrahedra are kept for the bake"


def _take_stages(task: Task, job: Job) -> None:
    """Link or copy equal volumes of other rows: the name of a file has the hash of its input."""
    for other in (task.job, *sorted(task.out.glob("row-*"))):
        for made in sorted((other / "stages").glob("*_tets_*.npz")) if other != job.path else ():
            if not (job.stages / made.name).exists():
                with suppress(OSError):
                    bring(made, job.stages / made.name)


def simulate(task: Task, folder: Path, queue: ForQueue, stop: Callable[[], bool]) -> str:
    """Bake a row's frames, resuming after those on disk; return a sentence on them.

    Raises BadInput where the frame before them is not baked, and the errors of `simulate.bake`.
    """
    from .. import simulate as loop

    job = load(folder)
    frames = loop.select_frames(job, task.frames)
    before = frames[0] - 1
    if before >= job.frames[0] and not Cache(job.cache).is_whole(before):
        raise BadInput(f"frames {frames[0]} to {frames[-1]} need frame {before}, which is not baked",
                       "Run the chunk before this one first")
    _take_stages(task, job)
    _outlast(job.cache, queue, stop)
    loop.bake(folder, queue, frames=task.frames, resume=True, threads=task.threads, stop=stop)
    return f"Frames {frames[0]} to {frames[-1]} are baked"


def _outlast(cache: Path, queue: ForQueue, stop: Callable[[], bool]) -> None:
    """Wait while the cache is locked by a process of another machine that may have died.

    Returns once the lock is free or is renewed by a live process; the bake then reports its state.
    """
    seen = lock.silence(cache)
    while lock.busy(cache) and not stop():
        holder, quiet = lock.holder(cache), lock.silence(cache)
        if holder is None or holder.near or not holder.beats or seen is None or quiet is None or quiet < seen:
            return
        seen = quiet
        queue.log(f"Waiting for {lock.description(cache)}")
        time.sleep(lock.BEAT)


def join(task: Task, folder: Path, queue: ForQueue, stop: Callable[[], bool]) -> str:
    """Join the frames of a row's islands; return a sentence on them. Raises the errors of `islands.join`."""
    row = load(folder)
    if Cache(row.cache).status(folder).state == "complete":
        return "The islands are already joined"
    islands_of_row = _islands_of(task, row)
    islands.join(row, [islands.part_one(row, islands_of_row, k + 1, folder / ISLANDS)
                       for k in range(len(islands_of_row))], queue.log)
    return f"{len(islands_of_row)} islands are joined"


def export(task: Task, folder: Path, queue: ForQueue, stop: Callable[[], bool]) -> str:
    """Write a row's frames as PC2 files, one for each soft body, and a list of their objects; return a sentence on
    them.

    Raises BadInput where frames are missing, or cloth has faces of its own, which PC2 cannot store, Stopped where
    `stop` returns True, CacheUnwritable where a file cannot be written.
    """
    cache = Cache(folder / "cache")
    frames, done = load(folder).frames, set(cache.frames_done())
    missing = next((frame for frame in frames if frame not in done), None)
    if missing is not None:
        raise BadInput(f"frame {missing} is not baked yet", "Simulate all frames before they are exported")
    if cache.sheet_names():
        raise BadInput(f'"{cache.sheet_names()[0]}" has other faces at every frame, which PC2 cannot store',
                       "Export it from Blender as Alembic")
    files = {name: f"{make_safe_name(name)}.pc2" for name, _, _ in cache.bodies()}
    uuids = cache.body_uuids()
    played = json.dumps({"frames": [frames[0], frames[-1]], "objects": [
        {"name": name, "uuid": uuids.get(name, ""), "file": file} for name, file in files.items()]},
        ensure_ascii=False, indent=1).encode()
    target = folder / "export"
    if _is_exported(target, played, cache):
        return "Every frame is already exported"
    try:
        make_folder(target)
    except OSError as error:
        raise unwritable(target / PLAYED, error) from error
    writers = {name: Writer(target / file, frames[0]) for name, file in files.items()}
    for frame in frames:
        if stop():
            raise Stopped(f"stopped before frame {frame} was exported", "Run it again; it starts over")
        for name, points in cache.read_all_vertices(frame).items():
            writers[name].append(points)
    write_whole(target / PLAYED, played, folder)  # last, since it marks the export as complete
    return f"{len(files)} objects are exported"


def _is_exported(target: Path, played: bytes, cache: Cache) -> bool:
    """Return whether the list of files exists and is no older than the last frame."""
    try:
        written = (target / PLAYED).stat().st_mtime_ns
        return (target / PLAYED).read_bytes() == played and all(
            written >= (entry.mtime_ns or 0) for entry in cache.log.values())
    except OSError:
        return False


STEPS: dict[str, Callable[[Task, Path, ForQueue, Callable[[], bool]], str]] = {
    "tetrahedralize": tetrahedralize, "simulate": simulate, "join": join, "export": export}

_FRAMES = re.compile(r"(-?\d+)-(-?\d+)\Z")


def chunks_of(text: str, first: int, last: int, snapshots: int) -> list[tuple[int, int]]:
    """Return the first and last frames of the chunks of a bake from frame `first` to `last`.

    text: a number of frames, or a list ("1-24,25-48"). A number is rounded up to a multiple of the frames per snapshot,
    so that no chunk repeats frames of the one before; the start frame is part of the first chunk. Raises BadInput where
    chunks overlap, omit frames or cannot be read.
    """
    if text.isdigit() and int(text) > 0:
        size = -(-int(text) // snapshots) * snapshots
        ends = [*range(first + size, last, size), last]
        return list(zip([first, *(end + 1 for end in ends[:-1])], ends))
    matches = [_FRAMES.match(part.strip()) for part in text.split(",")]
    if not all(matches):
        raise BadInput(f'"{text}" is not a list of chunks', "Give a number of frames, or a list like 1-24,25-48")
    chunks = [(int(part[1]), int(part[2])) for part in matches if part is not None]
    expected = first
    for begin, end in chunks:
        if end < begin:
            raise BadInput(f"the chunk {begin}-{end} ends before it begins", "Turn it around")
        if begin < expected:
            raise BadInput(f"the chunk {begin}-{end} overlaps the one before it, or begins before frame {first}",
                           f"Begin it at frame {expected}")
        if begin > expected:
            raise BadInput(f"no chunk has frame {expected}", f"Begin the chunk {begin}-{end} there")
        expected = end + 1
    if expected != last + 1:
        raise BadInput(f"the chunks end at frame {expected - 1} and the shot at frame {last}",
                       "Let the last chunk end there")
    return chunks
