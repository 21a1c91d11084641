"""Painted weights of each map, and how many dynamic spots they make: counted by the advice's timer for the panels."""

from __future__ import annotations

import bpy

from ...solver import catalogue
from ...solver.catalogue import Entry
from .. import members
from ..gather.maps import PAINTED
from ..gather.stack import REWEIGH, above
from ..handles import counts
from ..settings import is_chosen, maps_in_use

Edges = dict[int, list[int]]  #: vertex → those that an edge joins it with

#: maps of which only what is painted above half counts
HALVES = {"pin": "held", "dynamic": "dynamic"}

#: text before anything was counted
UNKNOWN = "…"

_found: dict[int, dict[str, str]] = {}  #: by session_uid: sentences by map, "nodes" is that of all that is dynamic


def known(obj: bpy.types.Object, key: str) -> str:
    """Return the sentence of a map, or of all dynamic nodes, as it was counted last."""
    return _found.get(obj.session_uid, {}).get(key, UNKNOWN)


def is_begun(obj: bpy.types.Object, entry: Entry) -> bool:
    """Whether a map has something to read: its group is there, or the artist has named one."""
    return getattr(obj.conjac, f"{entry.key}_group") in obj.vertex_groups or is_chosen(obj.conjac, entry)


def update(obj: bpy.types.Object) -> bool:
    """Count again. Returns whether there are changes. Reads weights, so it never runs while a panel is drawn."""
    found = look_at(obj) if members.is_soft_body(obj) else {}
    changed = found != _found.get(obj.session_uid)
    _found[obj.session_uid] = found
    return changed


def forget(uid: int | None = None) -> None:
    """Drop the counts of the object with a session_uid, or of all."""
    if uid is None:
        _found.clear()
    else:
        _found.pop(uid, None)


def look_at(obj: bpy.types.Object) -> dict[str, str]:
    """Return a sentence for each map that has a group or an attribute, and for the dynamic nodes."""
    maps = maps_in_use(obj.conjac)
    names = {key: getattr(obj.conjac, f"{key}_group") for key in maps}
    others = [spot.group for spot in obj.conjac.spots]
    weights = _weights(obj, {*names.values(), *others})
    found = {}
    for key, name in names.items():
        painted = weights.get(name)
        if painted is None:
            if is_chosen(obj.conjac, maps[key]):
                found[key] = "It is not on the mesh: a bake looks for it after the modifiers"
        elif _made_anew(obj):
            found[key] = "Modifiers change it: a bake reads their result"
        else:
            painted = _as_set(obj, key, painted)
            soft = key == "pin" and members.has_soft_pins(obj)
            found[key] = _of_soft_pins(painted, len(obj.data.vertices)) if soft else (
                _of_map(key, painted, len(obj.data.vertices)))
    if members.moves_dynamic_nodes(obj):
        dynamic = weights.get(names.get("dynamic", ""))
        found["nodes"] = _of_nodes(obj, [{} if dynamic is None else _as_set(obj, "dynamic", dynamic),
                                         *(weights.get(name, {}) for name in others)])
    return found


def _as_set(obj: bpy.types.Object, key: str, painted: dict[int, float]) -> dict[int, float]:
    """Return the weights above zero by vertex, inverted where Invert of the map is on."""
    if not getattr(obj.conjac, f"{key}_invert"):
        return painted
    return {vertex: 1.0 - painted.get(vertex, 0.0) for vertex in range(len(obj.data.vertices))
            if painted.get(vertex, 0.0) < 1.0}


def _made_anew(obj: bpy.types.Object) -> bool:
    return any(modifier.type in REWEIGH for modifier in above(obj))


def _of_map(key: str, painted: dict[int, float], total: int) -> str:
    if key in HALVES:
        count = sum(weight > PAINTED for weight in painted.values())
        if not count and painted:
            return f"No weight is above 0.5, so nothing is {HALVES[key]}"
        return f"{_of(count, total)} {HALVES[key]}" if count else "Nothing is painted yet"
    count = sum(weight > 0.0 for weight in painted.values())
    return f"{_of(count, total)} painted, up to {max(painted.values()):.2f}" if count else "Nothing is painted yet"


def _of_soft_pins(painted: dict[int, float], total: int) -> str:
    hard = sum(weight >= catalogue.HARD for weight in painted.values())
    soft = len(painted) - hard
    if hard and soft:
        return f"{_of(hard, total)} held hard, {soft} softly"
    return f"{_of(hard or soft, total)} held {'hard' if hard else 'softly'}" if painted else "Nothing is painted yet"


def _of(count: int, total: int) -> str:
    return f"All {total} vertices are" if count == total else (
        f"{count} of {total} vertices {'is' if count == 1 else 'are'}")


def _of_nodes(obj: bpy.types.Object, groups: list[dict[int, float]]) -> str:
    """Return a sentence with the number of dynamic spots: one for each connected painted patch, one for each handle
    that counts."""
    edges = _edges(obj) if any(groups) else {}
    patches = sum(_patches([vertex for vertex, weight in group.items() if weight > PAINTED], edges)
                  for group in groups)
    handles = sum(counts(handle.object, bpy.context.view_layer) for handle in obj.conjac.handles)
    if not patches + handles:
        if obj.conjac.suggest_spots:
            return f"No dynamic spot: a bake puts {obj.conjac.suggestions}"
        return "No dynamic spot: it would not swing"
    return (f"{patches + handles} dynamic spot{'s' * (patches + handles > 1)}: {patches} painted, {handles} by handles")


def _patches(painted: list[int], edges: Edges) -> int:
    """Return the number of connected patches of some vertices."""
    left, count = set(painted), 0
    while left:
        count += 1
        border = [left.pop()]
        while border:
            near = left.intersection(edges.get(border.pop(), ()))
            left -= near
            border.extend(near)
    return count


def _edges(obj: bpy.types.Object) -> Edges:
    found: Edges = {}
    for edge in obj.data.edges:
        first, second = edge.vertices
        found.setdefault(first, []).append(second)
        found.setdefault(second, []).append(first)
    return found


def _weights(obj: bpy.types.Object, names: set[str]) -> dict[str, dict[int, float]]:
    """Return weights above zero by vertex, of groups and float attributes of the vertices that are on the mesh
    itself."""
    mesh, found = obj.data, {}
    for name in names - {""}:
        attribute = mesh.attributes.get(name)
        if attribute is not None and attribute.domain == "POINT" and attribute.data_type == "FLOAT":
            found[name] = {vertex: entry.value for vertex, entry in enumerate(attribute.data) if entry.value > 0.0}
    groups = {obj.vertex_groups[name].index: found.setdefault(name, {})
              for name in names if name in obj.vertex_groups and name not in found}
    if groups:
        for vertex in mesh.vertices:
            for element in vertex.groups:
                if element.group in groups and element.weight > 0.0:
                    groups[element.group][vertex.index] = element.weight
    return found
