"""From the Bake button to frames on the object: worker process, progress, operators, command line."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import members, playback
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
def _after_load(*_: Any) -> None:
    """What plays a bake was known by its name alone in files from before it had a sign of its own."""
    place.forget()
    for obj in bpy.data.objects:
        if members.is_soft_body(obj) or playback.shows_cut(obj):
            playback.adopt(obj)


#: what is called when, by the name of Blender's list
HANDLERS = {"load_pre": _stop_before_load, "load_post": _after_load}


def register() -> None:
    # `obj.conjac.bake()` in scripts: gathering reads the settings, so they may not know of baking
    CONJAC_Settings.bake = _bake
    for name, handler in HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)
    cli.register()


def unregister() -> None:
    session.stop_all()
    for name, handler in HANDLERS.items():
        if handler in getattr(bpy.app.handlers, name):
            getattr(bpy.app.handlers, name).remove(handler)
    place.forget()
    cli.unregister()
    if hasattr(CONJAC_Settings, "bake"):
        del CONJAC_Settings.bake  # Blender keeps the class, which would keep bpy: see handles.py
