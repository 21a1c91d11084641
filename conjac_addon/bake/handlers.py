"""What Blender tells of files: one is loaded, one is saved; and of undo."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import members, playback
from . import moving, place, players, session, share


@persistent
def _before_load(*_: Any) -> None:
    """Another file takes this one's place: its bakes end, their frames stay."""
    session.stop_all()


@persistent
def _after_load(*_: Any) -> None:
    place.forget()
    moving.follow()
    players.look()
    # what plays a bake was known by its name alone in files from before it had a sign of its own
    for obj in bpy.data.objects:
        if members.is_soft_body(obj) or playback.shows_cut(obj):
            playback.adopt(obj)


@persistent
def _before_save(path: str = "", *_: Any) -> None:
    moving.before(path, lambda obj: session.running_bake(obj) is not None, share.say)


@persistent
def _after_save(path: str = "", *_: Any) -> None:
    shared = moving.after(path)
    players.note(path)
    if shared and not bpy.app.background:
        # a dialog needs a window that has done with saving
        bpy.app.timers.register(share.ask, first_interval=0.1)


@persistent
def _after_failed_save(*_: Any) -> None:
    moving.failed()


@persistent
def _before_undo(*_: Any) -> None:
    session.before_undo()


_HANDLERS = (("load_pre", _before_load), ("load_post", _after_load), ("save_pre", _before_save),
             ("save_post", _after_save), ("save_post_fail", _after_failed_save), ("undo_pre", _before_undo),
             ("redo_pre", _before_undo))


def register() -> None:
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    for name, handler in _HANDLERS:
        if handler in getattr(bpy.app.handlers, name):
            getattr(bpy.app.handlers, name).remove(handler)
    place.forget()
