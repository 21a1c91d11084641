"""Finds objects that play a bake as keyframes and were moved by hand since: they jump back at the next frame, as all
that has keyframes does. At the bake's first frame the move is where the next bake begins."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import bpy

from .. import compat
from ..timeline import present_frame, present_subframe
from . import action

#: how far a channel may be off what its curve says, as a share of the larger: single precision
SAME = 1.0e-5


def first_frame(obj: bpy.types.Object) -> int | None:
    """Return the first frame with a key in the baked action of an object; None where none plays by itself."""
    starts = [curve.range()[0] for curve, _, _ in _baked(obj)]
    return round(min(starts)) if starts else None


def is_moved(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether the transform of an object or its bones differs from the bake at the present frame."""
    frame = present_frame(scene) + present_subframe(scene)
    for curve, part, channel in _baked(obj):
        here, baked = getattr(part, channel)[curve.array_index], curve.evaluate(frame)
        if abs(here - baked) > SAME * max(abs(here), abs(baked), 1.0):
            return True
    return False


def adopt_all(objects: Iterable[bpy.types.Object], scene: bpy.types.Scene) -> None:
    """Start the next bake from the transforms to which objects and bones were moved at its first frame."""
    for obj in objects:
        if present_frame(scene) == first_frame(obj) and is_moved(obj, scene):
            _adopt(obj)


def sentence(objects: Iterable[bpy.types.Object], scene: bpy.types.Scene) -> tuple[str, bool]:
    """Return a warning about the moved objects, "" where there are none; and whether the next bake begins from there.
    """
    moved = [obj for obj in objects if is_moved(obj, scene)]
    if not moved:
        return "", False
    names = ", ".join(obj.name for obj in moved[:3]) + (f" and {len(moved) - 3} more" if len(moved) > 3 else "")
    first = first_frame(moved[0])
    if present_frame(scene) == first:
        return f"Baked before {names} moved; bake again, or it jumps back at the next frame", True
    return f"{names} moved in the middle of the bake and jumps back: move it at frame {first} and bake again", False


def _adopt(obj: bpy.types.Object) -> None:
    """Its place now is where it is without the bake."""
    baked = action.ours(obj)
    found: dict[str, Any] = json.loads(baked[action.FOUND])  # type: ignore[index]
    for bone, part in action.parts_of(obj).items():
        if bone in found["values"]:
            found["values"][bone] |= {channel: list(getattr(part, channel)) for channel in action.CHANNELS}
    baked[action.FOUND] = json.dumps(found)  # type: ignore[index]


def _baked(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.FCurve, Any, str]]:
    """Yield the curves of a bake for which the artist's own animation has none, with their owner and channel."""
    baked = action.active(obj)
    if baked is None:
        return
    own = baked.get(action.STANDS_FOR)
    theirs = {curve.data_path for curve in compat.fcurves_in(own)} if own is not None else set()
    values = json.loads(baked[action.FOUND])["values"]
    of_path = {action.path_of(part.name if bone else "", channel): (part, channel)
               for bone, part in action.parts_of(obj).items() if bone in values for channel in action.CHANNELS}
    for curve in compat.fcurves(obj):
        if curve.data_path in of_path and curve.data_path not in theirs and not curve.mute:
            yield curve, *of_path[curve.data_path]
