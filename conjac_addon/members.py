"""Which objects are baked together: a mechanism and the soft bodies that hang on it, in one bake of the mechanism.

Without anything evaluated: panels ask at every redraw.
"""

from __future__ import annotations

import bpy

from ..solver import catalogue
from . import kinds, part_identity

#: types of objects that have a bake of their own
BODY, ARMATURE, EMPTY = "MESH", "ARMATURE", "EMPTY"


def is_soft_body(obj: bpy.types.Object | None) -> bool:
    return obj is not None and obj.type == BODY and obj.conjac.kind == kinds.SOFT_BODY


def is_mechanism(obj: bpy.types.Object | None) -> bool:
    """An armature, or an Empty that stands for rigid body objects, with ConJac on."""
    return obj is not None and obj.type in (ARMATURE, EMPTY) and obj.conjac.kind == kinds.MECHANISM


def is_edited(obj: bpy.types.Object) -> bool:
    """Whether it, or what it shares its data with, is in a mode in which Blender evaluates nothing new of it."""
    return obj.mode in {"EDIT", "SCULPT"} or bool(getattr(obj.data, "is_editmode", False))


def owner(obj: bpy.types.Object) -> bpy.types.Object:
    """The object whose bake this one is in: the mechanism that a soft body hangs on, else itself."""
    if is_soft_body(obj):
        for attachment in obj.conjac.attachments:
            if is_mechanism(attachment.object):
                return attachment.object
    return obj


def soft_bodies(of: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The soft bodies in the bake of an object: those that hang on a mechanism, or the body itself.

    In the scene's order, which a new name does not change.
    """
    if not is_mechanism(of):
        return [of] if of.type == BODY else []
    return [obj for obj in scene.objects if is_soft_body(obj) and owner(obj) == of]


def members(of: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Every object that has settings in the bake of `of`, itself first."""
    return [of, *(obj for obj in soft_bodies(of, scene) if obj != of)]


def holding(mechanism: bpy.types.Object) -> set[str]:
    """Names of the bones or objects of a mechanism that soft bodies hang on."""
    return {part_identity.named(mechanism, one.part) for obj in bpy.data.objects if is_soft_body(obj)
            for one in obj.conjac.attachments if one.object == mechanism}


def moves_dynamic_nodes(obj: bpy.types.Object) -> bool:
    """Whether only dynamic nodes swing: not where every node does."""
    settings = owner(obj).conjac
    return bool(catalogue.find("method", settings.solver.method).follows
                and not catalogue.find("integrator", settings.solver.integrator).unfollowed)
