"""How long a mesher has had. Standard library only."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path


class Spent:
    """Seconds since it was made, less those for which the only child of a process waited while others computed.

    So a busy machine meshes as well as one that is not, only later. Where the system does not say (all but Linux),
    every second counts.
    """

    def __init__(self, process: int) -> None:
        self._process, self._began = process, time.monotonic()

    def __call__(self) -> float:
        passed = time.monotonic() - self._began
        with suppress(OSError, ValueError, IndexError):
            child = int(Path(f"/proc/{self._process}/task/{self._process}/children").read_text().split()[0])
            computed, waited = (1.0e-9 * int(word) for word in Path(f"/proc/{child}/schedstat").read_text().split()[:2])
            return max(passed - waited, computed)
        return passed
