"""Operators that weld soft bodies and cloth to each other, and remove welds."""

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from .. import by_button, kinds, members
from ..redraw import redraw_panels
from . import first_settings
from .entries import AddEntry, RemoveEntry
from .light import Behaviour

#: of the gap between two bodies: how far a new weld reaches. And of the size of the first one, at least
REACH, LEAST = 1.5, 0.02


class CONJAC_OT_add_weld(AddEntry, Behaviour):
    @by_button.noting("Add Weld")
    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        others = [other for other in context.selected_objects if other != obj and members.is_soft_body(other)]
        if not others:
            self.report({"ERROR"}, f'Also select the soft bodies or cloth that "{obj.name}" sticks to')
            return {"CANCELLED"}
        for other in others:
            weld = obj.conjac.welds.add()
            weld.object = other
            between = gap(obj, other, context.evaluated_depsgraph_get())
            weld.distance = max(REACH * between, LEAST * max(*obj.dimensions))
            weld.stiffness = first_settings.weld_stiffness(obj, context.scene)
            for body in (obj, other):  # only objects in contact are baked together
                if body.conjac.contact.collides_with == kinds.NOTHING:
                    body.conjac.contact.collides_with = kinds.ALL
        redraw_panels()
        return {"FINISHED"}


def gap(obj: bpy.types.Object, other: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> float:
    """Return the least distance of a vertex of an object from the faces of another one [Blender units], as both are
    shown; 0 where one has none."""
    mesh = obj.evaluated_get(depsgraph).data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    to_other = np.array(other.matrix_world.inverted_safe() @ obj.matrix_world)
    local = flat.reshape(-1, 3) @ to_other[:3, :3].T + to_other[:3, 3]
    tree, to_world = BVHTree.FromObject(other, depsgraph), other.matrix_world
    least = np.inf
    for point in local.tolist():
        found = tree.find_nearest(point)[0]
        if found is not None:
            least = min(least, (to_world @ found - to_world @ type(found)(point)).length)
    return float(least) if np.isfinite(least) else 0.0


class CONJAC_OT_remove_weld(RemoveEntry, Behaviour):
    entries = "welds"
