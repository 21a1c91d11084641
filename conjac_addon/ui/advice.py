"""Advice on faults that a bake would show, and the buttons that mend them: nothing wobbles, it falls for ever, too few
vertices.

Looking at weights takes time, so a timer looks, after a panel was drawn; drawing only shows what was last found.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import bpy

from ...solver import catalogue
from ...solver.errors import BadInput
from .. import kinds, members
from ..bake import place
from ..gather import animated, count_at_mark, read_by_itself, sources
from ..gather.maps import PAINTED
from ..gather.placed import may_move
from ..gather.stack import REWEIGH, above
from ..handles import counts
from ..operators.first_settings import has_floor
from ..operators.remedies import instanced, lowest, sunk, unmet, unnoticed
from ..playback.simulate_after import RIGS
from ..redraw import redraw_panels
from ..settings import is_chosen, unit_scale
from . import painted_state, through_itself
from .smoothed import smoother

#: a mesh of fewer vertices is called too coarse to be seen bending: a cube with four cuts an edge has more
FEW = 60

#: of its largest dimension: what is thinner is a sheet
FLAT = 1.0e-5

#: of a body's largest dimension: a ground that lies no deeper is where it seems to be
SUNK = 0.01

#: of the slowest wobble [Hz]: a constrained body that is slower hangs down by more than it swings
SLACK = 1.0

#: of a bake's frames: so many with shorter steps are worth a sentence
MANY = 0.25

#: channels that keyframes of an object's transform change
TRANSFORMS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale", "delta_location",
              "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale")

#: gravity of a new scene, as Blender keeps it: in its own units, so it is in m/s² where one of these is a metre
BLENDERS = 9.81

#: seconds for which what was found is believed, and at least so many times what the look took
FRESH, TIMES = 0.5, 20.0

#: seconds after which an object that is shown no more is forgotten
FORGOTTEN = 60.0


@dataclass(frozen=True)
class Advice:
    """One sentence for the status box."""

    key: str
    text: str  #: without a full stop
    operator: str = ""  #: the remedy
    button: str = ""


_found: dict[int, tuple[float, tuple[Advice, ...]]] = {}  #: by session_uid: until when it is believed, what was found
_shown: dict[int, float] = {}  #: by session_uid: when a panel last showed it


def known(obj: bpy.types.Object) -> tuple[Advice, ...]:
    """Return the cached advice on an object, empty before it was first examined; a timer updates it."""
    until, advice = _found.get(obj.session_uid, (0.0, ()))
    _shown[obj.session_uid] = time.monotonic()
    # a background Blender has no panels to draw
    if not bpy.app.background and not bpy.app.timers.is_registered(look):
        bpy.app.timers.register(look, first_interval=max(0.02, until - time.monotonic()))
    return advice


def is_quasistatic(obj: bpy.types.Object) -> bool:
    """Whether no dynamic node is known; before the object is examined, by the names of its groups alone."""
    if obj.session_uid in _found:
        return any(entry.key == "wobble" for entry in known(obj))
    return (members.moves_dynamic_nodes(obj) and not len(obj.conjac.handles)
            and obj.conjac.dynamic_group not in obj.vertex_groups)


def look() -> None:
    """Examine the objects that panels have shown, and redraw the panels if there are changes."""
    now, changed = time.monotonic(), False
    objects = {obj.session_uid: obj for obj in bpy.data.objects if obj.session_uid in _shown}
    for uid, when in list(_shown.items()):
        if uid not in objects or now - when > FORGOTTEN:
            _shown.pop(uid)
            _found.pop(uid, None)
            painted_state.forget(uid)
            continue
        _, before = _found.get(uid, (0.0, ()))
        began = time.monotonic()
        advice = tuple(look_at(objects[uid], bpy.context.scene))
        changed |= painted_state.update(objects[uid])
        ended = time.monotonic()
        _found[uid] = ended + max(FRESH, TIMES * (ended - began)), advice
        changed |= advice != before
    if changed:
        redraw_panels()


def look_at(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[Advice]:
    """Yield the faults of a bake of the object. Reads its weights, so never while a panel is drawn."""
    if is_pulled(scene) and unit_scale(scene) != 1.0 and abs(scene.gravity.length - BLENDERS) < 0.01:
        yield Advice("slow", f"At this scene's Unit Scale gravity is {BLENDERS * unit_scale(scene):.3g} m/s² and not "
                     f"{BLENDERS}: see Forces")
    if members.is_soft_body(obj):
        if ignored := read_by_itself.ignored_fields(obj, scene):
            yield Advice("unfelt", f'"{ignored[0].name}" does not move it: the only force field that acts is Wind, '
                         "and only on cloth")
        if members.moves_dynamic_nodes(obj) and has_dynamic_node(obj) is False:
            found = f"A bake puts {obj.conjac.suggestions} dynamic spots where it swings most: it has none of its own"
            text = found if obj.conjac.suggest_spots else "Nothing will wobble: it has no dynamic node"
            yield Advice("wobble", text, "conjac.suggest_handles", "Suggest")
        falls = members.mechanism_of(obj) is None and is_pulled(scene) and is_supported(obj, scene) is False
        if falls and not members.shared_settings(obj).use_ground and not members.colliders(obj, scene):
            yield Advice("falls", "It falls forever: nothing holds it", "conjac.add_ground", "Add Ground")
        if falls and not has_floor(obj, scene):
            if floor := unnoticed(obj, scene):
                yield Advice("through", f'It falls through "{floor[0].name}", which is not a collider', "conjac.land",
                             "Make It a Collider")
            elif shown := instanced(obj, scene):
                yield Advice("instanced", f'It falls through what "{shown[0].name}" shows: an instance is not solid. '
                             "Use Object > Apply > Make Instances Real, then Add Collider")
        if members.collides(obj) and (strange := of_blender(scene)):
            text = f'Blender moves the rigid body "{strange[0].name}" on its own, and it ignores this object'
            parts = [holder.conjac.mechanism.collection for holder in scene.objects if members.is_mechanism(holder)]
            there = next((f'{text}: put it into the collection "{collection.name}"'
                          for collection in parts if collection is not None), "")
            yield Advice("strange", there or text, "" if there else "conjac.mechanism_from_rigid_bodies",
                         "" if there else "Mechanism of Rigid Bodies")
        if is_pulled(scene) and (deep := sunk(obj, scene)) > SUNK * max(*obj.dimensions):
            yield Advice("sunk", f"Its ground lies {deep * unit_scale(scene):.3g} m below the grid: it falls through "
                         "the grid, and the ground does not rise with it", "conjac.level_ground",
                         "Raise Ground to the Grid")
        if is_pulled(scene) and lies(obj, scene):
            yield Advice("lies", "It lies on the ground already: raise it to see it fall")
        unpinned = renamed_pin(obj)
        if not unpinned and is_constrained(obj) is False and is_led(obj):
            yield Advice("unled", "Its own animation has no effect: it moves only pinned vertices, and there are none",
                         "conjac.add_group", "Paint Pin")
        if unpinned:
            yield Advice("unpinned", f'"{unpinned}" pins nothing: under Paint, Pin is the group '
                         f'"{obj.conjac.pin_group}", which does not exist')
        if (hertz := limp(obj, scene)) is not None:
            yield Advice("limp", f"It hangs rather than wobbles: its slowest wobble has {hertz:.2g} Hz",
                         "conjac.set_wobble", "Set Jiggle")
        if (shortened := halved(obj)) is not None:
            yield Advice("halved", shortened)
        crossing, examined = through_itself.frames(obj)
        if crossing:
            yield Advice("itself", f"It goes through itself in {crossing} of {examined} baked frames: Self "
                         "Collision prevents this", "conjac.collide_with_itself", "Switch On Self Collision")
        if (after := smoother(obj, scene)) is not None:
            yield Advice("smoothed", f'"{after.name}" smooths the simulated shape into what it touches',
                         "conjac.simulate_after", f"Simulate After {after.name}")
        count = count_at_mark(obj)
        if is_flat(obj):
            yield Advice("flat", "It is flat, so it has no inside to fill", "conjac.turn_into_cloth",
                         "Turn Into Cloth")
        elif count is not None and count < FEW:
            yield Advice("coarse", f"Only {count} vertices: too few to bend visibly", "conjac.subdivide",
                         "Subdivide")
        if obj.conjac.contact.collides_with == kinds.NOTHING:
            yield from _touching_nothing(obj, scene)
    elif members.is_mechanism(obj):
        settings = obj.conjac
        if is_pulled(scene) and not settings.use_ground and settings.mechanism.obstacles is None \
                and hangs_free(obj) and not stands_on_flesh(obj, scene):
            yield Advice("falls", "It falls forever: nothing holds it", "conjac.add_ground", "Add Ground")
        for body, first in members.taken(obj, scene)[:1]:
            yield Advice("taken", f'"{body.name}" goes through it: it is baked with "{first.name}", and a soft body '
                         "can touch only one mechanism")
    yield from _passed(obj, scene)


def _touching_nothing(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[Advice]:
    """Yield advice on a soft body that passes through other objects because it collides with nothing."""
    others = [other for other in scene.objects if other != obj]
    if members.mechanism_of(obj) is not None:
        # a character's flesh is meant to be quick: only what its bones may be stopped by is reported
        if any(members.is_collider(other) for other in others):
            yield Advice("apart", "It passes through colliders, even those that stop its bones: see Collides With")
    elif any(members.is_soft_body(other) or members.is_collider(other) for other in others):
        yield Advice("apart", "It passes through other soft bodies and colliders", "conjac.collide", "Collide With All")


def _passed(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[Advice]:
    """Yield advice on objects that soft bodies lie on and bones and rigid bodies of the bake go through."""
    full, hollow = unmet(obj, scene)
    if full:
        named = (", ".join(f'"{passed.name}"' for passed in full[:2])
                 + (f" and {len(full) - 2} more" if full[2:] else ""))
        yield Advice("passed", f"Bones and rigid bodies pass through {named}: a collider, but not an obstacle",
                     "conjac.add_obstacles", "Make Obstacles" if full[1:] else "Make It an Obstacle")
    if hollow:
        yield Advice("hollow", f'Bones and rigid bodies pass through "{hollow[0].name}": it is hollow, so give '
                     "Obstacles convex pieces of it")


def is_pulled(scene: bpy.types.Scene) -> bool:
    """Whether gravity acts."""
    return bool(scene.use_gravity and scene.gravity.length > 0.0)


def has_dynamic_node(obj: bpy.types.Object) -> bool | None:
    """Whether a handle or a painted spot picks one; None where only an evaluation could tell."""
    layer = bpy.context.view_layer
    if any(counts(handle.object, layer) for handle in obj.conjac.handles):
        return True
    painted = [is_painted(obj, "dynamic"), *(is_group_painted(obj, spot.group, True) for spot in obj.conjac.spots)]
    return True if True in painted else None if None in painted else False


def is_flat(obj: bpy.types.Object) -> bool:
    """Whether a soft body is planar and the artist has not set its thickness."""
    return (members.is_volume(obj) and not obj.conjac.sheet_thickness and not above(obj)
            and min(*obj.dimensions) < FLAT * max(*obj.dimensions))


def is_constrained(obj: bpy.types.Object) -> bool | None:
    """Whether a pin, a bone or a nail holds it; None if that requires an evaluation."""
    settings = obj.conjac
    if any(entry.object is not None for entry in (*settings.nails, *settings.attachments)):
        return True
    return is_painted(obj, "pin", 0.0 if members.has_soft_pins(obj) else PAINTED)


def is_supported(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool | None:
    """Whether a soft body is constrained, or welds and constraints tie it, also by way of other soft bodies, to one
    that is or to what is no soft body; None if that requires an evaluation."""
    ties: dict[bpy.types.Object, set[bpy.types.Object]] = {}
    for body in filter(members.is_soft_body, scene.objects):
        for tie in (*body.conjac.welds, *body.conjac.constraints):
            if tie.object is not None:
                ties.setdefault(body, set()).add(tie.object)
                ties.setdefault(tie.object, set()).add(body)
    found, reached, left = set[bool | None](), {obj}, [obj]
    while left:
        body = left.pop()
        found.add(is_constrained(body) if members.is_soft_body(body) else True)
        left += ties.get(body, set()) - reached
        reached |= ties.get(body, set())
    return True if True in found else None if None in found else False


def limp(obj: bpy.types.Object, scene: bpy.types.Scene) -> float | None:
    """Return the slowest wobble [Hz] of a pinned body whose weight bends it by more than it swings; None if it was not
    baked yet, or not with its present stiffness."""
    if not members.is_volume(obj) or not is_pulled(scene) or not is_constrained(obj):
        return None
    found = place.of(obj)
    cache = place.cache_of(found.folder)
    hertz = cache.diagnostics.frequencies().get(obj.name) if found.own else None
    if hertz is None or hertz >= SLACK or cache.manifest is None:
        return None
    baked = next(body for body in cache.manifest["scene"]["bodies"] if body["name"] == obj.name)["material"]
    now = getattr(obj.conjac, catalogue.YOUNGS_MODULUS.key)
    return hertz if baked.get("params", {}).get(catalogue.YOUNGS_MODULUS.key) == now else None


def halved(obj: bpy.types.Object) -> str | None:
    """Return a sentence, without a full stop, on the body of a bake that shortened the steps of many frames, with a
    remedy; None if few were shortened."""
    cache = place.cache_of(place.of(obj).folder)
    found, done = cache.diagnostics.count_halved_frames(), len(cache.frames_done())
    if not done or found.count < MANY * done:
        return None
    named = f'"{found.body}"' if found.body else "what moves fast"
    return (f"Slow to bake: {found.count} of {done} frames took shorter steps, most for {named}. A larger Edge Length, "
            "a higher Young's Modulus or slower motion makes it faster")


def lies(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether a body begins on its ground, and nothing else is there that would move it."""
    settings, shared = obj.conjac, members.shared_settings(obj)
    if not shared.use_ground or shared.ground_object is not None or len(members.members(obj, scene)) > 1:
        return False
    moved = (settings.pulls, settings.nails, settings.cuts, settings.attachments, above(obj),
             read_by_itself.fields(obj, scene))
    if any(map(len, moved)) or obj.data.shape_keys is not None or settings.fiber_material != "none":
        return False
    if is_supported(obj, scene) is not False or any(may_move(other) for other in (obj, *members.colliders(obj, scene))):
        return False
    return abs(lowest(obj, scene) - shared.ground_height) <= 1.0e-3 * max(*obj.dimensions)


