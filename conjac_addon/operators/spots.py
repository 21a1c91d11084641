"""Add and remove groups of painted spots that move in a way of their own."""

import bpy

from ..redraw import redraw_panels
from .entries import RemoveEntry
from .light import Behaviour
from .painting import UNPAINTABLE, leave_other_modes, paint
from .poll import DynamicOnly, active_soft_body, unless, with_inside

NAME = "Spots"  #: of a new group, which Blender numbers


class CONJAC_OT_add_spots(DynamicOnly, Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, with_inside(cls, active_soft_body(cls, context)), *UNPAINTABLE) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        leave_other_modes(context, obj)
        group = obj.vertex_groups.new(name=NAME)
        obj.conjac.spots.add().group = group.name
        paint(obj, group)
        redraw_panels()
        return {"FINISHED"}


class CONJAC_OT_remove_spots(DynamicOnly, RemoveEntry, Behaviour):
    entries = "spots"
