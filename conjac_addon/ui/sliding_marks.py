"""Overlay of cloth on sharp edges at the present frame: points where it sits, and arrows for how fast it slides
through."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import ConJacError
from .. import identity, members, timeline
from ..bake import place
from . import marks as drawn

SECONDS = 0.1  #: an arrow is as long as the cloth slides in this time, as the switch says
SIZE = 7.0  #: of points [px]
POINTS, ARROWS = (1.0, 0.55, 0.1, 1.0), (0.2, 0.8, 1.0, 1.0)

Array = NDArray[np.float32]

#: places and speeds in object space that were read: (folder, frame, when its cache was written) → (k, 3), (k, 3)
_read: dict[tuple[str, int, int], tuple[Array, Array]] = {}


def marks(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[Array, Array] | None:
    """Places in the world, (k, 3), and ends of arrows, (2 k, 3), at the present frame; None where none is baked."""
    folder = place.of(obj).folder / "cache"
    frame = timeline.present_frame(scene)
    found = _at(obj, folder, frame)
    if found is None:
        return None
    places, speeds = found
    world = np.array(obj.matrix_world, dtype=np.float64)
    points = places @ world[:3, :3].T + world[:3, 3]
    ends = points + SECONDS * (speeds @ world[:3, :3].T)
    return points.astype(np.float32), np.stack([points, ends], axis=1).reshape(-1, 3).astype(np.float32)


def _at(obj: bpy.types.Object, folder: Path, frame: int) -> tuple[Array, Array] | None:
    try:
        written = (folder / "manifest.json").stat().st_mtime_ns
    except OSError:
        return None
    key = (str(folder), frame, written)
    if key not in _read:
        cache = place.cache_of(folder.parent)
        try:
            uuid = identity.of(obj)
            names = cache.sheet_names()
            name = next((body_name for body_name, known in cache.body_uuids().items()
                         if body_name in names and known == uuid),
                        names[0] if len(names) == 1 else obj.name)
            sheet = cache.sheets(frame)[name]
        except (ConJacError, KeyError):
            return None  # a frame that is not baked yet
        if len(_read) > 64:
            _read.clear()
        _read[key] = sheet.x[sheet.sliding], sheet.speed
    return _read[key]


def draw(context: bpy.types.Context) -> None:
    """Draw the marks of all visible cloth with Sharp Edges."""
    drawn.draw([found for obj in context.visible_objects if members.is_sharp(obj)
                and (found := marks(obj, context.scene)) is not None and len(found[0])], SIZE, POINTS, ARROWS)


def forget() -> None:
    """Drop the cached data."""
    _read.clear()
