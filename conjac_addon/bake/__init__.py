"""From the Bake button to frames on the object: worker process, progress, operators, command line."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..settings import CONJAC_Settings
from . import cli, operators, place, session
from .place import is_temporary, job_folder
from .session import bake_object
from .status import Status, status

__all__ = ["Status", "bake_object", "is_temporary", "job_folder", "status"]

classes = operators.classes


def _bake(settings: CONJAC_Settings, wait: bool = True) -> int:
    """Bake this object as the Bake button does. wait: return when it has ended.

    Returns the exit code: 0 complete, 2 bad input, 3 diverged, 4 environment, 75 stopped (or still running).
    """
    return bake_object(settings.id_data, wait=wait)


@persistent
def _stop_before_load(*_: Any) -> None:
    """Another file takes this one's place: its bakes end, their frames stay."""
    session.stop_all()


@persistent
def _forget_after_load(*_: Any) -> None:
    place.forget()


def register() -> None:
    # `obj.conjac.bake()` in scripts: gathering reads the settings, so they may not know of baking
    CONJAC_Settings.bake = _bake
    bpy.app.handlers.load_pre.append(_stop_before_load)
    bpy.app.handlers.load_post.append(_forget_after_load)
    cli.register()


def unregister() -> None:
    session.stop_all()
    if _stop_before_load in bpy.app.handlers.load_pre:
        bpy.app.handlers.load_pre.remove(_stop_before_load)
    if _forget_after_load in bpy.app.handlers.load_post:
        bpy.app.handlers.load_post.remove(_forget_after_load)
    place.forget()
    cli.unregister()
    if hasattr(CONJAC_Settings, "bake"):
        del CONJAC_Settings.bake  # Blender keeps the class, which would keep bpy: see handles.py
