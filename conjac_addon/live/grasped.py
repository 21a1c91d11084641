"""Which rigid body of a mechanism an artist's hand is on."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray


def rigid_at(owner: bpy.types.Object, obj: bpy.types.Object, names: list[str], place: NDArray[np.float64]) -> int:
    """Return the number of the rigid body of an object at a place in world [Blender units]; -1 for none. For an
    armature it is the bone that moves the mesh there."""
    if owner.type != "ARMATURE":
        return names.index(obj.name) if obj.name in names else -1
    if obj.parent == owner and obj.parent_type == "BONE":
        return names.index(obj.parent_bone) if obj.parent_bone in names else -1
    if obj != owner and not any(modifier.type == "ARMATURE" and modifier.object == owner for modifier in obj.modifiers):
        return -1
    world, best, found = np.array(owner.matrix_world), np.inf, -1
    for number, name in enumerate(names):
        if name not in owner.pose.bones:
            continue
        bone = owner.pose.bones[name]
        head, tail = (world[:3, :3] @ np.array(end) + world[:3, 3] for end in (bone.head, bone.tail))
        along = tail - head
        share = np.clip((place - head) @ along / max(float(along @ along), 1e-30), 0.0, 1.0)
        away = float(np.linalg.norm(place - head - share * along))
        if away < best:
            best, found = away, number
    return found
