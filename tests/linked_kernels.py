"""Kernels that this checkout has compiled, given to a process that stores its own elsewhere."""

import os
import shutil
from collections.abc import Collection
from pathlib import Path

from solver import threads


def give(home: Path, without: Collection[str] = ()) -> None:
    """Link the compiled kernels into the cache of processes whose XDG_CACHE_HOME is `home`.

    Kernels of `without`, modules or a module's functions ("locate", "locate._search"), are left out, and compiled by
    those processes. Files are shared: numba never writes into one."""
    source = Path(os.environ["NUMBA_CACHE_DIR"])
    target = home / "conjac" / threads.KERNELS_FOLDER
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in source.glob("*.nb[ci]"):
        if not {path.name.partition(".")[0], path.name.partition("-")[0]} & set(without):
            try:
                os.link(path, target / path.name)
            except OSError:  # on another disk
                shutil.copy2(path, target / path.name)
