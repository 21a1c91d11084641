"""The last message of a farm's task, stored in a file of the job folder (`FILE`), to monitor many of them."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from ..errors import ConJacError
from ..job.files import open_regular, write_whole

FILE = "said.json"
EVERY = 2.0  #: [s] between two messages of a running task that are written
LONGEST = 1 << 16  #: [bytes] of the file that are read


@dataclass(frozen=True)
class LastMessage:
    """Last message of a task."""

    text: str = ""  #: a sentence
    state: str = ""  #: running, stopped, failed or complete
    memory_mb: float = 0.0  #: peak of its process
    at: float = 0.0  #: seconds since 1970


class Diary:
    """Writer of the last message into a job folder. It ignores errors of writing: the bake itself reports a full
    disk."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._last = folder, 0.0

    def note(self, text: str, state: str = "running") -> None:
        """Write a message with a state, and the peak memory of this process [MB]. While the state is "running", a
        message soon after the last one is left out."""
        now = time.time()
        if state == "running" and abs(now - self._last) < EVERY:
            return
        self._last = now
        most = max(peak_memory() / 1e6, read(self._folder).memory_mb)
        message = LastMessage(text, state, round(most, 1), round(now, 3))
        with contextlib.suppress(ConJacError, OSError):
            write_whole(self._folder / FILE, json.dumps(asdict(message), ensure_ascii=False).encode(), self._folder)


def read(folder: Path) -> LastMessage:
    """Return the last message in a job folder; an empty one where no task ran there."""
    try:
        with open_regular(folder / FILE) as stream:
            record = json.loads(stream.read(LONGEST))
        message = LastMessage(**{field.name: record[field.name] for field in fields(LastMessage)})
        good = isinstance(message.text, str) and isinstance(message.state, str)
        good = good and isinstance(message.memory_mb, int | float) and isinstance(message.at, int | float)
        return message if good else LastMessage()
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return LastMessage()


def peak_memory() -> float:
    """Return the peak memory of this process [bytes]; 0 where the system does not report it."""
    if sys.platform == "win32":
        return 0.0
    import resource

    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * (1 if sys.platform == "darwin" else 1024)
