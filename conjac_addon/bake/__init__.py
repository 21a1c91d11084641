"""From the Bake button to frames on the object: worker process, progress, operators, command line."""

from __future__ import annotations

from ..settings import CONJAC_Settings
from . import break_lock, cli, handlers, kernels, operators, session, share, watch
from .foreground import bake_object
from .place import is_temporary, job_folder
from .session import is_read
from .status import Status, status
from .watch import shown as shown_status

__all__ = ["Status", "bake_object", "is_read", "is_temporary", "job_folder", "shown_status", "status"]

classes = (*operators.classes, *break_lock.classes, *share.classes)


def _bake(settings: CONJAC_Settings, wait: bool = True) -> int:
    """Bake this object as the Bake button does. wait: return when it has ended.

    Returns the exit code: 0 complete, 2 bad input, 3 diverged, 4 environment, 75 stopped (or still running).
    """
    return bake_object(settings.id_data, wait=wait)  # type: ignore[arg-type]


def register() -> None:
    # `obj.conjac.bake()` in scripts: gathering reads the settings, so they may not know of baking
    CONJAC_Settings.bake = _bake
    handlers.register()
    watch.register()
    cli.register()
    kernels.register()


def unregister() -> None:
    kernels.unregister()
    session.stop_all()
    watch.unregister()
    handlers.unregister()
    cli.unregister()
    if hasattr(CONJAC_Settings, "bake"):
        del CONJAC_Settings.bake  # Blender keeps the class, which would keep bpy: see handles.py
