"""Compiled kernels of the installed extension: where they are kept, and compiled behind the window after an install.

They lie in the extension's user folder, since its own may be read-only; Blender deletes that with the extension.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import bpy

from ...solver.errors import Environment
from .. import status_line
from ..prefs import ROOT_PACKAGE
from . import worker

FOLDER = f"kernels-{sys.implementation.cache_tag}"
MODULE = "solver.build.compiling"
TICK = 0.5  #: seconds between looks at the process
NOTE = "ConJac is compiling for this computer, only this once. You can keep working, and bake"

_worker: worker.Worker | None = None
_compiles = False  #: whether the process has found something to compile


def folder() -> Path | None:
    """Return the folder of compiled kernels, made where it is missing; None where this extension does not choose it.

    That is outside of an installed extension, where the user says it, and where the folder cannot be written to.
    """
    if "NUMBA_CACHE_DIR" in os.environ or not ROOT_PACKAGE.startswith("bl_ext."):
        return None
    with suppress(ValueError, OSError):
        place = Path(bpy.utils.extension_path_user(ROOT_PACKAGE, path=FOLDER, create=True))
        place.chmod(0o700)  # what lies there is run
        return place if os.access(place, os.W_OK) else None
    return None


def environment() -> dict[str, str] | None:
    """Return the environment of a worker; None for that of this process."""
    place = folder()
    return None if place is None else os.environ | {"NUMBA_CACHE_DIR": str(place)}


def _mark() -> Path | None:
    """Return the empty file that marks this version's kernels as compiled on this computer; None where nothing has to
    be compiled."""
    place = folder()
    if place is None:
        return None
    import tomllib

    version = tomllib.loads((worker.ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
    return place / f"compiled-{version}"


def begin() -> bool:
    """Start compiling in a process of its own where this version has not been compiled yet. Returns whether it did."""
    global _worker
    mark = _mark()
    if _worker is not None or mark is None or mark.exists():
        return False
    with suppress(Environment):  # a bake will say so
        _worker = worker.Worker(MODULE, [], env=environment())
        return True
    return False


def look() -> float | None:
    """Blender's timer: begin, show the note while it compiles, and note that it is done."""
    global _worker, _compiles
    if _worker is None and not begin():
        return None
    assert _worker is not None
    _compiles |= any(message["event"] == "compile" for message in _worker.messages())
    if not _worker.ended():
        if _compiles:
            status_line.say(NOTE)
        return TICK
    mark = _mark()
    if _worker.exit_code == 0 and mark is not None:
        with suppress(OSError):
            mark.touch()
    _worker, _compiles = None, False
    status_line.clear()
    return None


def stop() -> None:
    """End the process, as ConJac is switched off."""
    global _worker
    if _worker is not None:
        _worker.stop()
        _worker = None
        status_line.clear()
