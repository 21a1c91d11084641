"""Changes of single soft bodies since they were baked together, as far as those of some leave others as they are."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import identity, members
from .. import settings as properties
from . import placed, stale

Boxes = tuple[NDArray[np.float64], NDArray[np.float64]]

#: of the smaller of two bodies: the solver solves what starts nearer together from the start
ROOM = 1.05

#: what an object that is baked alone says once for all, and several each for itself
_FAMILIES, _SIZES = ("method", "integrator", "stage_solver"), ("step", "largest_deformation")


class Groups(NamedTuple):
    """Groups of a bake, by the number of the soft body in it."""

    labels: NDArray[np.int32]  #: at the last frame, (t,): equal of bodies that were solved together
    boxes: Boxes  #: around each body at the first frame, (t, 3) [m]


class Beside(NamedTuple):
    """How a soft body stands to a bake in which others came, went or changed."""

    is_new: bool = False  #: it is not in the bake
    own: tuple[str, ...] = ()  #: what changed of it: names of settings
    why: str = ""  #: a clause on what changed of it otherwise, or near it: "Cube moved"
    others: tuple[str, ...] = ()  #: names of those that changed or came


def look(one: bpy.types.Object, owner: bpy.types.Object, scene: bpy.types.Scene, folder: Path, groups: Groups,
         reshaped: Iterable[bpy.types.Object]) -> Beside | None:
    """Return how a soft body stands to a bake; None where something changed that counts for all, or nothing did.

    owner: whose bake it is. reshaped: soft bodies that have another mesh than was baked.
    """
    documents = stale.then_and_now(owner, scene, folder)
    if documents is None or members.is_mechanism(owner) or any(one.get("mechanisms") for one in documents):
        return None
    old, now = documents
    soft = members.soft_bodies(owner, scene)
    places = {body.get("uuid"): k for k, body in enumerate(old.get("bodies", ())) if body.get("uuid")}
    was = {obj: places.get(identity.of(obj)) if identity.of(obj) else None for obj in soft}
    if len(soft) == len(places) == 1 or len(places) < len(old.get("bodies", ())) or len(places) > len(groups.labels):
        return None
    baked = sorted((obj for obj in soft if was[obj] is not None), key=lambda obj: was[obj] or 0)
    changes = _settings(old, now, baked, [was[obj] for obj in baked], owner, scene)
    if not baked or changes is None:
        return None
    shared, moved = _moved(old, baked, owner, scene, folder)
    if shared:
        return None
    others = [obj for obj in soft if was[obj] is None or obj in changes or obj in moved or obj in reshaped]
    gone = {*places.values()} - {was[obj] for obj in baked}
    if not others and not gone:
        return None
    if was[one] is None:
        return Beside(is_new=True)
    if one in others:
        return Beside(own=tuple(stale.labels(changes.get(one, ()))), why=" and ".join(moved.get(one, ())))
    together = {k for k in places.values() if groups.labels[k] == groups.labels[was[one]]}
    if together & gone:
        return Beside(why="what is solved with it was removed")
    if met := next((obj for obj in others if was[obj] in together), None):
        what = stale.labels(changes.get(met, ()))
        whose = f'{", ".join(what)} of "{met.name}"' if what else f'"{met.name}"'
        return Beside(why=f"{whose} changed, which is solved with it")
    near = next((obj for obj in others if (was[obj] is None or obj in moved)
                 and _near(obj, groups.boxes, together, properties.unit_scale(scene))), None)
    return Beside(why=f'"{near.name}" came near' if near is not None else "",
                  others=tuple(obj.name for obj in others if obj != near))


def _settings(old: dict[str, Any], now: dict[str, Any], baked: list[bpy.types.Object], was: list[int | None],
              owner: bpy.types.Object, scene: bpy.types.Scene) -> dict[bpy.types.Object, set[str]] | None:
    """Return paths of the settings that changed of each body that is in the bake; None where others did."""
    names = [old["bodies"][k]["name"] for k in was if k is not None], [obj.name for obj in baked]
    if any(_joins(entry) & {*names[1]} and not _joins(entry) <= {*names[1]}
           for family in ("forces", "constraints") for entry in now.get(family, ())):
        return None
    then, present = _among(old, names[0]), _among(now, names[1])
    if ("contact" in then) != ("contact" in present) and not (then.get("obstacles") or present.get("obstacles")):
        for document in (then, present):
            stale.without_contact(document)
    changes: dict[bpy.types.Object, set[str]] = {}
    for path in stale.changed_paths(then, present, owner, scene):
        of_body = re.match(r"bodies\.(\d+)\.", path)
        if of_body is None:
            return None
        changes.setdefault(baked[int(of_body[1])], set()).add(path)
    return changes


def _among(document: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return scene.json of some bodies, in this order, each with all that it would say by itself."""
    found = copy.deepcopy(document)
    bodies = {body["name"]: body for body in found["bodies"]}
    found["bodies"] = [bodies[name] for name in names]
    known = {*names, *(one.get("name") for one in found.get("obstacles", ()))}
    for body in found["bodies"]:
        for family in _FAMILIES:
            body.setdefault(family, found.get(family))
        for size in _SIZES:
            body.setdefault(size, found["time"].get(size))
        if isinstance(body.get("touches"), list):
            body["touches"] = [name for name in body["touches"] if name in known]
    for family in _FAMILIES:
        found.pop(family, None)
    for size in _SIZES:
        found["time"].pop(size, None)
    for family in ("forces", "constraints"):
        if family in found:
            found[family] = [entry for entry in found[family] if _joins(entry) <= {*names}]
    return found


def _joins(entry: dict[str, Any]) -> set[str]:
    """Return the names of the soft bodies of a force or a constraint."""
    return {*entry.get("bodies", ()), *(end["body"] for end in entry.get("ends", ())
                                        if end.get("body") and not end.get("mechanism"))}


def _moved(old: dict[str, Any], baked: list[bpy.types.Object], owner: bpy.types.Object, scene: bpy.types.Scene,
           folder: Path) -> tuple[list[str], dict[bpy.types.Object, list[str]]]:
    """Return what moved, came or went that counts for all, and what did of each body that is in the bake."""
    uuids = [body["uuid"] for body in old["bodies"]]
    leading = old.get("uuid")
    then = [leading, *(uuid for uuid in uuids if uuid != leading)]
    now = members.members(owner, scene)
    numbers = {now.index(obj): then.index(identity.of(obj)) for obj in baked}
    shared, each = placed.moved_bodies(owner, scene, folder, numbers)
    return shared, {now[k]: said for k, said in each.items() if said}


def _near(obj: bpy.types.Object, boxes: Boxes, tokens: set[int], unit_scale: float) -> bool:
    """Whether an object as it stands now is near one of some bodies at the start of their bake."""
    matrix = np.array(obj.matrix_world)
    corners = (np.array(obj.bound_box) @ matrix[:3, :3].T + matrix[:3, 3]) * unit_scale
    low, high = corners.min(axis=0), corners.max(axis=0)
    own = float(np.linalg.norm(high - low))
    for k in tokens:
        room = ROOM * min(own, float(np.linalg.norm(boxes[1][k] - boxes[0][k]))) + 0.1 * own
        if (boxes[0][k] <= high + room).all() and (boxes[1][k] >= low - room).all():
            return True
    return False
