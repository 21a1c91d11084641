"""Shows the rigid bodies of a mechanism as wires, and its joints: axes that turn or slide, and how far they may."""

from __future__ import annotations

import bpy

from ...solver.errors import ConJacError
from .. import gather
from .. import settings as properties
from . import joint_lines, preview_objects
from .light import Behaviour
from .poll import active_mechanism, out_of_edit_mode, unless
from .setup import JOINTS, RIGID, previews, remove_preview


class CONJAC_OT_show_joints(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return out_of_edit_mode(cls, active_mechanism(cls, context)) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        try:
            mechanism, arrays = gather.mechanism_now(obj, context.scene)
        except ConJacError as error:
            error.object = error.object or obj.name
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        scale = properties.unit_scale(context.scene)
        bodies, joints = joint_lines.of_mechanism(mechanism, arrays)
        for label, kind, lines in (("Bodies", RIGID, bodies), ("Joints", JOINTS, joints)):
            if lines:
                preview_objects.show_lines(obj, label, kind, joint_lines.in_object(lines, obj.matrix_world, scale))
        return {"FINISHED"}


class CONJAC_OT_remove_joints_preview(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, active_mechanism(cls, context), lambda obj: not previews(obj, RIGID, JOINTS),
                      "Nothing of it is shown") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        remove_preview(context.object, RIGID, JOINTS)
        return {"FINISHED"}
