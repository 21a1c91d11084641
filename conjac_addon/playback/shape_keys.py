"""Absolute shape keys, one a frame, with keyframes on the evaluation time: the bake lives inside the .blend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np

from ...solver.errors import BadMesh
from .. import compat
from . import modifier
from .frames import Frames

#: custom properties by which our own shape keys are known: names of the modifiers that they replace, where those show,
#: and what Blender knows them by, whatever they are called. On a library override it keeps only the names
IN_VIEWPORT, IN_RENDER = "conjac_replaces", "conjac_replaces_in_renders"
IDENTIFIERS = "_uids"


class ShapeKeys:
    """Absolute shape keys; they need no file and no modifier."""

    suffix = ""

    def show(self, obj: bpy.types.Object, scene: bpy.types.Scene, frames: Frames, path: Path | None = None) -> None:
        """Convert the frames to shape keys. Raises BadMesh with the obstacle."""
        self._check(obj, frames.vertices)
        self.hide(obj)
        # what deforms above the mark is in the frames already
        above = list(obj.modifiers)[:modifier.place(obj)]
        modifier.remove(obj)

        obj.shape_key_add(name="Basis", from_mix=False)
        keys = obj.data.shape_keys
        keys.use_relative = False
        _remember(keys, IN_VIEWPORT, [m for m in above if m.show_viewport])
        _remember(keys, IN_RENDER, [m for m in above if m.show_render])
        for frame in range(frames.first, frames.last + 1):
            block = obj.shape_key_add(name=f"Frame {frame}", from_mix=False)
            block.interpolation = "KEY_LINEAR"
            block.data.foreach_set("co", np.ascontiguousarray(frames.read(frame), np.float32).ravel())
        _keyframe(keys, frames)
        for m in above:
            m.show_viewport = m.show_render = False

    def _check(self, obj: bpy.types.Object, vertices: int) -> None:
        mesh = obj.data
        if mesh.users > 1:
            raise BadMesh("its mesh is shared with other objects, which would get the same shape keys",
                          "Make it a single user or choose PC2 or Alembic", obj.name)
        if not mesh.is_editable:
            raise BadMesh("its mesh is linked from another file, so shape keys cannot be added to it",
                          "Make the mesh local too, or choose PC2 or Alembic", obj.name)
        if mesh.shape_keys is not None and not is_ours(obj):
            raise BadMesh("it has shape keys of its own, which absolute ones would replace",
                          "Choose PC2 or Alembic", obj.name)
        if obj.parent is not None and obj.parent_type == "ARMATURE":
            raise BadMesh(f'its parent "{obj.parent.name}" deforms it, which would deform the shape keys a second time',
                          "Use an Armature modifier, or choose PC2 or Alembic", obj.name)
        if len(mesh.vertices) != vertices:
            raise BadMesh(f"its mesh has {len(mesh.vertices)} vertices and the bake has {vertices}, "
                          "as modifiers above the bake change the count",
                          "Apply those modifiers or choose PC2 or Alembic", obj.name)

    def hide(self, obj: bpy.types.Object) -> None:
        """Remove the extension's shape keys and enable what they replaced."""
        if not is_ours(obj):
            return
        if sum(other.data == obj.data for other in bpy.data.objects) > 1:
            obj.data = obj.data.copy()  # linked duplicates go on playing
        keys = obj.data.shape_keys
        action = keys.animation_data.action if keys.animation_data else None
        for m in _replaced(obj, IN_VIEWPORT):
            m.show_viewport = True
        for m in _replaced(obj, IN_RENDER):
            m.show_render = True
        obj.shape_key_clear()
        if action is not None and action.users == 0:
            bpy.data.actions.remove(action)


def is_ours(obj: bpy.types.Object) -> bool:
    """Whether the object's shape keys are a bake of ours."""
    keys = obj.data.shape_keys
    return keys is not None and IN_VIEWPORT in keys


@contextmanager
def set_aside(obj: bpy.types.Object) -> Iterator[None]:
    """Context in which the object has the artist's own shape and modifiers while baked shape keys play."""
    if not is_ours(obj):
        yield
        return
    replaced = [m.name for m in _replaced(obj, IN_VIEWPORT) if not m.show_viewport]
    pinned, active = obj.show_only_shape_key, obj.active_shape_key_index
    for name in replaced:
        obj.modifiers[name].show_viewport = True
    obj.show_only_shape_key, obj.active_shape_key_index = True, 0  # the basis
    try:
        yield
    finally:
        obj.show_only_shape_key, obj.active_shape_key_index = pinned, active
        # by name: the artist may have removed or added modifiers meanwhile
        for name in replaced:
            if name in obj.modifiers:
                obj.modifiers[name].show_viewport = False


def _remember(keys: bpy.types.Key, where: str, modifiers: list[bpy.types.Modifier]) -> None:
    keys[where] = [m.name for m in modifiers]
    keys[where + IDENTIFIERS] = [m.persistent_uid for m in modifiers]


def _replaced(obj: bpy.types.Object, where: str) -> list[bpy.types.Modifier]:
    """Return the modifiers that the shape keys replace, by their present names."""
    keys = obj.data.shape_keys
    uids = set(keys.get(where + IDENTIFIERS, ()))
    found = [m for m in obj.modifiers if m.persistent_uid in uids]
    return found or [m for m in obj.modifiers if m.name in keys[where]]


def _keyframe(keys: bpy.types.Key, frames: Frames) -> None:
    """Key the evaluation time so that frame k shows the k-th key exactly.

    A key at every frame and not only at both ends: Blender sums up the keys' places in float32, and they drift.
    """
    keys.eval_time = keys.key_blocks[1].frame
    keys.keyframe_insert("eval_time", frame=frames.first)
    curve = next(c for c in compat.fcurves(keys) if c.data_path == "eval_time")
    curve.keyframe_points.add(len(frames) - 1)
    points = np.empty((len(frames), 2), np.float32)
    points[:, 0] = np.arange(frames.first, frames.last + 1)
    points[:, 1] = [block.frame for block in keys.key_blocks[1:]]
    curve.keyframe_points.foreach_set("co", points.ravel())
    for point in curve.keyframe_points:
        point.interpolation = "LINEAR"
    curve.update()
