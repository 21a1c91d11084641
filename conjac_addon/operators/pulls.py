"""Add and remove pulls."""

import bpy

from ..settings import unit_scale
from . import first_settings
from .entries import AddEntry, RemoveEntry
from .light import Behaviour
from .setup import empty_beside, middle_of


class CONJAC_OT_add_pull(AddEntry, Behaviour):
    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        size = max(*obj.dimensions, 1.0e-3)
        empty = empty_beside(obj, "Pull", "SPHERE", 0.25 * size)
        empty.location = middle_of(obj)
        pull = obj.conjac.pulls.add()
        pull.object, pull.radius = empty, 0.25 * size
        pull.stiffness = first_settings.pull_stiffness(obj, pull.radius * unit_scale(context.scene))
        return {"FINISHED"}


class CONJAC_OT_remove_pull(RemoveEntry, Behaviour):
    entries = "pulls"
