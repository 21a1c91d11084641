"""Baking, from the Bake button to frames on the object: worker process, progress, operators, command line."""

from __future__ import annotations

from typing import Any

import bpy

from .. import later
from ..settings import CONJAC_Settings
from . import command, foreground, handlers, kernels, place, session, standing, watch

#: what others ask of a bake, and the module that answers, which runs then
_ANSWERED = {"Status": standing, "status": standing, "bake_object": foreground, "is_read": session,
             "is_temporary": place, "job_folder": place}

DRAWN = 3.0  #: seconds after which Blender is drawn, so that something may begin behind its window


def __getattr__(name: str) -> Any:
    if name == "shown_status":
        return watch.shown
    if name not in _ANSWERED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_ANSWERED[name], name)


def is_running(obj: bpy.types.Object) -> bool:
    """Whether this Blender bakes the object, which undo may have made nothing to ConJac meanwhile."""
    return later.has_run(session) and session.running_bake(obj) is not None


def _bake(settings: CONJAC_Settings, wait: bool = True, raise_on_failure: bool = False, solve_all: bool = False
          ) -> int:
    """Bake this object as the Bake button does. wait: return when it has ended. raise_on_failure: wait, and raise
    RuntimeError, with `.exit_code` and `.code`, where the bake does not end complete. solve_all: solve every object
    again where any has changed; else what has not, and is far from what has, keeps its frames.

    Returns the exit code: 0 complete, 2 bad input, 3 diverged, 4 environment, 75 stopped (or still running).
    """
    if raise_on_failure:
        foreground.bake_or_raise(settings.id_data, solve_all)  # type: ignore[arg-type]
        return 0
    return foreground.bake_object(settings.id_data, wait=wait, solves_all=solve_all)  # type: ignore[arg-type]


def _compile() -> float | None:
    return kernels.look()


def register() -> None:
    # `obj.conjac.bake()` in scripts: gathering reads the settings, so they may not know of baking
    CONJAC_Settings.bake = _bake
    handlers.register()
    watch.register()
    command.register()
    # scripts and farms bake at once, and what they bake is compiled then
    if not bpy.app.background:
        bpy.app.timers.register(_compile, first_interval=DRAWN, persistent=True)


def unregister() -> None:
    if bpy.app.timers.is_registered(_compile):
        bpy.app.timers.unregister(_compile)
    if later.has_run(kernels):
        kernels.stop()
    if later.has_run(session):
        session.stop_all()
    watch.unregister()
    handlers.unregister()
    command.unregister()
    if hasattr(CONJAC_Settings, "bake"):
        del CONJAC_Settings.bake  # Blender keeps the class, which would keep bpy: see handles.py
