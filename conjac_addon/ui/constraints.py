"""The section of constraints of a body's points."""

import bpy

from ...solver import catalogue
from .. import members


def draw(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw each constraint of the body: other object, location, stiffness and end."""
    for index, one in enumerate(context.object.conjac.constraints):
        column = layout.column(align=True)
        row = column.row(align=True)
        row.prop(one, "kind", text="")
        row.operator("conjac.remove_constraint", text="", icon="REMOVE").index = index
        row = column.row(align=True)
        row.alert = one.object is None
        row.prop(one, "object", text="")
        if one.object is not None and members.is_mechanism(one.object):
            if one.object.type == members.ARMATURE:
                column.prop_search(one, "part", one.object.pose, "bones", text="")
            else:
                column.prop(one, "part", text="")
        row = column.row(align=True)
        row.alert = one.place is None
        row.prop(one, "place")
        column.prop(one, "radius")
        row = column.row(align=True)
        row.prop(one, "hold", expand=True)
        if one.hold == "soft":
            column.prop(one, "stiffness")
        column.prop(one, "strength", slider=True)
        entry = catalogue.menu("constraint").get(one.kind)
        if entry is not None:
            if "length" in entry.reads:
                column.prop(one, "length")
            for param in entry.params:
                column.prop(one, param.key)
        column.prop(one, "collide")
        row = column.row(align=True)
        row.prop(one, "is_released")
        end = row.row(align=True)
        end.active = one.is_released
        end.prop(one, "until")
    layout.operator_menu_enum("conjac.add_constraint", "kind", icon="CONSTRAINT")
