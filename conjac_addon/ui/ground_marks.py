"""Overlay of the ground: a plane with a grid below each bake that has one."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from numpy.typing import NDArray

from .. import changes, kinds, members

Array = NDArray[np.float32]

WIDE = 1.5  #: of the largest dimension of what falls on it: half of a side
CELLS = 8  #: of the grid along a side
LIFT = 1.0e-3  #: of a side: so far above the plane it is drawn, or Blender's own grid would flicker through
FACE, LINES = (0.25, 0.45, 0.75, 0.13), (0.35, 0.6, 0.95, 0.5)


class Ground(NamedTuple):
    """One plane. Not a dataclass, whose code is compiled at each start of Blender."""

    object: bpy.types.Object | None  #: whose origin and Z axis it is
    height: float  #: where there is none, in Blender units
    low: tuple[float, ...]  #: corners of the box of what falls on it
    high: tuple[float, ...]


#: cached grounds with their key: (changes, scene)
_found: tuple[tuple[int, int], list[Ground]] | None = None


def grounds(scene: bpy.types.Scene) -> list[Ground]:
    """Return all grounds of a scene, cached until something changes."""
    global _found
    at = changes.count(), scene.session_uid
    if _found is None or _found[0] != at:
        with members.at_one_moment():
            _found = at, list(_look_for(scene))
    return _found[1]


def _look_for(scene: bpy.types.Scene) -> list[Ground]:
    together: dict[bpy.types.Object, list[bpy.types.Object]] = {}
    for obj in scene.objects:
        if obj.conjac.kind in (kinds.SOFT_BODY, kinds.CLOTH, kinds.ROPE, kinds.MECHANISM) and obj.visible_get():
            together.setdefault(members.owner(obj), []).append(obj)
    found = []
    for owner, bodies in together.items():
        settings = owner.conjac
        if settings.use_ground:
            corners = np.concatenate([_corners(obj) for obj in bodies])
            found.append(Ground(settings.ground_object, settings.ground_height, tuple(corners.min(axis=0)),
                                tuple(corners.max(axis=0))))
    return found


def _corners(obj: bpy.types.Object) -> Array:
    """(8, 3) of its box, in world."""
    matrix = np.array(obj.matrix_world, np.float32)
    return np.array(obj.bound_box, np.float32) @ matrix[:3, :3].T + matrix[:3, 3]


def plane(ground: Ground) -> Array:
    """Return the corners of the drawn rectangle, (4, 3) in world space, in order around it."""
    low, high = np.array(ground.low, np.float32), np.array(ground.high, np.float32)
    middle, half = (low + high) / 2, WIDE * max(float((high - low).max()), 1.0e-3)
    axes, point = np.eye(3, dtype=np.float32), np.array([0.0, 0.0, ground.height], np.float32)
    if ground.object is not None:
        matrix = np.array(ground.object.matrix_world, np.float32)
        normal = np.cross(matrix[:3, 0], matrix[:3, 1])
        normal *= np.sign(normal @ matrix[:3, 2]) / max(float(np.linalg.norm(normal)), 1.0e-12)
        along = matrix[:3, 0] / max(float(np.linalg.norm(matrix[:3, 0])), 1.0e-12)
        axes, point = np.stack([along, np.cross(normal, along), normal]), matrix[:3, 3]
    below = middle - ((middle - point) @ axes[2] - LIFT * half) * axes[2]
    return np.array([below + half * (x * axes[0] + y * axes[1]) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))],
                    np.float32)


def lines(corners: Array) -> Array:
    """Ends of the lines of its grid, (4 (CELLS + 1), 3)."""
    share = np.linspace(0.0, 1.0, CELLS + 1, dtype=np.float32)[:, None]
    ends = []
    for a, b, c, d in ((0, 1, 3, 2), (0, 3, 1, 2)):
        ends.append(np.stack([corners[a] + share * (corners[b] - corners[a]),
                              corners[c] + share * (corners[d] - corners[c])], axis=1).reshape(-1, 3))
    return np.concatenate(ends)


def draw(context: bpy.types.Context) -> None:
    """Draw the grounds of all visible bakes."""
    found = grounds(context.scene)
    if not found:
        return
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("LESS_EQUAL")
    try:
        for obj in found:
            corners = plane(obj)
            parts: tuple[tuple[Any, Any, Any], ...] = (
                ("TRIS", corners[[0, 1, 2, 0, 2, 3]], FACE), ("LINES", lines(corners), LINES))
            for kind, where, colour in parts:
                shader.uniform_float("color", colour)
                batch_for_shader(shader, kind, {"pos": where}).draw(shader)
    finally:
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")


def forget() -> None:
    """Drop the cached data."""
    global _found
    _found = None
