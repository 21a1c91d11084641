"""Into weight paint on the right group, and back."""

import bpy

from ...solver import catalogue
from .. import compat, members, uncounted
from ..gather.maps import PAINTED
from ..redraw import redraw_panels
from ..settings import painted_default
from .light import Behaviour
from .poll import active_mesh, active_soft_body, unless


def loses_paint(obj: bpy.types.Object) -> bool:
    """Whether weights cannot be painted on its mesh, or would be gone from the saved file, as on overridden meshes."""
    return not obj.data.is_editable or obj.data.override_library is not None


#: condition of `unless` for painting
UNPAINTABLE = (loses_paint, "Its mesh is linked from another file, and Blender saves no paint on it: make the mesh "
               "local first, by Object > Relations > Make Local > Selected Objects and Data")


def leave_other_modes(context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Make an object the active one, in Object Mode."""
    if context.view_layer.objects.active != obj:  # a Properties editor may be pinned to another one
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        context.view_layer.objects.active = obj
    if obj.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


def paint(obj: bpy.types.Object, group: bpy.types.VertexGroup, above: float = PAINTED) -> None:
    """Enter weight paint on a group of the active object, with a brush whose weight is above the threshold of an
    effect."""
    obj.vertex_groups.active = group
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    # a gradient or a selection that was last used would take the first stroke
    compat.take_weight_brush(bpy.context)
    weighs = compat.painted_weight(bpy.context.scene)
    if weighs is not None and weighs.weight <= above:
        weighs.weight = 1.0
    redraw_panels()


def is_painting(obj: bpy.types.Object, group: str) -> bool:
    """Whether this group is the one that strokes go to."""
    return obj.mode == "WEIGHT_PAINT" and obj.vertex_groups.active is not None and (
        obj.vertex_groups.active.name == group)


class CONJAC_OT_add_group(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, active_soft_body(cls, context), *UNPAINTABLE) is not None

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        sentence = f"{catalogue.maps()[properties.map].sentence}: paint it as a vertex group"
        return uncounted.tooltip(sentence, context.object, properties.map)

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj, settings = context.object, context.object.conjac
        name = getattr(settings, f"{self.map}_group") or catalogue.maps()[self.map].label
        leave_other_modes(context, obj)
        group: bpy.types.VertexGroup | None = obj.vertex_groups.get(name)
        if group is None:
            group = obj.vertex_groups.new(name=name)
            for param in catalogue.maps()[self.map].params:
                low, high = getattr(settings, param.key), f"{param.key}_high"
                if param.unit and getattr(settings, high) <= low:  # paint is for more of it
                    setattr(settings, high, painted_default(param, low))
        setattr(settings, f"{self.map}_group", group.name)  # Blender cuts names that are too long
        halves = self.map == "dynamic" or (self.map == "pin" and not members.has_soft_pins(obj))
        paint(obj, group, PAINTED if halves else 0.0)
        return {"FINISHED"}


class CONJAC_OT_done_painting(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = unless(cls, active_mesh(cls, context), lambda one: not members.is_soft_body(one),
                     "The active object is not a ConJac soft body")
        return unless(cls, obj, lambda one: one.mode != "WEIGHT_PAINT", "Nothing is being painted") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        bpy.ops.object.mode_set(mode="OBJECT")
        redraw_panels()
        return {"FINISHED"}
