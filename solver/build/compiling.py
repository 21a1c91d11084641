"""Compiles every kernel of the solver into the cache on disk, so that no bake has to wait: the extension runs it once.

    python -m solver.build.compiling
"""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import suppress
from pathlib import Path

from .. import threads

ROOT = Path(__file__).resolve().parents[1]
NICE = 10  #: less urgent than whatever else runs


def main() -> int:
    """Import every file that has kernels, which compiles them. Returns an exit code."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    for path in threads._kernel_sources(ROOT):
        parts = path.relative_to(ROOT).with_suffix("").parts
        with suppress(ImportError):  # of a library that is not installed: nothing asks for its kernels then
            importlib.import_module("." + ".".join(parts), ROOT.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
