"""Make meshes colliders, and enable collisions of soft bodies."""

from __future__ import annotations

import bpy

from .. import by_button, kinds, members
from ..redraw import redraw_panels
from . import chosen
from .light import Behaviour
from .poll import active_soft_body, mesh_unless, unless


class CONJAC_OT_add_collider(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return mesh_unless(
            cls, context,
            (members.is_soft_body, "The active object is a soft body: see Contact in its own settings"),
            (members.is_collider, "The active object is a collider already"))

    def execute(self, context: bpy.types.Context) -> set[str]:
        for obj in chosen.meshes(context):
            if not members.is_soft_body(obj):
                obj.conjac.kind = kinds.COLLIDER
        redraw_panels()
        return {"FINISHED"}


class CONJAC_OT_collide(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, active_soft_body(cls, context), lambda obj: members.mechanism_of(obj) is not None,
                      "It is attached to a mechanism and touches only what is attached to that, too: see "
                      "Collides With") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        bodies = [obj for obj in context.scene.objects if members.is_soft_body(obj) and obj.is_editable
                  and members.mechanism_of(obj) is None and obj.conjac.contact.collides_with == kinds.NOTHING]
        for obj in bodies:
            with by_button.noted(obj, "Collide With All"):
                obj.conjac.contact.collides_with = kinds.ALL
        self.report({"INFO"}, f"Soft bodies that collide now, and are baked together: "
                              f"{members.title(context.object, context.scene)}")
        redraw_panels()
        return {"FINISHED"}


class CONJAC_OT_collide_with_itself(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, active_soft_body(cls, context), lambda obj: obj.conjac.contact.itself,
                      "Its parts collide with each other already") is not None

    @by_button.noting("Switch On Self Collision")
    def execute(self, context: bpy.types.Context) -> set[str]:
        contact = context.object.conjac.contact
        contact.itself = True
        if contact.collides_with == kinds.NOTHING:
            contact.collides_with = kinds.ALL
        redraw_panels()
        return {"FINISHED"}
