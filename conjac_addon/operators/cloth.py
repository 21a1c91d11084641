"""Make meshes cloth, with the numbers of cotton."""

import bpy

from .. import contact, kinds, members
from ..redraw import redraw_panels
from . import chosen
from .first_settings import CLOTH_SOLVER, STRETCH_LIMIT
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
            for name, value in CLOTH_SOLVER.items():
                if not obj.conjac.solver.is_property_set(name):
                    setattr(obj.conjac.solver, name, value)
            if not obj.conjac.is_property_set("stretch_limit"):
                obj.conjac.stretch_limit = STRETCH_LIMIT
            said = obj.conjac.contact
            if not said.is_property_set("collides_with"):
                said.collides_with = contact.ALL
            if not said.is_property_set("itself"):
                said.itself = True
            join(obj, context.scene)
        redraw_panels()
        return {"FINISHED"}
