"""Springs of a mechanism: the parts that they connect, and their ends at the start of the bake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from .. import part_identity
from .. import settings as properties
from ..declared import SPRING
from . import fields

Array = NDArray[np.float64]


def spring_settings(owner: bpy.types.Object, bodies: set[str], scene: bpy.types.Scene) -> list[dict[str, Any]]:
    """Return the springs in scene.json, as far as they follow from settings alone. Raises BadInput where an end is no
    body."""
    now_called = part_identity.renamed(owner)
    return [_spring_entry(owner, spring, (now_called(spring.first), now_called(spring.second)), bodies, scene)
            for spring in owner.conjac.mechanism.springs]


def _spring_entry(owner: bpy.types.Object, spring: bpy.types.PropertyGroup, ends: tuple[str, str], bodies: set[str],
                  scene: bpy.types.Scene) -> dict[str, Any]:
    """Return one spring of scene.json. Raises BadInput where an end is no body."""
    part = "bone" if owner.type == "ARMATURE" else "object"
    if not spring.first:
        raise BadInput(f"one of its springs has no first {part}", "Choose one under Springs, or remove the spring",
                       owner.name)
    first, second = ends
    for name in ends:
        if name and name not in bodies:
            raise BadInput(f'its spring "{spring.name}" ends in "{name}", which is no simulated {part} of it',
                           "Choose another one under Springs, or simulate that one", owner.name)
    if first == second:
        raise BadInput(f'both ends of its spring "{spring.name}" are in "{first}"',
                       f"Choose another {part} for one of them under Springs", owner.name)
    return fields.gathered(SPRING, owner, scene, item=spring, plan=ends)


def ends(owner: bpy.types.Object, middles: Mapping[str, Array], scene: bpy.types.Scene) -> list[tuple[Array, Array]]:
    """Return the ends of each spring in world [m]. middles: name → the origin of its points, (4, 4) [m]."""
    scale = properties.unit_scale(scene)

    def point(name: str, at: bpy.types.bpy_prop_array) -> Array:
        local = scale * np.array(at, dtype=np.float64)
        return middles[name][:3, :3] @ local + middles[name][:3, 3] if name else local

    return [(point(spring.first, spring.first_point), point(spring.second, spring.second_point))
            for spring in owner.conjac.mechanism.springs]
