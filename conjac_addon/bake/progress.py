"""How far a bake is: a pure function of the worker's messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...solver.errors import StaleCache

Message = Mapping[str, Any]

#: a stage of the solver → what it is to an artist, short enough for one line of the sidebar
WORDS = {"tets": "Filling the shape, only once", "fields": "Carrying paint inside",
         "compile": "Compiling, only this once", "world": "Getting ready", "suggest": "Finding where it swings",
         "wobble": "Finding its slowest wobble"}


#: what ends a message on a job: the place in scene.json, a file that an artist never sees
PLACE = re.compile(r" - at `\$[^`]*`")


#: the solver's message on a frame with halved steps
SHORTER = re.compile(r"^Frame -?\d+: a step\b.*smaller ones were taken")


@dataclass(frozen=True)
class Progress:
    """State of a bake, by the messages that it has sent so far."""

    text: str = "Starting"  #: what it is doing, without a full stop
    fraction: float | None = None  #: of the present stage, 0..1, None if unknown
    first: int | None = None  #: frames of this run
    last: int | None = None
    frame: int | None = None  #: last one that is on disk
    left_s: float | None = None  #: seconds until the last frame
    spent_s: float = 0.0  #: in the frames of this run
    timed: int = 0  #: how many those are
    shorter: bool = False  #: whether some frames needed shorter steps than was asked for
    notes: tuple[str, ...] = ()  #: sentences for the artist
    error: str = ""  #: one sentence, where it failed
    error_code: str = ""  #: its stable name: "bad_mesh"
    exit_code: int | None = None  #: as the bake itself tells it, None while it runs


def line(progress: Progress) -> str:
    """Return one line: the stage of the bake, the part of it that is done, and how long all of it will take."""
    done = progress.fraction
    # frames are counted in the words themselves
    counted = progress.first is not None or done is None or not 0.0 < done < 1.0
    return f"{progress.text}{'' if counted else f', {100.0 * (done or 0.0):.0f} %'}{remaining(progress.left_s)}"


def after(progress: Progress, message: Message) -> Progress:
    """Return the progress after one more message. Unknown events, as of a newer solver, change nothing."""
    read = _READERS.get(message.get("event", ""))
    return read(progress, message) if read else progress


def _log(progress: Progress, message: Message) -> Progress:
    text = message["text"]
    return replace(progress, notes=(*progress.notes, text), shorter=progress.shorter or bool(SHORTER.search(text)))


def _stage(progress: Progress, message: Message) -> Progress:
    words = WORDS.get(message.get("stage", ""), message["text"])
    return replace(progress, text=words, fraction=message["progress"])


def _start(progress: Progress, message: Message) -> Progress:
    first, last = message["frames"]
    return replace(progress, first=first, last=last, fraction=0.0, text=f"Frame {first} of {last}")


def _frame(progress: Progress, message: Message) -> Progress:
    frame, first, last = message["frame"], progress.first, progress.last
    progress = replace(progress, spent_s=progress.spent_s + message.get("ms", 0.0) / 1e3, timed=progress.timed + 1)
    if first is None or last is None:
        return replace(progress, frame=frame, left_s=message["left_s"], text=f"Frame {frame}")
    return replace(progress, frame=frame, left_s=message["left_s"], text=f"Frame {frame} of {last}",
                   fraction=(frame - first + 1) / (last - first + 1))


def _error(progress: Progress, message: Message) -> Progress:
    return replace(progress, error=PLACE.sub("", message["text"]), error_code=message["code"])


def _end(progress: Progress, message: Message) -> Progress:
    done: dict[str, Any] = {"fraction": 1.0} if message["code"] == 0 else {}
    text = PLACE.sub("", message["text"]).rstrip(".")
    if progress.error_code == StaleCache.code:  # its remedy is the command line's; here it begins anew, or asks
        text = "Comparing with the last bake"
    return replace(progress, exit_code=message["code"], text=text, left_s=None, **done)


_READERS: dict[str, Callable[[Progress, Message], Progress]] = {
    "log": _log, "stage": _stage, "start": _start, "frame": _frame, "error": _error, "end": _end,
}


def remaining(seconds: float | None) -> str:
    """", 3 min left" to be put behind a sentence; nothing where it is not known or over at once."""
    return f", {duration(seconds)} left" if seconds is not None and seconds >= 0.5 else ""


def duration(seconds: float) -> str:
    """Return a duration in words: 8 s, 3 min, 2.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
