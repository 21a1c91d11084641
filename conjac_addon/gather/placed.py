"""Positions of all objects of a bake at its first frame, by which a panel detects that one has been moved since.

Only static objects are compared: animated ones would require an evaluation, and the result must not depend on the frame
that the artist looks at.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.job.arrays import Unreadable, read_npy
from .. import members

#: arrays of the job folder that only the add-on reads: what is placed, and its matrices (k, 4, 4) in Blender units
NAMES, MATRICES = "placed_names", "placed_matrices"

#: how far a number of a matrix may be off, as a share of the largest: what Blender's single precision loses
SAME = 1.0e-5

Matrix = NDArray[np.float64]
Placed = TypeVar("Placed")

#: what was last read, by job folder, and when that was written
_known: dict[Path, tuple[int, dict[str, Matrix]]] = {}


def read(obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> dict[str, Matrix]:
    """Return the positions of everything that the bake of an object reads, by its role in the bake."""
    return {what: np.array(item.evaluated_get(depsgraph).matrix_world, dtype=np.float64)
            for what, item in _objects(obj, scene).items()}


def arrays(places: dict[str, Matrix]) -> dict[str, NDArray[Any]]:
    """Return the places as arrays of a job folder."""
    return {NAMES: np.array(list(places), dtype=np.str_), MATRICES: np.array(list(places.values()))}


#: lists of a body's settings whose entries point at objects
_LISTS = ("Handles", "Cuts", "Nails", "Pulls")

#: lists of objects that a mechanism reads, which is the first member
_OF_MECHANISM = ("Collection", "Obstacles")

#: names of what moved, in a sentence
MOST = 3


def moved(obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path) -> list[str]:
    """Return sentences on objects that were moved since the bake was read, as "Cube, Ball moved", and on those that
    were added or removed. Empty if the folder has no positions. Fast: nothing is evaluated."""
    then = _stored(folder)
    if then is None:
        return []
    return _differences(then, _objects(obj, scene))


class Moved(NamedTuple):
    """Clauses as of `moved`, by the objects that they are about."""

    shared: list[str]  #: of what counts for all that is baked
    members: dict[int, list[str]]  #: of each member with what it points at, by its number now
    colliders: dict[int, list[str]]  #: of each collider, likewise


def moved_apart(obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path, numbers: Mapping[int, int],
                colliders: Mapping[int, int]) -> Moved:
    """Return the objects that were moved since the bake was read, with the owner of each. numbers, colliders: present
    number of each member and each collider → number when the bake was read."""
    then = _stored(folder)
    if then is None:
        return Moved([], {}, {})
    now = _objects(obj, scene)

    def of(kind: str, pairs: Mapping[int, int]) -> dict[int, list[str]]:
        return {number: _differences(_read_for(then, (kind, was)), _read_for(now, (kind, number)))
                for number, was in pairs.items()}

    return Moved(_differences(_read_for(then, None), _read_for(now, None)), of("member", numbers),
                 of("collider", colliders))


def _read_for(places: Mapping[str, Placed], whose: tuple[str, int] | None) -> dict[str, Placed]:
    """Return the positions that are read for a member or a collider, by role without its number; for None, those that
    all share."""
    return {what if whose is None else _in_list(what): placed
            for what, placed in places.items() if _whose(what) == whose}


def _whose(what: str) -> tuple[str, int] | None:
    """Return kind and number of the owner of a name; None for data that all share."""
    words = what.split(" ")
    if words[0] in _OF_MECHANISM:
        return "member", 0
    if words[0] == "Colliders":
        return "collider", int(words[1])
    return ("member", int(words[1])) if words[0] in ("Body", "Follow", *_LISTS) else None


def _in_list(what: str) -> str:
    """Return the role of an object for its member, independent of the member's number."""
    words = what.split(" ")
    return what if words[0] in _OF_MECHANISM else " ".join([words[0], *words[2:]])


def _differences(then: Mapping[str, Matrix], now: Mapping[str, bpy.types.Object]) -> list[str]:
    """Return in words which objects moved, and which were added or removed."""
    changed = set()
    for what in then.keys() & now.keys():
        here = np.array(now[what].matrix_world, dtype=np.float64)
        near = np.abs(here - then[what]).max() <= SAME * max(np.abs(then[what]).max(), 1.0e-9)
        if not near and not may_move(now[what]):
            changed.add(now[what].name)
    names = sorted(changed)
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    phrases = [f"{', '.join(names[:MOST])}{more} moved"] if names else []
    for verb, whats in (("added", now.keys() - then.keys()), ("removed", then.keys() - now.keys())):
        phrases += [f"{list_name} were {verb}" for list_name in sorted({_list_of(what) for what in whats})]
    return phrases


def may_move(obj: bpy.types.Object) -> bool:
    """Whether the transform of an object may depend on the frame, by itself or through another object."""
    data = obj.animation_data
    if data is not None and (data.action is not None or len(data.drivers) or len(data.nla_tracks)):
        return True
    if len(obj.constraints) or obj.rigid_body is not None:
        return True
    return obj.parent is not None and (obj.parent_type != "OBJECT" or may_move(obj.parent))


def _stored(folder: Path) -> dict[str, Matrix] | None:
    """Return the places in a job folder; None where it has none."""
    try:
        written = (folder / "scene.json").stat().st_mtime_ns
        known = _known.get(folder)
        if known is not None and known[0] == written:
            return known[1]
        names, matrices = (read_npy(folder / "arrays" / f"{name}.npy", folder) for name in (NAMES, MATRICES))
    except (OSError, Unreadable):
        return None
    if names.ndim != 1 or matrices.shape != (len(names), 4, 4) or matrices.dtype.kind != "f":
        return None
    found = dict(zip(names.tolist(), matrices))
    _known[folder] = written, found
    return found


def _objects(obj: bpy.types.Object, scene: bpy.types.Scene) -> dict[str, bpy.types.Object]:
    """Return all objects whose positions the bake reads, by their role in it, since names may change."""
    found: dict[str, bpy.types.Object | None] = {}
    for k, member in enumerate(members.members(obj, scene)):
        settings = member.conjac
        found |= {f"Body {k}": member, f"Follow {k}": settings.follow_object}
        for word in _LISTS:
            found |= {f"{word} {k} {number}": entry.object
                      for number, entry in enumerate(getattr(settings, word.lower()))}
    found |= {f"Colliders {number}": collider for number, collider in enumerate(members.colliders(obj, scene))}
    if obj.conjac.use_ground:
        found["Ground"] = obj.conjac.ground_object
    for word in ("collection", "obstacles") if members.is_mechanism(obj) else ():
        collection = getattr(obj.conjac.mechanism, word)
        if collection is not None and (word == "obstacles" or obj.type == "EMPTY"):
            found |= {f"{word.title()} {number}": part for number, part in enumerate(collection.all_objects)}
    return {what: item for what, item in found.items() if item is not None}


def _list_of(what: str) -> str:
    """Return the artist's name of the list that an entry is in."""
    word = what.partition(" ")[0]
    return {"Body": "Soft Bodies", "Collection": "Rigid Bodies"}.get(word, word)
