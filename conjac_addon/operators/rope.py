"""Make chains of edges ropes, and ropes of curves."""

import bpy

from .. import by_button, kinds, members
from ..redraw import redraw_panels
from . import quality
from .first_settings import suit_rope
from .joining import join
from .light import Behaviour
from .poll import unless
from .rope_look import as_edges, show_thickness


class CONJAC_OT_add_rope(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.object
        if obj is None or obj.type not in ("MESH", "CURVE"):
            cls.poll_message_set("Select a curve, or a mesh of edges without faces")
            return False
        for is_wrong, why in (
                (lambda one: not one.is_editable, "The object is linked from another file; make it local or add a "
                 "library override"),
                (members.is_rope, "The active object is a rope already"),
                (members.is_soft_body, "The active object is a soft body or cloth: remove that first"),
                (lambda one: one.type == "MESH" and len(one.data.polygons) > 0,
                 "The active object has faces, and ropes are edges without faces")):
            obj = unless(cls, obj, is_wrong, why)
        return obj is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        made = []
        for obj in dict.fromkeys((context.object, *context.selected_objects)):
            if not obj.is_editable or members.is_soft_body(obj):
                continue
            if obj.type == "CURVE":
                rope = as_edges(obj, context)
                if rope is None:
                    self.report({"ERROR"}, f'"{obj.name}" has no length: give its curve two points that are apart')
                    return {"CANCELLED"}
            elif obj.type == "MESH" and not len(obj.data.polygons):
                rope = obj
            else:
                continue
            rope.conjac.kind = kinds.ROPE
            with by_button.noted(rope, "Add Rope", quality.unset(rope)):
                suit_rope(rope)
                show_thickness(rope)
            rope.conjac.quality = "good"
            join(rope, context.scene)
            made.append(rope)
        context.view_layer.objects.active = made[0]
        for rope in made:
            rope.select_set(True)
        redraw_panels()
        return {"FINISHED"}
