"""Make meshes, or soft bodies that enclose nothing, cloth: with the numbers of cotton, as stiff as faces can show."""

import bpy

from .. import failures, kinds, members, playback
from ..redraw import redraw_panels
from . import chosen, previews
from .first_settings import suit_cloth
from .joining import join
from .light import Behaviour
from .poll import active_soft_body, mesh_unless, unless


class CONJAC_OT_add_cloth(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return mesh_unless(cls, context, (members.is_cloth, "The active object is cloth already"),
                           (members.is_soft_body, "The active object is a soft body: remove that first"))

    def execute(self, context: bpy.types.Context) -> set[str]:
        for obj in chosen.meshes(context):
            if members.is_soft_body(obj):
                continue
            obj.conjac.kind = kinds.CLOTH
            suit_cloth(obj, context.scene)
            join(obj, context.scene)
        redraw_panels()
        return {"FINISHED"}


class CONJAC_OT_turn_into_cloth(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        from ..bake.operators import is_baking

        obj = unless(cls, active_soft_body(cls, context), members.is_cloth, "The active object is cloth already")
        return unless(cls, obj, is_baking, "Cancel the running bake first") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        playback.hide(obj)
        playback.hide_cut(obj)
        previews.remove(obj)
        obj.conjac.kind = kinds.CLOTH
        suit_cloth(obj, context.scene)
        failures.mend(obj.session_uid, failures.BAKE)
        redraw_panels()
        return {"FINISHED"}
