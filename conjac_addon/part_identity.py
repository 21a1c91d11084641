"""The bones or objects of a mechanism by a UUID of each, which a bake keeps too: names may change.

Blender copies it with a bone or an object, together with what that was called when it got it. Of several with one UUID
it belongs to the one that is still called so, else to the first.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import bpy


def parts(owner: bpy.types.Object) -> list[Any]:
    """Return the bones of an armature, or the objects in an Empty's collection."""
    if owner.type == "ARMATURE":
        return list(owner.pose.bones)
    collection = owner.conjac.mechanism.collection
    return [] if collection is None else [obj for obj in collection.all_objects if obj.type == "MESH"]


def settings(part: Any) -> bpy.types.PropertyGroup:
    """Return the settings that ConJac keeps on a bone or an object of a mechanism."""
    return part.conjac.part if isinstance(part, bpy.types.Object) else part.conjac


def by_uuid(owner: bpy.types.Object) -> dict[str, Any]:
    """Return the parts that have a UUID of their own, by it."""
    found: dict[str, Any] = {}
    for part in parts(owner):
        stored = settings(part)
        if not stored.uuid:
            continue
        if stored.uuid not in found or (stored.called == part.name
                                        and settings(found[stored.uuid]).called != found[stored.uuid].name):
            found[stored.uuid] = part
    return found


def uuids(owner: bpy.types.Object) -> dict[str, str]:
    """Return the UUIDs of the parts by their present names."""
    return {part.name: known for known, part in by_uuid(owner).items()}


def give(owner: bpy.types.Object) -> None:
    """Give every part without a UUID one, and record the present names of all; references to parts are updated."""
    known = uuids(owner)
    _follow(owner)
    for part in parts(owner):
        if isinstance(part, bpy.types.Object) and not part.is_editable:
            continue  # of another file, where it keeps its name
        stored = settings(part)
        own = known.get(part.name) or uuid.uuid4().hex
        if (stored.uuid, stored.called) != (own, part.name):
            stored.uuid, stored.called = own, part.name


def take_back(owner: bpy.types.Object, baked: Sequence[tuple[str, str]], order: Sequence[str]) -> None:
    """Give parts the UUIDs again that undo, or closing without saving, took from them and that a bake on disk knows.

    baked: (name, UUID) of the bake's bodies; order: what parts are called in a job that is made now. A part without a
    UUID is the body of its name; where all others stand in their places, it is the body of its place.
    """
    own = uuids(owner)
    settings_of = {part.name: settings(part) for part in parts(owner)
                   if not isinstance(part, bpy.types.Object) or part.is_editable}
    lost = {place: entry for place, entry in enumerate(baked) if entry[1] and entry[1] not in own.values()}
    back = {name: (name, old) for name, old in lost.values() if name in settings_of and name not in own}
    own |= {name: old for name, (_, old) in back.items()}
    called_anew = {place: entry for place, entry in lost.items() if entry[1] not in own.values()}
    if len(order) == len(baked) and all(place in called_anew or own.get(order[place]) == old
                                        for place, (_, old) in enumerate(baked)):
        back |= {order[place]: entry for place, entry in called_anew.items()
                 if order[place] in settings_of and order[place] not in own}
    for name, (called, old) in back.items():
        settings_of[name].uuid, settings_of[name].called = old, called


def renamed(owner: bpy.types.Object) -> Callable[[str], str]:
    """Return a function from a name in the settings to the present name of the part, which may have been renamed since.
    """
    names = {part.name for part in parts(owner)}

    @cache
    def since() -> dict[str, str]:
        return {settings(part).called: part.name for part in reversed(by_uuid(owner).values())}

    return lambda name: name if not name or name in names else since().get(name, name)


def now(owner: bpy.types.Object, baked: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the present name of each of a bake's bodies, by its name in the bake. baked: (name, UUID or "") of each.

    One that has no UUID, or whose own is gone, keeps its name.
    """
    known = by_uuid(owner)
    return {name: known[own].name if own in known else name for name, own in baked}


def _follow(owner: bpy.types.Object) -> None:
    """Update springs and attachments to the parts to which they referred when it was baked."""
    names = [(spring, end) for spring in owner.conjac.mechanism.springs for end in ("first", "second")]
    names += [(attachment, "part") for obj in bpy.data.objects if obj.is_editable
              for attachment in obj.conjac.attachments if attachment.object == owner]
    now_called = renamed(owner)
    for holder, field in names:
        old = getattr(holder, field)
        new = now_called(old)
        if new != old:
            if field == "part" and not holder.group and old in holder.id_data.vertex_groups:
                holder.group = old  # painted groups keep their name
            setattr(holder, field, new)
