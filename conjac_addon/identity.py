"""Every ConJac object has a UUID, which its bake keeps too: names and paths may change.

Blender copies it with the object, into an override and into another file, so a UUID that is read may be another
object's: `of` gives an object's own one. Undo takes back what was written to an object and never what is on the disk,
so what was given in this session is remembered beside the objects, by their session_uid, which undo keeps.
"""

from typing import Any

import bpy

OVERRIDABLE: Any = {"LIBRARY_OVERRIDABLE"}

#: UUIDs of objects that are their own, by session_uid, as given or found in this session
_own: dict[int, str] = {}

#: session_uid of the object that a UUID belongs to
_first: dict[str, int] = {}


class CONJAC_Cache(bpy.types.PropertyGroup):
    """Which bake an object plays. Written by the add-on alone; a copy of the object has the same."""

    __slots__ = ()

    uuid: bpy.props.StringProperty(
        name="UUID", description="Identifies the bake of this object, whatever its name",
        options={"HIDDEN"}, override=OVERRIDABLE)
    folder: bpy.props.StringProperty(
        name="Folder", description="Folder of the bake, // for the one of the .blend", options={"HIDDEN"},
        override=OVERRIDABLE)
    is_shared: bpy.props.BoolProperty(
        name="Shared", description="The bake is another object's: this one only plays it", default=False,
        options={"HIDDEN"}, override=OVERRIDABLE)
    leads: bpy.props.BoolProperty(
        name="Leads", description="The bake of all that it touches is kept with this object", default=False,
        options={"HIDDEN"}, override=OVERRIDABLE)


def of(obj: bpy.types.Object) -> str:
    """Return the object's own UUID; "" if it has none yet, or only that of the object from which it was copied."""
    known = _own.get(obj.session_uid)
    if known is not None:
        return known
    written = obj.conjac.cache.uuid
    if not written or is_shared(obj):
        return ""
    _own[obj.session_uid] = written
    return written


def is_shared(obj: bpy.types.Object) -> bool:
    """Whether the UUID that is written on the object is another one's."""
    if obj.session_uid in _own:
        return False
    cache = obj.conjac.cache
    if not cache.uuid:
        return False
    if cache.is_shared or obj.library is not None:
        return True
    override = obj.override_library
    if override is not None and override.reference is not None and override.reference.conjac.cache.uuid == cache.uuid:
        return True
    return _owner_of(cache.uuid) != obj.session_uid


def _owner_of(written: str) -> int:
    """session_uid of the object that the UUID belongs to: a copy is always younger. One that was deleted keeps it."""
    if written not in _first:
        _first[written] = min((obj.session_uid for obj in bpy.data.objects if obj.library is None
                               and obj.conjac.cache.uuid == written and not obj.conjac.cache.is_shared), default=0)
    return _first[written]


def was_seen(written: str) -> bool:
    """Whether some object of this .blend has, or had until it was deleted, the UUID; undo may bring it back."""
    return bool(_first.get(written))


def name_of(written: str) -> str | None:
    """Return the present name of the object that the UUID belongs to; None where it is not there any more."""
    return next((obj.name for obj in bpy.data.objects if obj.conjac.cache.uuid == written and not is_shared(obj)), None)


def library_of(obj: bpy.types.Object) -> bpy.types.Library | None:
    """Return the file from which an object's stored data comes: its own, or that of the object that it overrides."""
    override = obj.override_library
    if override is not None and override.reference is not None and is_shared(obj):
        return override.reference.library
    return obj.library


def give(obj: bpy.types.Object, own: str = "") -> str:
    """Give the object a UUID of its own, a new one by default if it has none, and return it; it is written on the
    object."""
    import uuid  # and what it loads, which Blender's start does without

    own = own or of(obj) or uuid.uuid4().hex
    _own[obj.session_uid], _first[own] = own, obj.session_uid
    cache = obj.conjac.cache
    if (cache.uuid, cache.is_shared) != (own, False):
        cache.uuid, cache.is_shared = own, False
    return own


def lead(obj: bpy.types.Object, leads: bool) -> None:
    """Write on an object whether the bake of all that it touches is kept with it."""
    if obj.conjac.cache.leads != leads:
        obj.conjac.cache.leads = leads


def forget() -> None:
    """Forget owners when another file is loaded or this one is renamed: those that are stored on the objects apply."""
    _own.clear()
    _first.clear()


classes = (CONJAC_Cache,)


def still_there(blocks: Any, uid: int) -> Any:
    """Return the block of a session_uid; None where there is none. Undo may have moved it in memory or removed it."""
    return next((block for block in blocks if block.session_uid == uid), None)
