"""Kernels that this checkout has compiled, given to one that keeps its own elsewhere or is a copy of it."""

import os
import shutil
import sys
from collections.abc import Collection
from pathlib import Path

from numba.core.caching import UserProvidedCacheLocator as Locator

from solver import threads

SOLVER = Path(threads.__file__).parent


def give(home: Path, solver: Path = SOLVER, without: Collection[str] = ()) -> None:
    """All but those of the modules `without`, for processes whose XDG_CACHE_HOME is `home`; what is not compiled yet
    these compile.

    solver: a copy with the same text. numba knows a kernel by its file's place, size and time, so the copy's files
    take the times of ours.
    """
    ours = Path(os.environ["NUMBA_CACHE_DIR"])
    theirs = home / "conjac" / f"kernels-{sys.implementation.cache_tag}-{threads._sources_hash(solver)}"
    for folder in [SOLVER, *(path for path in SOLVER.rglob("*") if path.is_dir())]:
        copied = solver / folder.relative_to(SOLVER)
        kept = ours / Locator.get_suitable_cache_subpath(str(folder / "any.py"))
        target = theirs / Locator.get_suitable_cache_subpath(str(copied / "any.py"))
        for path in kept.glob("*.nb[ci]"):
            if path.name.partition(".")[0] not in without:
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
        if copied != folder:
            for path in folder.glob("*.py"):
                told = path.stat()
                os.utime(copied / path.name, ns=(told.st_atime_ns, told.st_mtime_ns))
