"""The section of constraints of a body's points."""

import bpy

from ...solver import catalogue
from .. import members


def draw(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw each constraint of the body: other object, location, stiffness and end."""
    for index, constraint in enumerate(context.object.conjac.constraints):
        column = layout.column(align=True)
        row = column.row(align=True)
        row.prop(constraint, "kind", text="")
        row.operator("conjac.remove_constraint", text="", icon="REMOVE").index = index
        row = column.row(align=True)
        row.alert = constraint.object is None
        row.prop(constraint, "object", text="")
        if constraint.object is not None and members.is_mechanism(constraint.object):
            if constraint.object.type == members.ARMATURE:
                column.prop_search(constraint, "part", constraint.object.pose, "bones", text="")
            else:
                column.prop(constraint, "part", text="")
        row = column.row(align=True)
        row.alert = constraint.place is None
        row.prop(constraint, "place")
        column.prop(constraint, "radius")
        row = column.row(align=True)
        row.prop(constraint, "hold", expand=True)
        if constraint.hold == "soft":
            column.prop(constraint, "stiffness")
        column.prop(constraint, "strength", slider=True)
        entry = catalogue.menu("constraint").get(constraint.kind)
        if entry is not None:
            if "length" in entry.reads:
                column.prop(constraint, "length")
            for param in entry.params:
                column.prop(constraint, param.key)
        column.prop(constraint, "collide")
        row = column.row(align=True)
        row.prop(constraint, "is_released")
        end = row.row(align=True)
        end.active = constraint.is_released
        end.prop(constraint, "until")
    layout.operator_menu_enum("conjac.add_constraint", "kind", icon="CONSTRAINT")
