"""Time that a mesher has used. Standard library only."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path


class Spent:
    """Clock of the seconds since its creation, less those for which the only child of a process waited for a core.

    So a busy machine meshes as well as an idle one, only later. Where the system has no record of waiting (all but
    Linux), every second counts.
    """

    def __init__(self, process: int) -> None:
        self._process, self._start = process, time.monotonic()

    def __call__(self) -> float:
        passed = time.monotonic() - self._start
        with suppress(OSError, ValueError, IndexError):
            child = int(Path(f"/proc/{self._process}/task/{self._process}/children").read_text().split()[0])
            computed, waited = (1.0e-9 * int(word) for word in Path(f"/proc/{child}/schedstat").read_text().split()[:2])
            return max(passed - waited, computed)
        return passed
