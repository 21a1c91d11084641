"""Converts hands of a performance to Pulls with keyframes, so that a bake repeats the artist's motion."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import compat, settings
from ..operators.setup import empty_beside

SIGN = "conjac_live_pull"  #: marks the Empty of such a pull
REACH = 0.08  #: radius of what a hand takes hold of, as a share of the body's size: as of solver.live.grabbing

Array = NDArray[np.float64]


def keyframe(bodies: Sequence[bpy.types.Object], rest: Sequence[Array], arrays: dict[str, Array],
             scene: bpy.types.Scene, start: int) -> int:
    """Give soft bodies the pulls of a performance, in place of those of the one before. Returns how many.

    rest: where vertices of each are at the first frame in the world [m], (n, 3). arrays: "vertex", "target" and
    "stiffness" of each hand, as of `solver.live.recording`. start: the first frame.
    """
    unit, first = settings.unit_scale(scene), np.cumsum([0, *map(len, rest)])
    whose = np.searchsorted(first, arrays["vertex"], side="right") - 1
    made = 0
    for number, (obj, places) in enumerate(zip(bodies, rest)):
        free = _emptied(obj)
        for hand in np.flatnonzero(whose == number):
            strength = arrays["stiffness"][:, hand]
            frames = np.flatnonzero(strength > 0.0)
            frames = frames[frames > 0]  # at the first frame is read what it pulls at
            if not len(frames):
                continue
            index = free.pop(0) if free else _added(obj)
            place = places[int(arrays["vertex"][hand]) - first[number]] / unit
            _move(obj, index, place, frames, arrays["target"][frames, hand] / unit, strength[frames], start)
            made += 1
        for index in sorted(free, reverse=True):
            _leave(obj, index)
    return made


def _emptied(obj: bpy.types.Object) -> list[int]:
    """Numbers of the pulls of an earlier performance, which have no keyframes any more."""
    found = [k for k, pull in enumerate(obj.conjac.pulls) if pull.object is not None and SIGN in pull.object]
    paths = {_strength_path(index) for index in found}
    for curve in compat.fcurves(obj):
        if curve.data_path in paths:
            compat.remove_fcurve(obj, curve)
    for index in found:
        obj.conjac.pulls[index].object.animation_data_clear()
    return found


def _added(obj: bpy.types.Object) -> int:
    empty = empty_beside(obj, "Live Pull", "SPHERE", REACH * max(*obj.dimensions, 1.0e-3))
    empty[SIGN] = True
    obj.conjac.pulls.add().object = empty
    return len(obj.conjac.pulls) - 1


def _leave(obj: bpy.types.Object, index: int) -> None:
    """Remove a pull if it is the last, else disable it: keyframes refer to later pulls by index."""
    pull = obj.conjac.pulls[index]
    if index == len(obj.conjac.pulls) - 1:
        bpy.data.objects.remove(pull.object)
        obj.conjac.pulls.remove(index)
    else:
        pull.strength = 0.0


def _move(obj: bpy.types.Object, index: int, place: Array, frames: NDArray[np.int64], targets: Array,
          stiffness: Array, start: int) -> None:
    """Make a pull move the surroundings of a place [Blender units], (3,), along targets (k, 3) at consecutive frames,
    (k,)."""
    pull = obj.conjac.pulls[index]
    pull.radius, pull.stiffness = REACH * max(*obj.dimensions, 1.0e-3), float(stiffness.max())
    empty = pull.object
    for frame, target in zip((0, *frames), (place, *targets)):
        empty.location = target.tolist()
        empty.keyframe_insert("location", frame=start + int(frame))
    strong = dict(zip(frames.tolist(), (stiffness / stiffness.max()).tolist()))
    for frame in sorted({0, *strong, *(k - 1 for k in strong), *(k + 1 for k in strong)}):
        pull.strength = strong.get(frame, 0.0)
        obj.keyframe_insert(_strength_path(index), frame=start + frame)


def _strength_path(index: int) -> str:
    return f"conjac.pulls[{index}].strength"
