"""Shows the rigid bodies of a mechanism as wires, and its joints: axes that turn or slide, and how far they may."""

from __future__ import annotations

import bpy

from ...solver.errors import ConJacError
from .. import gather
from .. import settings as properties
from . import joint_lines, previews
from .light import Behaviour
from .poll import active_mechanism, out_of_edit_mode, unless


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
        for kind, lines in ((previews.RIGID, bodies), (previews.JOINTS, joints)):
            if lines:
                previews.show_lines(obj, kind, joint_lines.in_object(lines, obj.matrix_world, scale))
        return {"FINISHED"}


class CONJAC_OT_remove_joints_preview(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        def hidden(obj: bpy.types.Object) -> bool:
            return not previews.is_shown(obj, previews.RIGID, previews.JOINTS)

        return unless(cls, active_mechanism(cls, context), hidden, "Nothing is shown for it") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        previews.remove(context.object, previews.RIGID, previews.JOINTS)
        return {"FINISHED"}
