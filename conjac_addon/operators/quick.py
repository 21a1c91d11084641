"""Object > Quick Effects: one click makes the selected objects fall, bend and land, whatever they were."""

from __future__ import annotations

from typing import Any

import bpy

from .. import compat, kinds, members
from ..gather import count_at_mark
from ..playback import simulate_after
from . import chosen, quick_start
from .light import Behaviour
from .poll import mesh_unless
from .remedies import GAP, box, unnoticed

#: faces that show how a body bends, and how cloth folds
BODY_FACES, CLOTH_FACES = 300, 900

#: so many times a mesh may be subdivided: a single face becomes 4096
MOST_LEVELS = 6

DETAIL = "ConJac Detail"  #: modifier that makes a mesh fine enough


def refine(obj: bpy.types.Object, least: int) -> str:
    """Subdivide the simulated mesh by a modifier if it has fewer faces than `least`. Returns a sentence about it. The
    mesh itself and its shape do not change: the subdivision is flat."""
    faces, levels = max(len(obj.data.polygons), 1), 0
    while faces * 4 ** levels < least and levels < MOST_LEVELS:
        levels += 1
    count = count_at_mark(obj)
    if not levels or count is None or count >= least:
        return ""
    modifier: Any = obj.modifiers.new(DETAIL, "SUBSURF")
    modifier.subdivision_type, modifier.levels, modifier.render_levels = "SIMPLE", levels, levels
    simulate_after.choose(obj, modifier)
    return f'"{obj.name}" is simulated with {levels} levels of "{DETAIL}": its own {count} vertices are too few to bend'


def is_placed_by_hand(obj: bpy.types.Object) -> bool:
    """Whether only its own location determines the position of an object, so that it may be lifted."""
    drivers: Any = [] if obj.animation_data is None else obj.animation_data.drivers
    curves: list[Any] = [*compat.fcurves(obj), *drivers]
    return (obj.parent is None and not obj.constraints and not any(obj.lock_location)
            and not any(curve.data_path == "location" for curve in curves))


def is_pinned(obj: bpy.types.Object) -> bool:
    """Whether it has a group of vertices that its own animation moves."""
    return obj.conjac.pin_group in obj.vertex_groups


def lift(obj: bpy.types.Object, scene: bpy.types.Scene, gap: float) -> None:
    """Lift an object until its lowest point is `gap` [Blender units] above the surface below it: the plane at height
    zero, or the highest mesh. An object that is higher is not moved."""
    low, high = box(obj)
    middle = (low + high) / 2
    tops = [0.0]
    for other in scene.objects:
        if other == obj or other.type != "MESH" or not other.visible_get():
            continue
        if other.conjac.kind not in (kinds.NONE, kinds.COLLIDER):
            continue
        bottom, top = box(other)
        if all(bottom[axis] <= middle[axis] <= top[axis] for axis in range(2)) and top.z <= middle.z + GAP:
            tops.append(top.z)
    rise = max(tops) + gap - low.z
    if rise > 0.0:
        obj.location.z += rise


class _Quick(Behaviour):
    """Base of the quick effects. `add` is the operator that makes the body, `faces` how many of them show how it bends.
    """

    add, faces = "", 0

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return mesh_unless(cls, context, (members.is_soft_body, "The active object is simulated already: press Bake"),
                           (lambda obj: obj.mode != "OBJECT", "Go to Object Mode first"))

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene, done = context.scene, []
        objects = [obj for obj in chosen.meshes(context) if not members.is_soft_body(obj)]
        for obj in objects:
            if self.subdivide and (refined := refine(obj, self.faces)):
                done.append(refined)
            if self.hangs_by > 0.0 and not is_pinned(obj):
                quick_start.hang(obj, self.hangs_by)
            if self.falls_from > 0.0 and not self.poked and is_placed_by_hand(obj) and not is_pinned(obj):
                lift(obj, scene, self.falls_from * max(*obj.dimensions))
        context.view_layer.update()
        getattr(bpy.ops.conjac, self.add)()
        for obj in objects if self.poked else ():
            quick_start.poke(obj, scene, self.poked)
        if self.colliders:
            for obj in objects:
                while unnoticed(obj, scene):
                    floor = unnoticed(obj, scene)[0]
                    floor.conjac.kind = kinds.COLLIDER
                    done.append(f'"{floor.name}" below it is a collider')
        self.report({"INFO"}, ". ".join([*done, "Press Bake, and it plays"]))
        return {"FINISHED"}


class CONJAC_OT_quick_jelly(_Quick):
    add, faces = "add_soft_body", BODY_FACES


class CONJAC_OT_quick_cloth(_Quick):
    add, faces = "add_cloth", CLOTH_FACES
