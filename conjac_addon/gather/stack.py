"""An object's modifier stack around ConJac's mark, which is the cache modifier or its future position. Modifiers above
the mark make the simulation's input at each frame, those below are applied to its result."""

from __future__ import annotations

import bpy

from ..playback.modifier import place
from ..playback.simulate_after import CORRECTIONS, RIGS

#: modifiers that neither move vertices nor change their number
PASSIVE = frozenset({
    "COLLISION", "DATA_TRANSFER", "NORMAL_EDIT", "PARTICLE_SYSTEM", "SURFACE", "UV_PROJECT", "UV_WARP",
    "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "WEIGHTED_NORMAL",
})

#: what may change weights and attributes from one frame to the next
REWEIGH = frozenset({"NODES", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "DATA_TRANSFER"})


def above(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """Return the modifiers whose result is the input of the simulation."""
    return list(obj.modifiers)[:place(obj)]


def from_mark_on(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """ConJac's own modifier and all that are applied to its result."""
    return list(obj.modifiers)[place(obj):]


def may_change_count(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier of this type can change the number of vertices."""
    return modifier.type not in RIGS | CORRECTIONS | PASSIVE


def count_at_mark(obj: bpy.types.Object) -> int | None:
    """Return the number of vertices in the simulation's input; None if that requires an evaluation."""
    if not any(may_change_count(modifier) for modifier in above(obj)):
        return len(obj.data.vertices)
    # as Blender shows it, where a PC2 file plays, if any, and nothing below makes others
    if any(may_change_count(modifier) or modifier.type == "MESH_SEQUENCE_CACHE" for modifier in from_mark_on(obj)):
        return None
    shown = obj.evaluated_get(bpy.context.view_layer.depsgraph)
    return len(shown.data.vertices) if shown.is_evaluated and obj.visible_get() and obj.mode != "EDIT" else None


def renders_differently(modifier: bpy.types.Modifier) -> bool:
    """Whether it can give other vertices in a render than in the viewport."""
    if not may_change_count(modifier):
        return False
    if modifier.show_viewport != modifier.show_render:
        return True
    return modifier.show_render and hasattr(modifier, "render_levels") and modifier.levels != modifier.render_levels
