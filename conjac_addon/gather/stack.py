"""Where ConJac stands in an object's modifier stack.

What stands above the mark is the simulation's input at each frame, what stands below is applied to its result.
The mark is the cache modifier, called "ConJac"; before the first bake it is the place where that one will be put.
"""

from __future__ import annotations

import bpy

MARK = "ConJac"  #: name of the cache modifier
MARK_TYPES = frozenset({"MESH_CACHE", "MESH_SEQUENCE_CACHE"})

#: modifiers that move vertices and keep their number
DEFORMING = frozenset({
    "ARMATURE", "CAST", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM", "LATTICE", "MESH_CACHE", "MESH_DEFORM",
    "MESH_SEQUENCE_CACHE", "SHRINKWRAP", "SIMPLE_DEFORM", "SURFACE_DEFORM", "VOLUME_DISPLACE", "WARP", "WAVE",
    "CLOTH", "SOFT_BODY",
})

#: these move vertices too, but they often finish a shape: above the mark only right after a deforming one
SMOOTHING = frozenset({"CORRECTIVE_SMOOTH", "LAPLACIANSMOOTH", "SMOOTH"})

#: modifiers that neither move vertices nor change their number
PASSIVE = frozenset({
    "COLLISION", "DATA_TRANSFER", "NORMAL_EDIT", "PARTICLE_SYSTEM", "SURFACE", "UV_PROJECT", "UV_WARP",
    "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "WEIGHTED_NORMAL",
})


def marker(obj: bpy.types.Object) -> bpy.types.Modifier | None:
    """ConJac's cache modifier, None before the first bake."""
    modifier = obj.modifiers.get(MARK)
    return modifier if modifier is not None and modifier.type in MARK_TYPES else None


def mark_index(obj: bpy.types.Object) -> int:
    """Index of the cache modifier, or the one it will get: just after the last deforming modifier."""
    types = [modifier.type for modifier in obj.modifiers]
    if marker(obj) is not None:
        return obj.modifiers.find(MARK)
    index = max((i + 1 for i, kind in enumerate(types) if kind in DEFORMING), default=0)
    # a corrective smooth belongs to the armature above it, a smooth behind a subdivision to the finish
    while index and index < len(types) and types[index] in SMOOTHING:
        index += 1
    return index


def above(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The modifiers whose result the simulation takes in."""
    return list(obj.modifiers)[:mark_index(obj)]


def from_mark_on(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """ConJac's own modifier and all that are applied to its result."""
    return list(obj.modifiers)[mark_index(obj):]


def may_change_count(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier of this type can change the number of vertices."""
    return modifier.type not in DEFORMING | SMOOTHING | PASSIVE


def renders_differently(modifier: bpy.types.Modifier) -> bool:
    """Whether it can give other vertices in a render than in the viewport."""
    if not may_change_count(modifier):
        return False
    if modifier.show_viewport != modifier.show_render:
        return True
    return modifier.show_render and hasattr(modifier, "render_levels") and modifier.levels != modifier.render_levels
