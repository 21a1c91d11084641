"""Follow: how the object moves whose motion a body takes part in, and how much of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import members
from . import animated
from .evaluation import Evaluation

Store = Callable[[str, NDArray[np.float64]], str]
SHARE = "follow_share"  #: the setting, which may have keyframes [%]


def follows(obj: bpy.types.Object) -> bool:
    """Whether a body follows the motion of an object."""
    settings = obj.conjac
    return (settings.follow_object is not None and not members.is_sharp(obj)
            and (settings.follow_share > 0.0 or animated.is_animated(obj, f"conjac.{SHARE}")))


class Follow:
    """Frames of the object that a body follows; call `sample` at every sample."""

    def __init__(self, evaluation: Evaluation, share: float | None) -> None:
        """share: that of scene.json, None where it has keyframes. Raises BadInput where the object to follow does not
        move as Blender would have it."""
        self._share = share
        self._evaluation, self._follows = evaluation, follows(evaluation.object)
        self._object = evaluation.object.conjac.follow_object
        self._frames: list[NDArray[np.float64]] = []
        self._shares: list[float] = []
        if self._follows:
            evaluation.check_enabled(self._object, f'"{evaluation.object.name}" follows it')

    def __bool__(self) -> bool:
        return self._follows

    def sample(self) -> None:
        """Read where the object is at the present sample. Raises BadInput where its scale is zero on an axis."""
        self._frames.append(self._evaluation.to_world(self._object))
        now = self._evaluation.evaluated(self._evaluation.object).conjac
        self._shares.append(float(getattr(now, SHARE)) / 100.0)

    def fields(self, store: Store) -> dict[str, Any]:
        """Return the field of scene.json's body, empty if it does not follow an object."""
        if not self._follows:
            return {}
        share: Any = self._share
        if share is None:
            share = store("follow_share", np.clip(self._shares, 0.0, 1.0))
        return {"follow": {"motion": store("follow", np.array(self._frames)), "share": share}}
