"""What pushes a soft body at the present frame, as attributes of its mesh."""

from __future__ import annotations

import bpy

from ...solver.errors import ConJacError
from .. import members
from .. import settings as properties
from ..bake import place
from ..playback import pushed
from .light import Behaviour
from .poll import active_soft_body, in_object_mode, unless

FORCE, PRESSURE = "contact_force", "contact_pressure"


class CONJAC_OT_contact_attributes(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = in_object_mode(cls, active_soft_body(cls, context))
        return unless(cls, obj, lambda one: not members.collides(one), "It collides with nothing") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj, scene = context.object, context.scene
        frame = properties.present_frame(scene)
        try:
            rows = place.cache_of(place.of(obj).folder).contacts(frame)
        except ConJacError as error:
            self.report({"ERROR"}, f"{obj.name}: {error}")
            return {"CANCELLED"}
        unit = properties.unit_scale(scene)
        vertices, triangles = pushed.shown(obj, context)
        if len(vertices) != len(obj.data.vertices):
            self.report({"ERROR"}, f'"{obj.name}": its modifiers change the number of its vertices, so there is no '
                        "vertex to write to. Switch them off")
            return {"CANCELLED"}
        force, pressure = pushed.at_vertices(vertices * unit, triangles, rows)
        for name, values in ((FORCE, force), (PRESSURE, pressure)):
            pushed.write(obj, name, values)
        self.report({"INFO"}, f"Frame {frame}: {force.sum():.3g} N push \"{obj.name}\"")
        return {"FINISHED"}
