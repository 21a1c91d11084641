"""Which objects are baked together: a simulation.

A mechanism, the soft bodies that hang on it and those that touch it; or soft bodies that touch each other, directly or
through others. One object of them has the bake, and says how time goes on and what the ground is: the mechanism, or of
soft bodies the one that had it last time, else the first of the scene. Without anything evaluated: panels ask at every
redraw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import bpy

from ..solver import catalogue
from . import changes, identity, kinds, part_identity

#: types of objects that have a bake of their own
BODY, ARMATURE, EMPTY = "MESH", "ARMATURE", "EMPTY"

#: session_uids of scenes that are there only while something is read: no object is simulated in them
passing: set[int] = set()


def is_soft_body(obj: bpy.types.Object | None) -> bool:
    """Whether the object is a simulated mesh: a volume, cloth, or ropes."""
    return obj is not None and obj.type == BODY and obj.conjac.kind in (kinds.SOFT_BODY, kinds.CLOTH, kinds.ROPE)


def is_cloth(obj: bpy.types.Object | None) -> bool:
    """Whether the object is a mesh whose faces are simulated."""
    return obj is not None and obj.type == BODY and obj.conjac.kind == kinds.CLOTH


def is_rope(obj: bpy.types.Object | None) -> bool:
    """Whether the object is a mesh whose edges are simulated."""
    return obj is not None and obj.type == BODY and obj.conjac.kind == kinds.ROPE


def is_volume(obj: bpy.types.Object | None) -> bool:
    """Whether the object is a mesh whose inside is simulated."""
    return obj is not None and is_soft_body(obj) and not is_cloth(obj) and not is_rope(obj)


def is_sharp(obj: bpy.types.Object | None) -> bool:
    """Cloth that bends exactly at sharp edges, so that each frame has faces of its own."""
    return obj is not None and is_cloth(obj) and bool(getattr(obj.conjac, catalogue.SHARP.key))


def has_soft_pins(obj: bpy.types.Object) -> bool:
    """Whether weights of its Pin are strengths; else those above a half hold hard, and the others do not hold."""
    return bool(obj.conjac.soft_pins) and not is_sharp(obj)


def is_mechanism(obj: bpy.types.Object | None) -> bool:
    """Whether the object is an armature, or an Empty that represents rigid body objects, with ConJac enabled."""
    return obj is not None and obj.type in (ARMATURE, EMPTY) and obj.conjac.kind == kinds.MECHANISM


def is_collider(obj: bpy.types.Object | None) -> bool:
    """Whether the object is a mesh with which soft bodies collide, without an effect on it."""
    if obj is None or obj.type != BODY:
        return False
    return bool(obj.conjac.kind == kinds.COLLIDER or (
        is_soft_body(obj) and obj.conjac.contact.is_collider and not collides(obj)))


def is_edited(obj: bpy.types.Object) -> bool:
    """Whether it, or an object with the same data, is in a mode in which Blender does not evaluate it again."""
    return obj.mode in {"EDIT", "SCULPT"} or bool(getattr(obj.data, "is_editmode", False))


def mechanism_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """Return the mechanism to which a soft body is attached."""
    holders = [attachment.object for attachment in obj.conjac.attachments]
    found = next((holder for holder in holders if is_mechanism(holder)), None)
    if found is None and is_cloth(obj):  # it may hang on a soft body that does
        found = next((mechanism_of(holder) for holder in holders if is_volume(holder)), None)
    return found


def touches_soft(obj: bpy.types.Object | None) -> bool:
    """Whether it is a mechanism whose bodies push the soft bodies that collide."""
    return obj is not None and is_mechanism(obj) and bool(obj.conjac.mechanism.touch_soft)


def collides(obj: bpy.types.Object) -> bool:
    """Whether it is a soft body that touches anything."""
    return is_soft_body(obj) and obj.conjac.contact.collides_with != kinds.NOTHING


def wants(obj: bpy.types.Object, other: bpy.types.Object) -> bool:
    """Whether a soft body's own settings let it collide with another object."""
    contact = obj.conjac.contact
    if contact.collides_with == kinds.COLLECTION:
        return contact.collection is not None and other in contact.collection.all_objects.values()
    return bool(contact.collides_with == kinds.ALL)


def touch(obj: bpy.types.Object, other: bpy.types.Object) -> bool:
    """Whether two soft bodies that collide touch each other: both have to want it."""
    return wants(obj, other) and wants(other, obj)


