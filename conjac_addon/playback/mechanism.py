"""Baked poses of rigid bodies on the artist's armature or objects, as keyframes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Euler
from numpy.typing import NDArray

from ...solver.errors import BadInput
from ...solver.job.arrays import Unreadable, read_npy
from ..affine import inverse
from . import action, effort

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Places:
    """Places of the bodies of a mechanism, frame by frame."""

    first: int
    last: int
    names: tuple[str, ...]
    read: Callable[[int], Array]  #: frame → (b, 4, 4), own frames in world [m]

    def all(self) -> Array:
        """(frames, b, 4, 4)."""
        return np.array([self.read(frame) for frame in range(self.first, self.last + 1)], dtype=np.float64)


def show(owner: bpy.types.Object, places: Places, arrays: Path, start: int, scale: float) -> None:
    """Play them. arrays: the job's folder of arrays, made at frame `start`; scale: metres per Blender unit.

    Raises BadInput where bones or objects have gone or the arrays cannot be read.
    """
    for obj in moved_by(owner):
        effort.hide(obj)
    settings = owner.conjac.mechanism
    tolerance = settings.tolerance if settings.use_decimation else 0.0
    if owner.type == "ARMATURE":
        tracks = bone_tracks(owner, places, read_arrays(arrays, owner.name), start, scale)
        if tracks:
            action.show(owner, places.first, tracks, tolerance)
        else:
            action.hide(owner)  # all bones go on playing their own animation
        return
    world = places.all()
    for k, name in enumerate(places.names):
        obj = bpy.data.objects.get(name)
        if obj is None:
            raise BadInput(f'the object "{name}" of the bake is missing or was renamed', "Bake again", owner.name)
        if np.ptp(world[:, k], axis=0).max() <= 1.0e-9 and not action.is_simulated(obj):
            action.hide(obj)
            continue
        basis = world[:, k].copy()
        basis[:, :3, 3] /= scale
        # bodies are never mirrored; objects that are have a turn that their negative scale makes this one
        x, y, z = np.sign(np.array(obj.scale) * np.array(obj.delta_scale))
        basis[:, :3, :3] *= [y * z, z * x, x * y]
        # Blender adds the delta transformation to the channels that get keyframes
        basis[:, :3, :3] = _delta_rotation(obj).T @ basis[:, :3, :3]
        basis[:, :3, 3] -= np.array(obj.delta_location)
        action.show(obj, places.first, [action.Track("", basis)], tolerance)


def _delta_rotation(obj: bpy.types.Object) -> Array:
    """Return the delta rotation (3, 3), which is applied before the object's own rotation."""
    if obj.rotation_mode == "AXIS_ANGLE":
        return np.eye(3)  # scripts and panels of Blender have no delta for it
    if obj.rotation_mode == "QUATERNION":
        return np.array(obj.delta_rotation_quaternion.normalized().to_matrix(), dtype=np.float64)
    # its own order is not read: it is the one of the rotation mode
    turned = Euler(tuple(obj.delta_rotation_euler[:]), obj.rotation_mode)
    return np.array(turned.to_matrix(), dtype=np.float64)


def hide(owner: bpy.types.Object) -> None:
    """Remove the keyframes of a bake and the graphs of its motors."""
    for obj in playing(owner):
        action.hide(obj)
    for obj in moved_by(owner):
        effort.hide(obj)


def playing(owner: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the objects that play keyframes of this mechanism's bake."""
    return [obj for obj in moved_by(owner) if action.ours(obj) is not None]


def moved_by(owner: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the objects that a bake of this mechanism may give keyframes: itself, and those of its collection."""
    collection = owner.conjac.mechanism.collection
    return [owner, *(collection.all_objects if collection is not None else ())]


def bone_tracks(armature: bpy.types.Object, places: Places, read: dict[str, NDArray[Any]], start: int,
                scale: float) -> list[action.Track]:
    """Return the tracks of the bones' own channels. read: from `read_arrays`. Raises BadInput."""
    world = places.all()
    spaces = read["spaces"][places.first - start:places.last - start + 1]
    if len(spaces) != len(world) or not len(read["offsets"]) == world.shape[1] == len(places.names):
        raise BadInput("its bake was made of other frames or bones than the job folder has", "Bake again",
                       armature.name)
    world = world @ inverse(read["offsets"])
    world[..., :3, 3] /= scale
    world[..., :3, :3] *= read["scales"][:, None, :]
    to_armature = inverse(spaces[:, 0])
    above = {places.names[k]: spaces[:, 1 + t] for t, k in enumerate(read["tops"].tolist())}
    poses: dict[str, Array] = {}
    for k, name in enumerate(places.names):
        if name not in armature.pose.bones:
            raise BadInput(f'the bone "{name}" of the bake is missing or was renamed', "Bake again", armature.name)
        poses[name] = to_armature @ world[:, k]
    tracks = []
    for name, pose in poses.items():
        bone = armature.pose.bones[name]
        if bone.parent is not None and name not in above and bone.parent.name not in poses:
            raise BadInput(f'the bone "{name}" has another parent than when it was baked', "Bake again",
                           armature.name)
        if _has_own_keyframes(bone):
            continue
        parent_pose = above[name] if name in above else poses[bone.parent.name] if bone.parent is not None else None
        tracks.append(action.Track(name, action.local(bone, pose, parent_pose)))
    return tracks


def _has_own_keyframes(bone: bpy.types.PoseBone) -> bool:
    """Whether an animated bone keeps its own animation, as no simulated bone moves it."""
    settings = bone.conjac
    return settings.role == "animated" and not any(
        above.conjac.role == "simulated" for above in bone.parent_recursive)


def read_arrays(folder: Path, armature: str) -> dict[str, NDArray[Any]]:
    """Return the arrays that gathering wrote for playback, see `gather.armature.Playback`. Raises BadInput if they are
    missing."""
    try:
        found = {name: read_npy(folder / f"mechanism_{name}.npy", folder.parent)
                 for name in ("spaces", "tops", "offsets", "scales")}
    except (OSError, Unreadable) as error:
        raise BadInput(f"{folder} lacks files that are needed to play the bake", "Bake again", armature) from error
    spaces, tops, offsets, scales = found.values()
    bodies = offsets.size // 16
    fits = (tops.ndim == 1 and tops.dtype.kind == "i" and spaces.shape[1:] == (1 + len(tops), 4, 4)
            and offsets.shape == (bodies, 4, 4) and scales.shape == (bodies, 3)
            and all(array.dtype.kind == "f" and np.isfinite(array).all() for array in (spaces, offsets, scales))
            and ((tops >= 0) & (tops < bodies)).all())
    # nothing else can be taken back to the bones
    if not fits or not np.linalg.det(offsets).all() or not np.linalg.det(spaces[:, 0]).all():
        raise BadInput(f"{folder} does not contain what is needed to play the bake", "Bake again", armature)
    return found
