"""Live rigid bodies of a mechanism: bones and objects are moved themselves, and restored.

A property of the object stores the original transforms, so that live poses that Blender keeps, in undo or in an
auto-saved file, are restored as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...solver.errors import BadInput
from .. import settings
from ..gather import turns
from ..kinds import POSE
from ..playback import mechanism
from ..playback.mechanism import Places

CHANNELS = (("location", 3), ("rotation_euler", 3), ("rotation_quaternion", 4), ("rotation_axis_angle", 4),
            ("scale", 3))

Array = NDArray[np.float64]
Posable = bpy.types.Object | bpy.types.PoseBone


class Posed:
    """The bones or objects of one mechanism."""

    def __init__(self, owner: bpy.types.Object, names: list[str], arrays: Path, start: int) -> None:
        """names: of its rigid bodies. arrays: the job's folder of them; start: its frame. Raises BadInput."""
        self._names, self._start = names, start
        self._read = mechanism.read_arrays(arrays, owner.name) if owner.type == "ARMATURE" else {}

    def objects(self, owner: bpy.types.Object) -> list[bpy.types.Object | None]:
        """Return the object of each rigid body, the armature for bones; None for a missing one."""
        if owner.type == "ARMATURE":
            return [owner for _ in self._names]
        return [bpy.data.objects.get(name) for name in self._names]

    def show(self, owner: bpy.types.Object, scene: bpy.types.Scene, poses: Array) -> None:
        """Move them there. poses: own frames in world [m], (b, 4, 4). Raises BadInput where some have gone."""
        unit = settings.unit_scale(scene)
        if owner.type == "ARMATURE":
            self._show_bones(owner, poses, unit)
            return
        for name, obj, pose in zip(self._names, self.objects(owner), poses):
            if obj is None:
                raise BadInput(f'its rigid body "{name}" is missing or was renamed', "Press Play Live again",
                               owner.name)
            if obj.rigid_body is not None and obj.rigid_body.type == "ACTIVE" and not obj.rigid_body.kinematic:
                remember(obj)
                now = np.array(obj.matrix_world, dtype=np.float64)
                sized = turns.split(now)[0].T @ now[:3, :3]
                world = np.eye(4)
                world[:3, :3], world[:3, 3] = pose[:3, :3] @ sized, pose[:3, 3] / unit
                obj.matrix_world = Matrix(world.tolist())

    def _show_bones(self, owner: bpy.types.Object, poses: Array, unit: float) -> None:
        read = dict(self._read)
        read["spaces"] = read["spaces"][:1].copy()
        read["spaces"][0, 0] = np.array(owner.matrix_world, dtype=np.float64)
        places = Places(self._start, self._start, tuple(self._names), lambda _: poses)
        remember(owner)
        for track in mechanism.bone_tracks(owner, places, read, self._start, unit):
            owner.pose.bones[track.bone].matrix_basis = Matrix(track.basis[0].tolist())


def _posable(obj: bpy.types.Object) -> Iterator[tuple[str, Posable]]:
    if obj.type == "ARMATURE":
        yield from ((bone.name, bone) for bone in obj.pose.bones)
    else:
        yield "", obj


def remember(obj: bpy.types.Object) -> None:
    """Write where it is into its property, once."""
    if obj.get(POSE) is None:
        obj[POSE] = {name or "object": [value for channel, _ in CHANNELS for value in getattr(posed, channel)]
                    for name, posed in _posable(obj)}


def put_back(obj: bpy.types.Object) -> None:
    """Put it back where it was."""
    known: Any = obj.get(POSE)
    if known is None:
        return
    for name, posed in _posable(obj):
        values = known.get(name or "object")
        if values is None:
            continue
        first = 0
        for channel, count in CHANNELS:
            setattr(posed, channel, list(values[first:first + count]))
            first += count
    del obj[POSE]


def put_all_back(but: set[int] | frozenset[int] = frozenset()) -> None:
    """Restore all live objects. but: session_uids of those that remain live."""
    for obj in bpy.data.objects:
        if obj.session_uid not in but and obj.is_editable and obj.get(POSE) is not None:
            put_back(obj)
