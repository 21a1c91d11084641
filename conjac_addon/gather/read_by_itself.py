"""Objects that a bake reads although no setting points at them: wind that blows, meshes that an armature deforms."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from .. import members


def fields(of: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return the objects whose Wind blows at the cloth in the bake of an object, as Blender shows them; none without
    cloth."""
    if not any(members.is_cloth(body) for body in members.soft_bodies(of, scene)):
        return []
    return [field_object for field_object in _shown(scene) if field_object.field.type == "WIND"]


def ignored_fields(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return objects whose force fields Blender shows and that do not act on a soft body or cloth."""
    acting = "WIND" if members.is_cloth(obj) else "NONE"
    return [field_object for field_object in _shown(scene) if field_object.field.type not in (acting, "GUIDE")]


def _shown(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return the force fields that Blender shows."""
    layer = bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]
    return [field_object for field_object in layer.objects
            if field_object.field is not None and field_object.field.type != "NONE"
            and field_object.visible_get(view_layer=layer)]


def skins(armature: bpy.types.Object, among: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return the meshes that an armature deforms."""
    return [obj for obj in among
            if obj.type == "MESH" and not obj.hide_viewport
            and any(m.type == "ARMATURE" and m.object == armature and m.show_viewport for m in obj.modifiers)]
