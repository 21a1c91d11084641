"""The end of a bake: the check that all frames exist, and the output for playback."""

from __future__ import annotations

from pathlib import Path

import bpy

from ...solver import catalogue
from ...solver.errors import Environment
from .. import members
from . import place


def written(obj: bpy.types.Object, key: str | None) -> str:
    """Return the output of a complete bake for the progress line. key: of an export format, None for the object's
    own."""
    if members.is_mechanism(obj):
        return "keyframes"
    return catalogue.find("export", key or obj.conjac.export).label


def check_frames(folder: Path, frames: tuple[int, int] | None, name: str) -> None:
    """Raise Environment unless every requested frame is on disk, whatever the solver's process reported.

    frames: (first, last), None for all of the job. name: of the object.
    """
    cache = place.cache_of(folder)
    requested = range(frames[0], frames[1] + 1) if frames else cache.compare().frames
    missing = sorted(set(requested) - set(cache.frames_done()))
    if missing:
        raise Environment(f"{len(missing)} frames are missing from {folder}, the first is {missing[0]}",
                          "Check that disk and bake again", name)


def elsewhere(obj: bpy.types.Object, scene_uid: int) -> str:
    """Return a sentence where another scene than that with this session_uid plays the same frames, else ""."""
    others = [scene.name for scene in obj.users_scene if scene.session_uid != scene_uid]
    return f'. Scene "{others[0]}" plays the same frames: an object has one bake, in all scenes' if others else ""
