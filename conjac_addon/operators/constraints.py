"""Tie soft bodies, cloth and ropes to other objects at a point, and untie them."""

import bpy
from mathutils import Vector

from ...solver import catalogue
from .. import by_button, handles, kinds, members
from ..redraw import redraw_panels
from .entries import AddEntry, RemoveEntry
from .light import Behaviour
from .setup import empty_beside, middle_of

#: replacements for solvers that linearise or reuse a factor, which cannot satisfy hard constraints
EXACT = {"integrator": "backward_euler", "stage_solver": "newton_visible"}
INSIDE = {"ball", "hinge", "on_curve"}  #: constraints inside both bodies
SIZE = 0.2  #: of the smaller object's largest side: how large the Empty is drawn, and how much around it is constrained


class CONJAC_OT_add_constraint(AddEntry, Behaviour):
    @by_button.noting("Add Constraint")
    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        others = [other for other in context.selected_objects if handles.can_hold(obj.conjac, other)]
        if len(others) != 1:
            self.report({"ERROR"}, f'Select the one object that "{obj.name}" is to be tied to, and "{obj.name}" last')
            return {"CANCELLED"}
        other = others[0]
        constraint = obj.conjac.constraints.add()
        constraint.kind, constraint.object, constraint.collide = self.kind, other, self.kind not in INSIDE
        sizes = [max(*each.dimensions) for each in (obj, other) if max(*each.dimensions) > 0.0] or [1.0]
        place = empty_beside(obj, "Tie", "SINGLE_ARROW" if self.kind == "hinge" else "SPHERE", SIZE * min(sizes))
        place.location = _between(obj, other)
        constraint.place, constraint.radius = place, SIZE * min(sizes)
        if members.is_mechanism(other) and other.type == members.ARMATURE:
            bone = context.active_pose_bone or next(iter(other.pose.bones), None)
            constraint.part = "" if bone is None else bone.name
        if members.is_soft_body(other):  # only objects in contact are baked together
            for each in (obj, other):
                if each.conjac.contact.collides_with == kinds.NOTHING:
                    each.conjac.contact.collides_with = kinds.ALL
        for each in (obj, other):  # either may lead the bake
            solver = each.conjac.solver
            if members.is_soft_body(each) and not catalogue.find("integrator", solver.integrator).able("iterates"):
                solver.integrator, solver.stage_solver = EXACT["integrator"], EXACT["stage_solver"]
        redraw_panels()
        return {"FINISHED"}


def _between(obj: bpy.types.Object, other: bpy.types.Object) -> Vector:
    """Return the middle between two boxes' nearest points, in the world, or the place of an Empty or a bone's
    object."""
    if not max(*other.dimensions) > 0.0:
        return other.matrix_world.translation.copy()
    nearest = []
    for end, toward in ((obj, middle_of(other)), (other, middle_of(obj))):
        low, high, local = end.bound_box[0], end.bound_box[6], end.matrix_world.inverted_safe() @ toward
        nearest.append(end.matrix_world @ Vector([min(max(local[k], low[k]), high[k]) for k in range(3)]))
    return (nearest[0] + nearest[1]) / 2.0


class CONJAC_OT_remove_constraint(RemoveEntry, Behaviour):
    entries = "constraints"
