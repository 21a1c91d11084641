"""Jiggle the soft parts of a character: soft body, attached to bones where it is not soft, and dynamic nodes."""

import bpy

from ...solver.errors import BadInput
from .. import by_button, kinds, members
from ..redraw import redraw_panels
from ..settings import unit_scale
from . import quality, soft_parts
from .attach import rig_of
from .first_settings import stiffen_layer, suit
from .light import Behaviour
from .poll import active_armature, active_mesh, in_object_mode, unless

LABEL = "Jiggle the Soft Parts"  #: of the button


class CONJAC_OT_jiggle(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.object
        if obj is not None and obj.type == "ARMATURE":
            return active_armature(cls, context) is not None
        skin = unless(cls, active_mesh(cls, context), lambda mesh: rig_of(mesh, context) is None,
                      "No armature deforms it")
        return in_object_mode(cls, skin) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        active = context.object
        skins = [active] if active.type == "MESH" else [
            obj for obj in context.scene.objects if obj.type == "MESH" and obj.is_editable
            and any(m.type == "ARMATURE" and m.object == active for m in obj.modifiers)]
        if not skins:
            self.report({"ERROR"}, f'"{active.name}" deforms no mesh')
            return {"CANCELLED"}
        for obj in skins:
            try:
                self._soften(context, obj, rig_of(obj, context) if obj == active else active)
            except BadInput as error:
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}
        context.view_layer.objects.active = active
        redraw_panels()
        return {"FINISHED"}

    def _soften(self, context: bpy.types.Context, obj: bpy.types.Object, rig: bpy.types.Object) -> None:
        bones = soft_parts.dominant(obj, rig)
        soft = soft_parts.soft_vertices(obj, rig, bones)
        obj.conjac.kind = kinds.SOFT_BODY
        by_bone = soft_parts.vertices_by_bone(rig, bones, soft)
        if not by_bone:
            raise BadInput("all of it is painted Soft, so nothing holds it", "Paint less of it", obj.name)
        if members.is_mechanism(rig):
            soft_parts.attach(obj, rig, by_bone)
            with by_button.noted(obj, LABEL):
                stiffen_layer(obj, soft_parts.depth(obj, soft) * unit_scale(context.scene))
        else:
            pin = obj.vertex_groups.get(obj.conjac.pin_group) or obj.vertex_groups.new(name=obj.conjac.pin_group)
            pin.remove(range(len(obj.data.vertices)))
            for _, vertices in by_bone:
                pin.add(vertices.tolist(), 1.0, "REPLACE")
            if not self.nodes:
                obj.conjac.suggest_spots = False
            with by_button.noted(obj, LABEL, quality.unset(obj)):
                suit(obj, context.scene, depth=soft_parts.depth(obj, soft))
            obj.conjac.quality = "good"
        how = f"held by {len(by_bone)} bones" if members.is_mechanism(rig) else f'pinned to "{rig.name}"'
        self.report({"INFO"}, f'"{obj.name}": {int(soft.sum())} vertices are soft, the others {how}')
        if self.nodes and not len(obj.conjac.handles) and members.moves_dynamic_nodes(obj):
            context.view_layer.objects.active = obj
            # behind a window it goes on while the artist does
            how_run = "EXEC_DEFAULT" if bpy.app.background else "INVOKE_DEFAULT"
            with context.temp_override(active_object=obj, object=obj):
                bpy.ops.conjac.suggest_handles(how_run, count=self.nodes)
