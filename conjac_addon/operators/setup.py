"""Add and remove a soft body and its dynamic handles."""

from collections.abc import Sequence
from typing import Any

import bpy
from mathutils import Vector

from .. import by_button, kinds, members, playback
from ..redraw import redraw_panels
from . import chosen, previews, quality
from .entries import AddEntry, RemoveEntry
from .first_settings import suit
from .joining import join
from .light import Behaviour
from .poll import DynamicOnly, active_mesh, baked, mesh_unless, unless


def link_beside(made: bpy.types.Object, obj: bpy.types.Object) -> None:
    """Put a new object into a collection of `obj`, or the scene's own where those are linked or overridden."""
    own = (each for each in obj.users_collection if each.is_editable and each.override_library is None)
    next(own, obj.users_scene[0].collection).objects.link(made)


def empty_beside(obj: bpy.types.Object, what: str, shape: Any, size: float) -> bpy.types.Object:
    """Add an Empty for an object, drawn in front. size: in the world, in Blender units."""
    empty = bpy.data.objects.new(f"{obj.name} {what}", None)
    empty.empty_display_type, empty.empty_display_size = shape, size
    empty.show_in_front = True
    link_beside(empty, obj)
    return empty


def middle_of(obj: bpy.types.Object) -> Vector:
    """Return the middle of an object's box, in the world, in Blender units."""
    corners = [Vector(corner) for corner in obj.bound_box]
    return obj.matrix_world @ (sum(corners, Vector()) / len(corners))


def add_handle_at(obj: bpy.types.Object, place: Sequence[float]) -> bpy.types.Object:
    """Add an Empty at a place in the world [Blender units] that moves with the body and picks a dynamic node."""
    empty = empty_beside(obj, "Handle", "SPHERE", 0.05 * max(*obj.dimensions, 1.0e-3))
    empty.parent = obj
    empty.matrix_parent_inverse = obj.matrix_world.inverted_safe()
    empty.location = place
    obj.conjac.handles.add().object = empty
    return empty


class CONJAC_OT_add_soft_body(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return mesh_unless(cls, context, (members.is_soft_body, "The active object is a soft body already"))

    def execute(self, context: bpy.types.Context) -> set[str]:
        objects = list(chosen.meshes(context))
        for obj in objects:
            obj.conjac.kind = kinds.SOFT_BODY
            with by_button.noted(obj, "Add Soft Body", quality.unset(obj)):
                suit(obj, context.scene, bodies=len(objects))
            obj.conjac.quality = "good"
            join(obj, context.scene)
        redraw_panels()
        return {"FINISHED"}


class CONJAC_OT_remove(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        from ..bake.operators import is_baking

        obj = context.object
        if obj is not None and obj.conjac.kind == kinds.COLLIDER:
            return active_mesh(cls, context) is not None
        return unless(cls, baked(cls, context), is_baking, "Cancel the running bake first") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        if obj.conjac.kind != kinds.COLLIDER:  # which has nothing of ours
            playback.hide(obj)
            previews.remove(obj)
        if members.is_soft_body(obj):
            playback.hide_cut(obj)
        obj.conjac.kind = kinds.NONE
        redraw_panels()
        return {"FINISHED"}


class CONJAC_OT_add_handle(DynamicOnly, AddEntry, Behaviour):
    of_volumes = True

    def execute(self, context: bpy.types.Context) -> set[str]:
        add_handle_at(context.object, context.scene.cursor.location)  # type: ignore[arg-type]
        return {"FINISHED"}


class CONJAC_OT_remove_handle(DynamicOnly, RemoveEntry, Behaviour):
    entries = "handles"
