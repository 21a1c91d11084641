"""How lively each dynamic node was, as animation curves of the object, so that Blender's Graph Editor shows it.

The curves drive custom properties that nothing reads; they play and are saved without the extension.
"""

from __future__ import annotations

import re

import bpy
import numpy as np

from ...solver.frames.read import Lively
from .. import compat

NAME = "Liveliness {}"  #: of the custom property of a dynamic node, counted from 1
IS_NAME = re.compile(r"Liveliness \d+")

#: custom property of an action that was made for these curves alone
OURS = "conjac_liveliness"


def show(obj: bpy.types.Object, told: Lively | None) -> str | None:
    """Draw a curve for each dynamic node, in place of those of an earlier bake; none where no node may sleep.

    Returns a sentence where the object's animation cannot be written, else None.
    """
    hide(obj)
    if told is None or not len(told.frames):
        return None
    had_action = obj.animation_data is not None and obj.animation_data.action is not None
    for k in range(told.levels.shape[1]):
        name = NAME.format(k + 1)
        obj[name] = 0.0
        if not _keyed(obj, path_of(name), int(told.frames[0])):
            hide(obj)
            return f'"{obj.name}": its liveliness is not drawn, as its action cannot be changed; make the action local'
        curve = next(one for one in compat.fcurves(obj) if one.data_path == path_of(name))
        curve.keyframe_points.add(len(told.frames) - 1)
        points = np.stack([told.frames.astype(np.float32), told.levels[:, k]], axis=1)
        curve.keyframe_points.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
        curve.update()
    if not had_action:
        obj.animation_data.action[OURS] = True
        obj.animation_data.action.name = f"{obj.name} Liveliness"
    return None


def hide(obj: bpy.types.Object) -> None:
    """Take our curves and properties away; an action that was made for them goes with the last curve."""
    for curve in compat.fcurves(obj):
        if IS_NAME.fullmatch(curve.data_path[2:-2]):
            compat.remove_fcurve(obj, curve)
    for name in [key for key in obj.keys() if IS_NAME.fullmatch(key)]:
        del obj[name]
    action = obj.animation_data.action if obj.animation_data else None
    if action is not None and action.get(OURS) and not compat.fcurves(obj):
        obj.animation_data.action = None
        if action.users == 0:
            bpy.data.actions.remove(action)


def _keyed(obj: bpy.types.Object, path: str, frame: int) -> bool:
    """Whether a first key could be set: what is linked from a library is not kept, though 4.2 sets it."""
    action = obj.animation_data.action if obj.animation_data else None
    if action is not None and action.library is not None:
        return False
    try:
        return bool(obj.keyframe_insert(path, frame=frame))
    except RuntimeError:
        return False


def path_of(name: str) -> str:
    """The data path of a custom property."""
    return f'["{name}"]'
