"""Show a map on the object, or no map."""

import bpy

from ...solver import catalogue
from ..redraw import redraw_panels
from .light import Behaviour
from .poll import active_soft_body


class CONJAC_OT_show_heat(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return active_soft_body(cls, context) is not None

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return (f"Show {catalogue.maps()[properties.map].label} on the object as colors, with a legend; click again to "
                "hide it")

    def execute(self, context: bpy.types.Context) -> set[str]:
        manager = context.window_manager
        manager.conjac_heat = "none" if manager.conjac_heat == self.map else self.map
        redraw_panels()
        return {"FINISHED"}
