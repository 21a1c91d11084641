"""Kernels that this checkout has compiled, given to a process that keeps its own elsewhere."""

import os
import shutil
from collections.abc import Collection
from pathlib import Path

from solver import threads


def give(home: Path, without: Collection[str] = ()) -> None:
    """All but those of `without`, modules or a module's functions ("locate", "locate._search"), for processes whose
    XDG_CACHE_HOME is `home`; what is not compiled yet these compile. Files are shared: numba never writes into one."""
    ours = Path(os.environ["NUMBA_CACHE_DIR"])
    theirs = home / "conjac" / threads.KERNELS_FOLDER
    theirs.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in ours.glob("*.nb[ci]"):
        if not {path.name.partition(".")[0], path.name.partition("-")[0]} & set(without):
            try:
                os.link(path, theirs / path.name)
            except OSError:  # on another disk
                shutil.copy2(path, theirs / path.name)
