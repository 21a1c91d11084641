"""Kinds of objects in the simulation. Without bpy: Blender keeps functions that use it, see handles.py."""

NONE, SOFT_BODY, CLOTH, COLLIDER, MECHANISM = "none", "soft_body", "cloth", "collider", "mechanism"
ROPE = "rope"

#: numbers that files keep. Menus offer what there is; the others are taken all the same, for the day when there is
NUMBERS = {NONE: 0, SOFT_BODY: 1, CLOTH: 2, COLLIDER: 3, MECHANISM: 4, ROPE: 5}

#: types of objects that can be a mechanism: an armature, and an Empty that stands for rigid body objects
OF_MECHANISMS = ("ARMATURE", "EMPTY")

#: property with where an object, or each bone by its name, was before it was posed live
POSE = "conjac_live_pose"


def suiting(object_type: str) -> str:
    """Return the kind of an object of this type where nothing but "simulated" is set."""
    return MECHANISM if object_type in OF_MECHANISMS else SOFT_BODY

#: what a soft body collides with
NOTHING, ALL, COLLECTION = "none", "all", "collection"
