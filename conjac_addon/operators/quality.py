"""Quality of a bake: how fine tetrahedra are and how long steps are, against those of a new body."""

from __future__ import annotations

import bpy

from .. import by_button, first_solvers, members
from ..menus import QUALITIES
from ..redraw import redraw_panels
from .fineness import edges
from .light import Behaviour
from .poll import baked, unless

#: length of edges and of steps over those of Good
FACTORS = {"draft": (1.5, 2.0), "good": (1.0, 1.0), "best": (1.0 / 1.5, 0.5)}

EDGE, STEP = "edge_length", "solver.step"  #: paths of the settings


def paths(obj: bpy.types.Object) -> tuple[str, ...]:
    """Return the paths of the settings that make the quality of an object."""
    return (EDGE, STEP) if members.is_volume(obj) else (STEP,)


def unset(obj: bpy.types.Object) -> tuple[str, ...]:
    """Return the settings of quality that the artist has not set."""
    is_set = {EDGE: obj.conjac.is_property_set(EDGE), STEP: obj.conjac.solver.is_property_set("step")}
    return tuple(path for path in paths(obj) if not is_set[path])


def present(obj: bpy.types.Object) -> str:
    """Return the quality that an object has; "" where its edges or steps are the artist's own."""
    quality: str = obj.conjac.quality
    return quality if quality in FACTORS and by_button.is_unchanged(obj, paths(obj)) else ""


def choose(obj: bpy.types.Object, scene: bpy.types.Scene, quality: str, bodies: int) -> None:
    """Set edges and steps of an object to a quality. bodies: how many share the budget of nodes."""
    of_edge, of_step = FACTORS[quality]
    with by_button.noted(obj, QUALITIES[quality][0], paths(obj)):
        obj.conjac.solver.step = of_step * _usual_step(obj)
        if members.is_volume(obj):
            fitting, by_box = edges(obj, bodies)
            own = 0.0 if quality == "good" and fitting == by_box else of_edge * fitting
            obj.conjac.edge_length = float(f"{own:.2g}")
    obj.conjac.quality = quality


def _usual_step(obj: bpy.types.Object) -> float:
    """Return the time step of a new object of its kind [s]."""
    if not members.is_soft_body(obj):
        return float(obj.conjac.solver.bl_rna.properties["step"].default)
    kind = (first_solvers.CLOTH_SOLVER if members.is_cloth(obj)
            else first_solvers.ROPE_SOLVER if members.is_rope(obj) else first_solvers.SOLVER)
    return float(kind["step"])


class CONJAC_OT_set_quality(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        from ..bake.operators import is_baking

        return unless(cls, baked(cls, context), is_baking, "Cancel the running bake first") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        holder = members.owner(context.object)
        bodies = members.soft_bodies(holder, context.scene)
        for obj in dict.fromkeys((holder, *bodies)):
            if obj.is_editable:
                choose(obj, context.scene, self.quality, max(1, sum(map(members.is_volume, bodies))))
        redraw_panels()
        return {"FINISHED"}


class CONJAC_OT_make_own(Behaviour):
    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return f"Chosen by {properties.button}. The mark goes when you change the value, or press it to keep the value"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.is_editable

    def execute(self, context: bpy.types.Context) -> set[str]:
        by_button.forget(context.object, self.path)
        redraw_panels()
        return {"FINISHED"}