def owner(obj: bpy.types.Object) -> bpy.types.Object:
    """Return the object that owns this one's bake: the mechanism to which a soft body is attached or that it touches,
    the leading one of the soft bodies that it touches, else itself."""
    if is_soft_body(obj):
        holder = mechanism_of(obj)
        if holder is not None:
            return holder
        if collides(obj):
            scene = _scene_of(obj)
            together = _touching(obj, scene)
            pushed = _mechanism_at(together, scene)
            if pushed is not None:
                return pushed
            # a copy of the leading object is marked as leading, too
            return next((member for member in together if member.conjac.cache.leads and not identity.is_shared(member)),
                        together[0])
    return obj


def soft_bodies(of: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return the soft bodies in the bake of an object: those that hang on a mechanism or touch it, or the body and all
    that touch it.

    In the scene's order, which a new name does not change.
    """
    if not is_mechanism(of):
        return (_touching(of, scene) if collides(of) else [of]) if of.type == BODY else []
    free = _free_at(of, scene) if touches_soft(of) else []
    return [obj for obj in scene.objects if is_soft_body(obj) and (mechanism_of(obj) == of or obj in free)]


def members(of: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return every object with settings in the bake of `of`, itself first."""
    return [of, *(obj for obj in soft_bodies(of, scene) if obj != of)]


def colliders(of: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return the colliders of the soft bodies in the bake of an object, in the scene's order."""
    bodies = [obj for obj in soft_bodies(of, scene) if collides(obj)]
    if not bodies:
        return []
    parts = _moving_parts(owner(of))
    return [obj for obj in _that_touch(scene)
            if is_collider(obj) and obj not in parts and any(wants(body, obj) for body in bodies)]


def _moving_parts(mechanism: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the rigid bodies with which a mechanism pushes soft bodies: as colliders they would remain at their
    start."""
    collection = mechanism.conjac.mechanism.collection if is_mechanism(mechanism) else None
    if collection is None or not touches_soft(mechanism):
        return []
    return [part for part in collection.all_objects if part.rigid_body is not None and part.rigid_body.type == "ACTIVE"]


def shared_settings(obj: bpy.types.Object) -> bpy.types.PropertyGroup:
    """Return the settings that apply to everything baked together with an object: solver, time and ground."""
    settings: bpy.types.PropertyGroup = owner(obj).conjac
    return settings


def title(of: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Return the name of a bake: that of its object, or of the soft bodies that touch each other."""
    names = [obj.name for obj in soft_bodies(of, scene)] if is_soft_body(of) else [of.name]
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def _scene_of(obj: bpy.types.Object) -> bpy.types.Scene | None:
    """Return the scene that an object is simulated in: the present one, if it is in it."""
    present = bpy.context.scene
    if present is not None and present.objects.get(obj.name) == obj:
        return present
    return next((scene for scene in obj.users_scene if scene.session_uid not in passing), None)


#: by session_uid of a scene: what it was, and the session_uids of what may touch in it
_seen: dict[int, tuple[tuple[int, int], frozenset[int]]] = {}


#: the same while nothing can change: the objects themselves
_moment: dict[int, list[bpy.types.Object]] | None = None


@contextmanager
def at_one_moment() -> Iterator[None]:
    """Context in which nothing changes, so that each query is answered once and cached. For drawing a panel."""
    global _moment
    before, _moment = _moment, {}
    try:
        yield
    finally:
        _moment = before


def _that_touch(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return the colliding soft bodies, the colliders of a scene and the mechanisms that push soft bodies, in its
    order, and possibly former ones.

    Cached until a change, since panels ask many times a redraw, and testing each of thousands of objects takes long.
    `at_one_moment` also saves the loop over them.
    """
    if _moment is None:
        return _look_up(scene)
    if scene.session_uid not in _moment:
        _moment[scene.session_uid] = _look_up(scene)
    return _moment[scene.session_uid]


def _look_up(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    objects = scene.objects
    change = changes.count(), len(objects)
    known = _seen.get(scene.session_uid)
    if known is None or known[0] != change:
        known = change, frozenset(obj.session_uid for obj in objects
                                  if collides(obj) or is_collider(obj) or touches_soft(obj))
        _seen[scene.session_uid] = known
    return [obj for obj in objects if obj.session_uid in known[1]]


#: by session_uid of a scene and what follows its frames: when it was looked at, and session_uids of whose does
_follow: dict[tuple[int, str], tuple[tuple[int, int], frozenset[int]]] = {}


def shows_contact(obj: bpy.types.Object) -> bool:
    """Whether the attributes of its contact forces follow the frames."""
    return collides(obj) and bool(obj.conjac.contact.attributes_follow)


def shows_stress(obj: bpy.types.Object) -> bool:
    """Whether its bake keeps stress, stretch, pressure and speed."""
    return is_soft_body(obj) and bool(obj.conjac.stress_output) and not is_sharp(obj)


def followers(scene: bpy.types.Scene, does: Callable[[bpy.types.Object], bool] = shows_contact
              ) -> list[bpy.types.Object]:
    """Return the objects with attributes that follow the frames: of contact or, with `shows_stress`, of stress. Looked
    up where something has changed, since it is asked at every frame, of scenes without any too."""
    moment, key = (changes.count(), len(scene.objects)), (scene.session_uid, does.__name__)
    known = _follow.get(key)
    if known is None or known[0] != moment:
        # a look at `conjac` would put its settings into objects that have none
        known = moment, frozenset(obj.session_uid for obj in scene.objects
                                  if obj.is_property_set("conjac") and does(obj))
        _follow[key] = known
    return [obj for obj in scene.objects if obj.session_uid in known[1]] if known[1] else []


def _touching(obj: bpy.types.Object, scene: bpy.types.Scene | None) -> list[bpy.types.Object]:
    """The soft bodies of a scene that touch one, or one that does, and so on, itself among them, in the scene's order.
    """
    left = [other for other in _that_touch(scene) if collides(other) and mechanism_of(other) is None] if scene else []
    if obj not in left:
        return [obj]
    if all(other.conjac.contact.collides_with == kinds.ALL for other in left):
        return left
    order, ahead = {other: place for place, other in enumerate(left)}, [obj]
    left.remove(obj)
    found = [obj]
    while ahead:
        body = ahead.pop()
        near = [other for other in left if touch(body, other)]
        left = [other for other in left if other not in near]
        found += near
        ahead += near
    return sorted(found, key=order.__getitem__)


def _mechanism_at(bodies: list[bpy.types.Object], scene: bpy.types.Scene | None) -> bpy.types.Object | None:
    """Return the first mechanism of a scene that any of these soft bodies touches."""
    there = [mechanism for mechanism in _that_touch(scene) if touches_soft(mechanism)] if scene is not None else []
    return next((mechanism for mechanism in there if any(wants(body, mechanism) for body in bodies)), None)


def _free_at(mechanism: bpy.types.Object, scene: bpy.types.Scene) -> set[bpy.types.Object]:
    """Return the soft bodies without a mechanism that are baked with this one."""
    left = {body for body in _that_touch(scene) if collides(body) and mechanism_of(body) is None}
    found: set[bpy.types.Object] = set()
    while left:
        together = _touching(next(iter(left)), scene)
        left.difference_update(together)
        if _mechanism_at(together, scene) == mechanism:
            found.update(together)
    return found


def taken(mechanism: bpy.types.Object, scene: bpy.types.Scene) -> list[tuple[bpy.types.Object, bpy.types.Object]]:
    """Soft bodies that would touch a mechanism and are baked with another one, and that one."""
    if not touches_soft(mechanism):
        return []
    return [(body, first) for body in _that_touch(scene) if collides(body) and wants(body, mechanism)
            and is_mechanism(first := owner(body)) and first != mechanism]


def holding(mechanism: bpy.types.Object) -> set[str]:
    """Return names of the bones or objects of a mechanism to which soft bodies are attached."""
    now_called = part_identity.renamed(mechanism)
    return {now_called(attachment.part) for obj in bpy.data.objects if is_soft_body(obj)
            for attachment in obj.conjac.attachments if attachment.object == mechanism}


def moves_dynamic_nodes(obj: bpy.types.Object) -> bool:
    """Whether only dynamic nodes swing: not where every node does."""
    holder, shared = owner(obj), shared_settings(obj)
    method = (holder if is_mechanism(holder) else obj).conjac.solver.method
    return bool(catalogue.find("method", method).follows
                and not catalogue.find("integrator", shared.solver.integrator).why_not("quasistatic"))