def of_blender(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Rigid bodies that Blender's own simulation moves, and no mechanism."""
    ours = {part for mechanism in scene.objects
            if members.is_mechanism(mechanism) and mechanism.conjac.mechanism.collection is not None
            for part in mechanism.conjac.mechanism.collection.all_objects}
    return [obj for obj in scene.objects if obj.rigid_body is not None and obj.rigid_body.type == "ACTIVE"
            and not obj.rigid_body.kinematic and obj not in ours and obj.visible_get()]


def is_led(obj: bpy.types.Object) -> bool:
    """Whether an object moves or deforms before the simulation."""
    keys = obj.data.shape_keys
    if any(animated.is_animated(obj, path) for path in TRANSFORMS):
        return True
    # absolute ones play a bake
    if keys is not None and keys.use_relative and any(
            animated.is_animated(keys, key.path_from_id("value")) for key in keys.key_blocks[1:]):
        return True
    movers = [obj.parent, *(getattr(constraint, "target", None) for constraint in obj.constraints),
              *(getattr(modifier, "object", None) for modifier in above(obj) if modifier.type in RIGS)]
    return any(mover is not None and may_move(mover) for mover in movers)


def renamed_pin(obj: bpy.types.Object) -> str | None:
    """Return a group that resembles the missing pin group, probably renamed; None if the map has its group, or no group
    resembles it."""
    name = obj.conjac.pin_group
    if not name or name in obj.vertex_groups or name in obj.data.attributes:
        return None
    used = {getattr(obj.conjac, f"{key}_group", "") for key in catalogue.maps()} | {
        entry.group for entry in (*obj.conjac.attachments, *obj.conjac.spots, *obj.conjac.welds)}
    return next((group.name for group in obj.vertex_groups
                 if name.casefold() in group.name.casefold() and group.name not in used), None)


def is_painted(obj: bpy.types.Object, key: str, least: float = PAINTED) -> bool | None:
    """Whether a map is above `least` anywhere; None where only an evaluation could tell."""
    return is_group_painted(obj, getattr(obj.conjac, f"{key}_group"), is_chosen(obj.conjac, catalogue.maps()[key]),
                            getattr(obj.conjac, f"{key}_invert"), least)


def is_group_painted(obj: bpy.types.Object, name: str, chosen: bool, inverted: bool = False,
                     least: float = PAINTED) -> bool | None:
    """Whether a group or an attribute, or 1 minus it where it is inverted, is above `least` anywhere; None where only
    an evaluation could tell. chosen: whether the artist has named it."""
    mesh = obj.data
    if any(modifier.type in REWEIGH for modifier in above(obj)) and (name in obj.vertex_groups or chosen):
        return None
    attribute = mesh.attributes.get(name) if name else None
    if attribute is not None and attribute.domain == "POINT" and attribute.data_type == "FLOAT":
        return any((1.0 - weight.value if inverted else weight.value) > least for weight in attribute.data)
    group: bpy.types.VertexGroup | None = obj.vertex_groups.get(name)
    if group is None:
        return False
    if inverted:  # what is outside of the group has no weight, which counts as 1
        full = sum(element.group == group.index and element.weight >= 1.0 - least
                   for vertex in mesh.vertices for element in vertex.groups)
        return full < len(mesh.vertices)
    return any(element.group == group.index and element.weight > least
               for vertex in mesh.vertices for element in vertex.groups)


def stands_on_flesh(mechanism: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether soft bodies attached to a mechanism collide with colliders, as tyres do."""
    below = members.colliders(mechanism, scene)
    return any(members.mechanism_of(body) == mechanism and members.collides(body)
               and any(members.wants(body, carrier) for carrier in below)
               for body in members.soft_bodies(mechanism, scene))


def hangs_free(mechanism: bpy.types.Object) -> bool:
    """Whether nothing holds any part of a mechanism, nor moves it by animation."""
    if any(not (spring.first and spring.second) for spring in mechanism.conjac.mechanism.springs):
        return False  # a spring to the world
    try:
        plan, _ = sources.plan(mechanism)
    except BadInput:
        return False  # the bake reports the error
    return all(bone.joint is None and not bone.animated for bone in plan if bone.parent is None)


def unregister() -> None:
    """Remove the timer and the cached advice."""
    if bpy.app.timers.is_registered(look):
        bpy.app.timers.unregister(look)
    _found.clear()
    _shown.clear()
    painted_state.forget()
