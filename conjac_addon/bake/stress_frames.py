"""Stress, stretch, pressure and speed of a baked frame: rows of a body, and attributes of its mesh for shaders."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import ConJacError
from .. import members, timeline
from ..playback import pushed
from . import place, shown

#: attributes of a mesh, in the order of the columns
NAMES = ("conjac_stress", "conjac_stretch", "conjac_pressure", "conjac_speed")

Array = NDArray[np.float32]

#: rows that were read: (folder, frame, session_uid, when its cache was written)
_read: dict[tuple[str, int, int, int], Array] = {}


def rows(obj: bpy.types.Object, scene: bpy.types.Scene) -> Array | None:
    """Von Mises stress [Pa], largest stretch, pressure [Pa] and speed [m/s] of the baked vertices of an object at the
    present frame, (n, 4); None where they are not baked."""
    folder, frame = place.of(obj).folder, timeline.present_frame(scene)
    written = when(obj)
    if written is None:
        return None
    key = (str(folder), frame, obj.session_uid, written)
    if key not in _read:
        cache = place.cache_of(folder)
        try:
            holder = members.owner(obj)
            found = cache.diagnostics.stress(frame)
            name = next(name for player, name in shown.players(holder, scene, cache) if player == obj)
            of_body = found[name]
        except (ConJacError, StopIteration, KeyError):
            return None  # a frame that is not baked yet, or a bake without them
        if len(_read) > 16:
            _read.clear()
        _read[key] = of_body
    return _read[key]


def when(obj: bpy.types.Object) -> int | None:
    """When the bake of an object was begun, as its file has it [ns]; None where there is none."""
    try:
        return (place.of(obj).folder / "cache" / "manifest.json").stat().st_mtime_ns
    except OSError:
        return None


def follow(scene: bpy.types.Scene) -> None:
    """Write those of all that keep them into their meshes; zeros at frames that are not baked, and nothing where
    modifiers above the bake change the number of vertices."""
    for obj in members.followers(scene, members.shows_stress):
        if members.is_edited(obj) or obj.data.library is not None:
            continue
        found = rows(obj, scene)
        if found is not None and len(found) == len(obj.data.vertices):
            for name, values in zip(NAMES, found.T):
                pushed.write(obj, name, values)
        else:
            for name in NAMES:
                pushed.clear(obj, name)


def forget() -> None:
    """Drop the cached frames."""
    _read.clear()
