"""Changes of single objects since they were baked together, as far as those of some leave others as they are."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.frames.swept import Swept
from .. import identity, members
from .. import settings as properties
from . import placed, stale

Corners = tuple[NDArray[np.float64], NDArray[np.float64]]

#: of the smaller of two bodies: the solver solves what starts nearer together from the start
ROOM = 1.05

#: what an object that is baked alone says once for all, and several each for itself
_FAMILIES, _SIZES = ("method", "integrator", "stage_solver"), ("step", "largest_deformation")

#: paths of scene.json, and words for them, that only mechanisms read
_OF_MECHANISMS = re.compile(r"(mechanisms?|bones|rigid_bodies|joint_friction)\b")


class Groups(NamedTuple):
    """Groups of a bake, by the number of the soft body in it; all mechanisms are the one after the last of these."""

    labels: NDArray[np.int32]  #: at the last frame, (t,): equal of bodies that were solved together
    start: Swept  #: boxes around them at the first frame [m]
    swept: Callable[[], Swept]  #: through all frames
    obstacles: Callable[[], Mapping[str, Corners]]  #: boxes around all places of each [m], by name


class Beside(NamedTuple):
    """Relation of a soft body or a mechanism to a bake from which other objects differ."""

    is_new: bool = False  #: it is not in the bake
    own: tuple[str, ...] = ()  #: what changed of it: names of settings
    why: str = ""  #: a clause on what changed of it otherwise, or near it: "Cube moved"
    others: tuple[str, ...] = ()  #: names of the changed and added objects, and those near them


class _Changes(NamedTuple):
    """Differences from a bake that do not count for all of it."""

    settings: dict[bpy.types.Object, set[str]]  #: paths in scene.json, of members
    moved: dict[bpy.types.Object, list[str]]  #: clauses, of members
    colliders: dict[str, str]  #: a clause on each that came, went or changed, by its name then or now


def look(one: bpy.types.Object, owner: bpy.types.Object, scene: bpy.types.Scene, folder: Path, groups: Groups,
         reshaped: Iterable[bpy.types.Object]) -> Beside | None:
    """Return how a soft body or a mechanism stands to a bake; None where something changed that counts for all, or
    nothing did.

    owner: whose bake it is. reshaped: soft bodies that have another mesh than was baked.
    """
    documents = stale.then_and_now(owner, scene, folder)
    if documents is None:
        return None
    old, now = documents
    soft = members.soft_bodies(owner, scene)
    places = {body.get("uuid"): k for k, body in enumerate(old.get("bodies", ())) if body.get("uuid")}
    was = {obj: places.get(identity.of(obj)) if identity.of(obj) else None for obj in soft}
    if members.is_mechanism(owner):
        was[owner] = len(places)
    if len(places) < len(old.get("bodies", ())) or len(places) + members.is_mechanism(owner) > len(groups.labels):
        return None
    baked = sorted((obj for obj in was if was[obj] is not None), key=lambda obj: was[obj] or 0)
    changes = _changes(old, now, baked, [was[obj] for obj in baked], owner, scene, folder)
    if not baked or changes is None or len(was) == len(groups.labels) == 1 and not changes.colliders:
        return None
    others = [obj for obj in was if was[obj] is None or obj in changes.settings or obj in changes.moved
              or obj in reshaped]
    gone = {*places.values()} - {was[obj] for obj in baked}
    if not (others or gone or changes.colliders):
        return None
    if was[one] is None:
        return Beside(is_new=True)
    if one in others:
        return Beside(own=tuple(stale.labels(changes.settings.get(one, ()))),
                      why=" and ".join(changes.moved.get(one, ())))
    near = {} if not changes.colliders else _near_colliders(changes.colliders, groups, owner, scene)
    why, met = _why_stale(was[one], others, was, gone, near, changes, groups, properties.unit_scale(scene))
    near_others = [obj for obj in was if obj not in (one, *others)
                   and any(groups.labels[was[obj]] == groups.labels[token] for token in near)]
    return Beside(why=why, others=tuple(obj.name for obj in (*others, *near_others) if obj != met))


def _why_stale(number: int | None, others: list[bpy.types.Object], was: Mapping[bpy.types.Object, int | None],
               gone: set[int | None], near: Mapping[int, str], changes: _Changes, groups: Groups, unit_scale: float
               ) -> tuple[str, bpy.types.Object | None]:
    """Return a clause on why a body that has not changed is stale, "" where it is not, and who it is about.

    number: of the body in the bake. near: clauses on colliders that changed, by the number of a body that is near one.
    """
    together = {k for k in range(len(groups.labels)) if groups.labels[k] == groups.labels[number]}
    if together & gone:
        return "what is solved with it was removed", None
    if met := next((obj for obj in others if was[obj] in together), None):
        what = stale.labels(changes.settings.get(met, ()))
        whose = f'{", ".join(what)} of "{met.name}"' if what else f'"{met.name}"'
        return f"{whose} changed, which is solved with it", met
    if came := next((obj for obj in others if (was[obj] is None or obj in changes.moved)
                     and _near(obj, groups.start, together, unit_scale)), None):
        return f'"{came.name}" came near', came
    return next((near[token] for token in sorted(together & near.keys())), ""), None


def _changes(old: dict[str, Any], now: dict[str, Any], baked: list[bpy.types.Object], was: list[int | None],
             owner: bpy.types.Object, scene: bpy.types.Scene, folder: Path) -> _Changes | None:
    """Return the changes of each object in the bake and of colliders; None if anything shared has changed."""
    colliders = members.colliders(owner, scene)
    then = [obstacle.get("name", "") for obstacle in old.get("obstacles", ())]
    numbers = {k: then.index(collider.name) for k, collider in enumerate(colliders) if collider.name in then}
    moved = placed.moved_apart(owner, scene, folder, _numbers(old, baked, owner, scene), numbers)
    settings = _settings(old, now, baked, was, owner, scene)
    if settings is None or moved.shared:
        return None
    all_members = members.members(owner, scene)
    of_colliders = _obstacles(old, now) | {colliders[k].name: " and ".join(changed)
                                           for k, changed in moved.colliders.items() if changed}
    of_members = {all_members[k]: changed for k, changed in moved.members.items() if changed}
    return _Changes(settings, of_members, of_colliders)


def _settings(old: dict[str, Any], now: dict[str, Any], baked: list[bpy.types.Object], was: list[int | None],
              owner: bpy.types.Object, scene: bpy.types.Scene) -> dict[bpy.types.Object, set[str]] | None:
    """Return paths of the settings that changed of each object that is in the bake; None where others did."""
    bodies = [obj for obj in baked if obj != owner or members.is_soft_body(owner)]
    names = [old["bodies"][k]["name"] for k in was[:len(bodies)] if k is not None], [obj.name for obj in bodies]
    if any(_joins(entry) & {*names[1]} and not _joins(entry) <= {*names[1]}
           for family in ("forces", "constraints") for entry in now.get(family, ())):
        return None
    met = ({obstacle.get("name") for obstacle in old.get("obstacles", ())}
           & {obstacle["name"] for obstacle in now.get("obstacles", ())})
    met |= {mechanism.get("name") for mechanism in now.get("mechanisms", ())}
    then, present = _among(old, names[0], met), _among(now, names[1], met)
    if ("contact" in then) != ("contact" in present) and not (old.get("obstacles") or now.get("obstacles")):
        for document in (then, present):
            stale.without_contact(document)
    changes: dict[bpy.types.Object, set[str]] = {}
    for path in stale.changed_paths(then, present, owner, scene):
        of_body = re.match(r"bodies\.(\d+)\.", path)
        if of_body is None and not (members.is_mechanism(owner) and _OF_MECHANISMS.match(path)):
            return None
        changes.setdefault(owner if of_body is None else bodies[int(of_body[1])], set()).add(path)
    for obj, name, called in zip(bodies, names[0], names[1]):
        if _has_contact(old, name) != _has_contact(now, called):
            changes.setdefault(obj, set()).add("bodies.0.touches")
    if members.is_mechanism(owner):  # it moves by settings of the scene
        changed = {key for key in _FAMILIES if old.get(key) != now.get(key)}
        changed |= {f"time.{key}" for key in _SIZES if old["time"].get(key) != now["time"].get(key)}
        if changed:
            changes.setdefault(owner, set()).update(changed)
    return changes


def _among(document: dict[str, Any], names: list[str], met: set[str | None]) -> dict[str, Any]:
    """Return scene.json of some bodies, in this order, each as if it were baked alone, without obstacles. met: names of
    the others that it may touch."""
    found = copy.deepcopy(document)
    bodies = {body["name"]: body for body in found["bodies"]}
    found["bodies"] = [bodies[name] for name in names]
    found.pop("obstacles", None)
    for body in found["bodies"]:
        for family in _FAMILIES:
            body.setdefault(family, found.get(family))
        for size in _SIZES:
            body.setdefault(size, found["time"].get(size))
        if isinstance(body.get("touches"), list):
            body["touches"] = [name for name in body["touches"] if name in {*names, *met}]
    for family in _FAMILIES:
        found.pop(family, None)
    for size in _SIZES:
        found["time"].pop(size, None)
    for family in ("forces", "constraints"):
        if family in found:
            found[family] = [entry for entry in found[family] if _joins(entry) <= {*names}]
    return found


def _has_contact(document: dict[str, Any], name: str) -> bool:
    """Whether a body collides with itself or an obstacle by its own settings: else it is solved without contact if
    nothing is near it."""
    if "contact" not in document:
        return False
    obstacles = [obstacle.get("name") for obstacle in document.get("obstacles", ())]
    touches = next(body.get("touches") for body in document["bodies"] if body["name"] == name)
    return touches is None or bool({*touches} & {name, *obstacles})


def _joins(entry: dict[str, Any]) -> set[str]:
    """Return the names of the soft bodies of a force or a constraint."""
    return {*entry.get("bodies", ()), *(end["body"] for end in entry.get("ends", ())
                                        if end.get("body") and not end.get("mechanism"))}


def _obstacles(old: dict[str, Any], now: dict[str, Any]) -> dict[str, str]:
    """Return a clause on each collider that came, went or has other settings, by its name."""
    then, present = ({obstacle.get("name", ""): obstacle for obstacle in document.get("obstacles", ())}
                     for document in (old, now))
    found = {name: f'"{name}" was added' for name in present.keys() - then.keys()}
    found |= {name: f'"{name}" was removed' for name in then.keys() - present.keys()}
    for name in then.keys() & present.keys():
        settings = {f"obstacles.{key}" for key in then[name].keys() | present[name].keys()
                    if not stale.is_read_later(f"obstacles.0.{key}") and then[name].get(key) != present[name].get(key)}
        if settings:
            found[name] = f'{", ".join(stale.labels(settings))} of "{name}" changed'
    return found


def _numbers(old: dict[str, Any], baked: list[bpy.types.Object], owner: bpy.types.Object, scene: bpy.types.Scene
             ) -> dict[int, int]:
    """Return the number of each object of a bake among the members now → then."""
    leading = old.get("uuid")
    then = [leading, *(uuid for body in old["bodies"] if (uuid := body["uuid"]) != leading)]
    now = members.members(owner, scene)
    return {now.index(obj): then.index(identity.of(obj)) for obj in baked if identity.of(obj) in then}


def _near_colliders(changed: Mapping[str, str], groups: Groups, owner: bpy.types.Object, scene: bpy.types.Scene
                    ) -> dict[int, str]:
    """Return the clause on a collider that changed, by the number of each body of the bake that comes near it."""
    colliders = {collider.name: collider for collider in members.colliders(owner, scene)}
    swept, then = groups.swept(), groups.obstacles()
    found: dict[int, str] = {}
    for name, clause in changed.items():
        near = swept.find_near_bodies(*then[name]) if name in then else frozenset[int]()
        if name in colliders and not (name in then and placed.may_move(colliders[name])):
            near |= (frozenset(range(len(groups.labels))) if placed.may_move(colliders[name])
                     else swept.find_near_bodies(*_corners(colliders[name], properties.unit_scale(scene))))
        found |= dict.fromkeys(near, clause)
    return found


def _near(obj: bpy.types.Object, boxes: Swept, tokens: set[int], unit_scale: float) -> bool:
    """Whether an object at its present position is near one of some bodies at the start of their bake."""
    low, high = _corners(obj, unit_scale)
    own, each = float(np.linalg.norm(high - low)), boxes.boxes
    mine = np.isin(each.token, [*tokens])
    room = (ROOM * np.minimum(own, np.linalg.norm(each.high - each.low, axis=1)) + 0.1 * own)[:, None]
    return bool(((each.low - room <= high) & (each.high + room >= low)).all(axis=1)[mine].any())


def _corners(obj: bpy.types.Object, unit_scale: float) -> Corners:
    """Return the corners of a box around an object at present, with the objects of its mechanism [m]."""
    collection = obj.conjac.mechanism.collection if members.is_mechanism(obj) else None
    found = []
    for part in (obj, *(() if collection is None else collection.all_objects)):
        matrix = np.array(part.matrix_world)
        found.append(np.array(part.bound_box) @ matrix[:3, :3].T + matrix[:3, 3])
    corners = np.concatenate(found) * unit_scale
    return corners.min(axis=0), corners.max(axis=0)
