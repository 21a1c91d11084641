"""Make meshes cloth, with the numbers of cotton, as stiff as their faces can show."""

import bpy

from .. import kinds, members
from ..redraw import redraw_panels
from . import chosen
from .first_settings import suit_cloth
from .joining import join
from .light import Behaviour
from .poll import mesh_unless


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
