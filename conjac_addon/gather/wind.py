"""The Wind force fields of a scene, as one speed of the air in which its cloth is."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from .evaluation import Evaluation
from .folder import JobFolder
from .placed import may_move
from .read_by_itself import fields

SAME = 1.0e-5  #: how far a speed may be off, as a share, and be the same: what Blender's single precision loses


def settings(of: bpy.types.Object, scene: bpy.types.Scene) -> dict[str, Any]:
    """scene.json's wind as far as it follows without an evaluation; nothing where none blows."""
    found = fields(of, scene)
    if not found:
        return {}
    if any(may_move(field) for field in found):
        return {"wind": {"motion": ""}}
    return {"wind": {"velocity": sum((_speed(field) for field in found), np.zeros(3)).tolist()}}


def same(old: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether two scene.json have the same wind, as far as `settings` tells."""
    was, one = old.get("wind", {}), now.get("wind", {})
    if was.keys() != one.keys():
        return False
    if "velocity" not in one:
        return True
    before, after = np.array(was["velocity"]), np.array(one["velocity"])
    return bool(np.abs(after - before).max() <= SAME * max(np.abs(after).max(), 1.0e-9))


class Wind:
    """That of an evaluation's scene. `sample` is to be called at every sample."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._fields = fields(evaluation.object, evaluation.scene)
        self._speeds: list[NDArray[np.float64]] = []

    @property
    def may_move(self) -> bool:
        """Whether it may blow otherwise at another frame."""
        return any(may_move(field) for field in self._fields)

    def sample(self) -> None:
        """Read it at the present sample."""
        speeds = [_speed(self._evaluation.evaluated(field)) for field in self._fields]
        self._speeds.append(sum(speeds, np.zeros(3)))

    def finish(self, job: JobFolder) -> dict[str, Any]:
        """Return the wind in scene.json; nothing where none blows."""
        if not self._fields:
            return {}
        if not self.may_move:
            return {"wind": {"velocity": self._speeds[0].tolist()}}
        return {"wind": {"motion": job.array("wind", np.array(self._speeds))}}


def _speed(one: bpy.types.Object) -> NDArray[np.float64]:
    """Return its velocity [m/s], (3,): along its local Z axis, with its Strength."""
    way = np.array(one.matrix_world, dtype=np.float64)[:3, 2]
    long = float(np.linalg.norm(way))
    return way * (one.field.strength / long) if long > 0.0 else np.zeros(3)
