"""Handlers of files and of undo, so that nothing of a live shape is saved, and of the timeline, which begins one."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import app_handlers, later
from ..kinds import POSE
from . import session, shape, with_timeline


@persistent
def _before_load(*_: Any) -> None:
    if later.has_run(session):
        session.stop_all()


@persistent
def _after_load(*_: Any) -> None:
    """Remove live shapes from a loaded file, since Blender's auto-save may have stored one."""
    if any(modifier.type == "MESH_CACHE" for obj in bpy.data.objects for modifier in obj.modifiers):
        shape.remove_all()
    if any(obj.get(POSE) is not None for obj in bpy.data.objects):
        session.take_off()


@persistent
def _before_save(*_: Any) -> None:
    if later.has_run(session) and session.playing:
        session.take_off()


@persistent
def _after_save(*_: Any) -> None:
    if later.has_run(session) and session.playing:
        session.show_again()


@persistent
def _after_undo(*_: Any) -> None:
    """Replace live shapes after undo: its state may be of a time when something else was played, or nothing yet."""
    if later.has_run(session):
        session.take_off(set(session.playing))
        session.show_again()


@persistent
def _as_it_plays(*_: Any) -> None:
    if not bpy.app.background:
        bpy.app.timers.register(_begin, first_interval=0.0)


def _begin() -> None:
    with_timeline.begin()


@persistent
def _as_it_stops(*_: Any) -> None:
    if later.has_run(with_timeline):
        with_timeline.end()


_HANDLERS = (("load_pre", _before_load), ("load_post", _after_load), ("save_pre", _before_save),
             ("save_post", _after_save), ("save_post_fail", _after_save), ("undo_post", _after_undo),
             ("redo_post", _after_undo), ("animation_playback_pre", _as_it_plays),
             ("animation_playback_post", _as_it_stops))


def register() -> None:
    app_handlers.add(_HANDLERS)


def unregister() -> None:
    app_handlers.remove(_HANDLERS)
