"""Diagnostics of a bake as animation curves, so that Blender's Graph Editor draws them.

The curves drive custom properties that nothing reads; they play and are saved without the extension.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import compat

#: custom property of an action that was made for such curves alone
OURS = "conjac_graph"


def draw(obj: bpy.types.Object, bone: str, frames: NDArray[np.int32], graphs: Mapping[str, NDArray[Any]],
         what: str) -> str | None:
    """Draw graphs, values (f,) at frames (f,) by their property's name, of an object or of one of its bones.

    bone: "" for the object itself. what: what an action is called that has to be made for them. Returns a sentence
    without its object where its animation cannot be written, else None.
    """
    had_action = obj.animation_data is not None and obj.animation_data.action is not None
    part = obj.pose.bones[bone] if bone else obj
    for name, values in graphs.items():
        part[name] = 0.0
        path = path_of(name, bone)
        if not _keyed(obj, path, bone, int(frames[0])):
            return "as its action cannot be changed; make the action local"
        curve = next(candidate for candidate in compat.fcurves(obj) if candidate.data_path == path)
        curve.keyframe_points.add(len(frames) - 1)
        points = np.stack([frames, values], axis=1)
        curve.keyframe_points.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
        curve.update()
    if not had_action:
        obj.animation_data.action[OURS] = True
        obj.animation_data.action.name = f"{obj.name} {what}"
    return None


def remove(obj: bpy.types.Object, is_name: re.Pattern[str]) -> None:
    """Remove graphs with such names; an action that was created for them is removed with the last curve."""
    for curve in compat.fcurves(obj):
        if is_name.fullmatch(curve.data_path.rpartition('["')[2].removesuffix('"]')):
            compat.remove_fcurve(obj, curve)
    for part in (obj, *(obj.pose.bones if obj.pose is not None else ())):
        for name in [key for key in part.keys() if is_name.fullmatch(key)]:
            del part[name]
    action = obj.animation_data.action if obj.animation_data else None
    if action is not None and action.get(OURS) and not compat.fcurves(obj):
        obj.animation_data.action = None
        if action.users == 0:
            bpy.data.actions.remove(action)


def path_of(name: str, bone: str = "") -> str:
    """Return the data path of a custom property."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"]["{name}"]' if bone else f'["{name}"]'


def _keyed(obj: bpy.types.Object, path: str, group: str, frame: int) -> bool:
    """Whether a first key could be set: linked data is not saved, though 4.2 sets the key."""
    action = obj.animation_data.action if obj.animation_data else None
    if action is not None and action.library is not None:
        return False
    try:
        return bool(obj.keyframe_insert(path, frame=frame, group=group))
    except RuntimeError:
        return False
