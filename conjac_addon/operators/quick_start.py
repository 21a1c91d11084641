"""Initial motion of quick effects: a body hangs by its top, or a poke makes it swing."""

from __future__ import annotations

import bpy
import numpy as np

from .. import timeline
from . import pulls
from .remedies import box

POKE_SECONDS = 0.15  #: how long a poke pushes
POKED = 0.25  #: radius of what is poked, of the body's size


def hang(obj: bpy.types.Object, share: float) -> None:
    """Pin an object's vertices in this share of its height, from the top down, with at least the highest ones.

    A mesh may be too coarse to have vertices there, and a modifier that refines it interpolates weights. So weights
    fall linearly with height and are a half at the border, where hard pins end.
    """
    place = np.array(obj.matrix_world)
    flat = np.empty(3 * len(obj.data.vertices), np.float32)
    obj.data.vertices.foreach_get("co", flat)
    height = flat.reshape(-1, 3) @ place[2, :3]
    below = (height.max() - height) / max(float(np.ptp(height)), 1.0e-9)
    group = obj.vertex_groups.new(name=obj.conjac.pin_group)
    for vertex, weight in enumerate(0.5 + 0.5 * (share - below) / max(share, 1.0 - share)):
        group.add([vertex], float(weight), "REPLACE")
    obj.conjac.soft_pins = False


def poke(obj: bpy.types.Object, scene: bpy.types.Scene, way: float) -> None:
    """Push the top of a soft body aside as the bake begins, and let it go. way: how far, of its size."""
    low, high = box(obj)
    size, middle = max(*obj.dimensions, 1.0e-3), (low + high) / 2
    pull = pulls.add(obj, scene, "Poke", (middle.x, middle.y, high.z), POKED * size)
    first, _ = timeline.frame_range(obj.conjac, scene)
    last = first + max(2, round(POKE_SECONDS * scene.render.fps / scene.render.fps_base))
    for frame, moved in ((first, 0.0), (last, way * size)):
        pull.object.location.x = middle.x + moved
        pull.object.keyframe_insert("location", frame=frame)
    for frame, strength in ((last, 1.0), (last + 1, 0.0)):
        pull.strength = strength
        pull.keyframe_insert("strength", frame=frame)
