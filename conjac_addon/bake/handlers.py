"""Handlers of Blender's events: a file is loaded or saved, an edit is undone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import app_handlers, later, members, playback, upgrade
from . import moving, place, players, pushed_frames, session, share, stress_frames


@persistent
def _before_load(*_: Any) -> None:
    """End the bakes of a file before another one is loaded; their frames remain."""
    if later.has_run(session):
        session.stop_all()


@persistent
def _upgrade(*_: Any) -> None:
    """Settings of other versions. Not so where Blender starts, and there are none."""
    if any(obj.is_property_set("conjac") for obj in bpy.data.objects):
        upgrade.upgrade_all()


def _knows_any() -> bool:
    """Whether there is anything of ConJac in this file, or was in an earlier one. Not so where Blender starts."""
    return later.has_run(place) or any(
        obj.is_property_set("conjac") or obj.modifiers for obj in bpy.data.objects)


@persistent
def _after_load(*_: Any) -> None:
    if not _knows_any():
        return
    place.forget()
    moving.forget()
    moving.follow()
    players.look()
    # what plays a bake was known by its name alone in files from before it had a sign of its own
    for obj in bpy.data.objects:
        if members.is_soft_body(obj) or playback.shows_cut(obj):
            playback.adopt(obj)


#: what Blender writes at present to take another file's place, and that file: (beside, target)
_saves_as: tuple[str, str] | None = None


@contextmanager
def saves_as(beside: Path, target: str) -> Iterator[None]:
    """Context in which a copy of the .blend that is written to `beside` is that which is saved to `target`, and has
    been saved once this ends without an error."""
    global _saves_as
    _saves_as = (str(beside), target)
    try:
        yield
    except BaseException:
        _after_failed_save()
        raise
    finally:
        _saves_as = None
    _after_save(target)


def _meant(path: str) -> str:
    """Return the .blend that a file written by Blender will become."""
    return _saves_as[1] if _saves_as is not None and os.path.normpath(path) == _saves_as[0] else path


@persistent
def _before_save(path: str = "", *_: Any) -> None:
    if _knows_any():
        path = _meant(path)
        moving.before(path, lambda obj: session.running_bake(obj) is not None, share.say)


@persistent
def _after_save(path: str = "", *_: Any) -> None:
    if not _knows_any() or _meant(path) != path:  # it has yet to take the other's place
        return
    shared = moving.after(path)
    players.note(path)
    if shared and not bpy.app.background:
        # a dialog needs a window that has done with saving
        bpy.app.timers.register(share.ask, first_interval=0.1)


@persistent
def _after_failed_save(*_: Any) -> None:
    if later.has_run(moving):
        moving.failed()


@persistent
def _before_undo(*_: Any) -> None:
    if later.has_run(session):
        session.before_undo()


@persistent
def _after_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Update the attributes of objects whose attributes follow the frames."""
    if members.followers(scene):
        pushed_frames.follow(scene, depsgraph)
    if members.followers(scene, members.shows_stress):
        stress_frames.follow(scene)


#: in their order. Appending tells of itself from Blender 4.3 on; before, what was appended waits for the next save
_HANDLERS = (("load_pre", _before_load), ("load_post", _upgrade), ("load_post", _after_load),
             ("blend_import_post", _upgrade), ("save_pre", _upgrade), ("save_pre", _before_save),
             ("save_post", _after_save), ("save_post_fail", _after_failed_save), ("undo_pre", _before_undo),
             ("redo_pre", _before_undo), ("frame_change_post", _after_frame))


def register() -> None:
    app_handlers.add(_HANDLERS)


def unregister() -> None:
    app_handlers.remove(_HANDLERS)
    if later.has_run(upgrade):
        upgrade.forget()
    if later.has_run(place):
        place.forget()
