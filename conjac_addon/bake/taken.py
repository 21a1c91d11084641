"""Exclusive use of a job folder by one Blender: no other one takes it, gathers the scene into it or plays it meanwhile.

The solver's own lock, in the cache below it, protects frames while they are written; this one lasts from the first
access to the folder on: if two Blenders open one .blend in the same second, one bakes, and the other one names it.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import bpy

from ...solver.errors import CacheBusy
from ...solver.frames import lock
from ...solver.job.files import unwritable
from . import moving, place


def take(obj: bpy.types.Object, stack: ExitStack) -> Path:
    """Return the object's own job folder, locked until the stack is closed. Raises CacheBusy, CacheUnwritable."""
    seen = place.own_folder(obj)
    _hold(seen, stack)
    folder = moving.take(obj)
    if folder != seen:  # another cache folder was chosen
        _hold(folder, stack)
    return folder


def by(folder: Path) -> list[Path]:
    """Return the folders into which another process bakes this job: the job folder, its cache, both or none."""
    return [candidate for candidate in (folder, folder / "cache") if lock.busy(candidate)]


def sweep(folder: Path) -> None:
    """Remove files that a crashed Blender left behind. Raises CacheBusy if one is running and baking."""
    found = lock.holder(folder)
    if found == lock.this_process():
        return
    if lock.busy(folder):
        raise CacheBusy(f"a bake into {folder} is running", "Cancel it first")
    lock.sweep(folder)


def _hold(folder: Path, stack: ExitStack) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    if lock.holder(folder) == lock.this_process():
        lock.sweep(folder)  # its disk went while this Blender baked, and has come back
    try:
        stack.enter_context(lock.acquire(folder))
    except CacheBusy as error:
        raise CacheBusy(f"it is already being baked by {lock.description(folder) or 'another Blender'}",
                        "Wait for that bake or cancel it; if it is long gone, use Break Lock") from error
