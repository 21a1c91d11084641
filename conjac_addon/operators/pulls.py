"""Add and remove pulls."""

from collections.abc import Sequence

import bpy

from ..settings import unit_scale
from . import first_settings
from .entries import AddEntry, RemoveEntry
from .light import Behaviour
from .setup import empty_beside, middle_of


def add(obj: bpy.types.Object, scene: bpy.types.Scene, name: str, place: Sequence[float],
        radius: float) -> bpy.types.PropertyGroup:
    """Add a pull that its body follows, with its Empty, and return its settings.

    place: in the world, radius: both in Blender units.
    """
    empty = empty_beside(obj, name, "SPHERE", radius)
    empty.location = place
    pull = obj.conjac.pulls.add()
    pull.object, pull.radius = empty, radius
    pull.stiffness = first_settings.pull_stiffness(obj, radius * unit_scale(scene))
    return pull


class CONJAC_OT_add_pull(AddEntry, Behaviour):
    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        add(obj, context.scene, "Pull", middle_of(obj)[:], 0.25 * max(*obj.dimensions, 1.0e-3))
        return {"FINISHED"}


class CONJAC_OT_remove_pull(RemoveEntry, Behaviour):
    entries = "pulls"
