"""Make meshes, or soft bodies that enclose nothing, cloth: with the numbers of cotton, as stiff as faces can show."""

import bpy

from .. import by_button, failures, kinds, members, playback
from ..redraw import redraw_panels
from . import chosen, previews, quality
from .first_settings import suit_cloth
from .joining import join
from .light import Behaviour
from .poll import active_soft_body, mesh_unless, unless


def _make_cloth(obj: bpy.types.Object, scene: bpy.types.Scene, label: str) -> None:
    """Make an object cloth, and choose settings that the artist has not set. label: of the button."""
    obj.conjac.kind = kinds.CLOTH
    with by_button.noted(obj, label, quality.unset(obj)):
        suit_cloth(obj, scene)
    obj.conjac.quality = "good"


class CONJAC_OT_add_cloth(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return mesh_unless(cls, context, (members.is_cloth, "The active object is cloth already"),
                           (members.is_soft_body, "The active object is a soft body: remove that first"))

    def execute(self, context: bpy.types.Context) -> set[str]:
        for obj in chosen.meshes(context):
            if members.is_soft_body(obj):
                continue
            _make_cloth(obj, context.scene, "Add Cloth")
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
        _make_cloth(obj, context.scene, "Turn Into Cloth")
        failures.mend(obj.session_uid, failures.BAKE)
        redraw_panels()
        return {"FINISHED"}
