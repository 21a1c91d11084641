"""Contact forces on a soft body at the present frame, as attributes of its mesh."""

from __future__ import annotations

import bpy

from ...solver.errors import ConJacError
from .. import members, timeline
from ..bake import pushed_frames
from .light import Behaviour
from .poll import active_soft_body, in_object_mode, unless


class CONJAC_OT_contact_attributes(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = in_object_mode(cls, active_soft_body(cls, context))
        return unless(cls, obj, lambda one: not members.collides(one), "It collides with nothing") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj, scene = context.object, context.scene
        try:
            force = pushed_frames.write(obj, scene, context.evaluated_depsgraph_get())
        except ConJacError as error:
            error.object = error.object or obj.name
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Frame {timeline.present_frame(scene)}: {force:.3g} N push \"{obj.name}\"")
        return {"FINISHED"}
