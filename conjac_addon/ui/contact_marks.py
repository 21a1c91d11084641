"""Overlay of contacts at the present frame: points where surfaces push each other, and arrows for the forces."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import ConJacError
from .. import members, timeline
from .. import settings as properties
from ..bake import place
from . import marks as drawn

Array = NDArray[np.float32]

LARGEST = 0.25  #: of its bake's largest object: the arrow of a frame's largest force
SIZE = 6.0  #: of points [px]
POINTS, ARROWS = (1.0, 0.2, 0.2, 1.0), (1.0, 0.9, 0.1, 1.0)

#: what was read: (folder, frame, when its cache was written) → rows of `Cache.contacts`
_read: dict[tuple[str, int, int], Array] = {}


def marks(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[Array, Array] | None:
    """Return the contacts of all that is baked together with an object: places (k, 3), and ends of arrows (4 k, 3), two
    arrows each, in Blender's lengths in world; None where no contacts are baked at the present frame."""
    rows = _at(obj, timeline.present_frame(scene))
    if rows is None:
        return None
    places, forces = rows[:, :3] / properties.unit_scale(scene), rows[:, 3:6]
    largest = float(np.linalg.norm(forces, axis=1).max(initial=0.0))
    together = members.members(members.owner(obj), scene)
    size = LARGEST * max(float(length) for member in together for length in member.dimensions)
    arrows = forces * (size / largest if largest else 0.0)
    ends = np.stack([places, places + arrows, places, places - arrows], axis=1).reshape(-1, 3)
    return places.astype(np.float32), ends.astype(np.float32)


def _at(obj: bpy.types.Object, frame: int) -> Array | None:
    folder = place.of(obj).folder
    try:
        written = (folder / "cache" / "manifest.json").stat().st_mtime_ns
    except OSError:
        return None
    key = (str(folder), frame, written)
    if key not in _read:
        try:
            rows = place.cache_of(folder).diagnostics.contacts(frame)
        except ConJacError:
            return None  # a frame that is not baked yet, or one without surfaces that may touch
        if len(_read) > 64:
            _read.clear()
        _read[key] = rows
    return _read[key]


def draw(context: bpy.types.Context) -> None:
    """Draw the contacts of all visible soft bodies, each bake once."""
    bakes = {members.owner(obj): obj for obj in context.visible_objects if members.collides(obj)}
    drawn.draw([found for obj in bakes.values() if (found := marks(obj, context.scene)) is not None and len(found[0])],
               SIZE, POINTS, ARROWS)


def forget() -> None:
    """Drop the cached data."""
    _read.clear()
