"""Painted maps: what the artist painted on the surface, read from the evaluated mesh.

A map is a vertex group, or a float attribute of the vertices (from Geometry Nodes) of the same name. `catalogue.maps`
says which there are; each names one of the classes below, which puts it where scene.json wants it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.catalogue import Entry
from ...solver.errors import BadInput, NoSuchThing
from ..settings import fields_in_use, is_chosen, maps_in_use

PAINTED = 0.5  #: dynamic and pinned above this weight
ROUNDING = 1.0e-4  #: how far outside of 0 to 1 a weight may lie without a word


@dataclass(frozen=True)
class PaintedMap:
    """One map of one object."""

    entry: Entry
    group: str  #: name of the vertex group or attribute
    weights: NDArray[np.float64]  #: (n,) in [0, 1]
    object: str  #: name of the object
    fields: frozenset[str]  #: keys of the parameters that can be blended

    def is_painted(self) -> bool:
        return bool((self.weights > PAINTED).any())


class MapKind(Protocol):
    animated: bool  #: whether the motion of the painted vertices is the simulation's input

    def fill(self, body: dict[str, Any], painted: PaintedMap, store: Callable[[str, NDArray[Any]], str],
             number: Callable[[str], float]) -> None:
        """Put the map into a body of scene.json.

        store: keeps an array under a name and returns its path; number: a setting's value in SI.
        """


class Dynamic:
    animated = False

    def fill(self, body: dict[str, Any], painted: PaintedMap, store: Callable[[str, NDArray[Any]], str],
             number: Callable[[str], float]) -> None:
        # nothing painted is allowed: a body without dynamic nodes is quasistatic
        if painted.is_painted():
            body["dynamic"]["weights"] = store(painted.entry.key, painted.weights)


class Pin:
    animated = True

    def fill(self, body: dict[str, Any], painted: PaintedMap, store: Callable[[str, NDArray[Any]], str],
             number: Callable[[str], float]) -> None:
        body["pin"]["weights"] = store(painted.entry.key, painted.weights)


class Blend:
    """Blends the parameters that the catalogue's entry lists, from their value to their painted value."""

    animated = False

    def fill(self, body: dict[str, Any], painted: PaintedMap, store: Callable[[str, NDArray[Any]], str],
             number: Callable[[str], float]) -> None:
        blended = [param.key for param in painted.entry.params if param.key in painted.fields]
        if not blended or not painted.weights.any():
            return
        weights = store(painted.entry.key, painted.weights)
        for key in blended:
            body["painted"][key] = {"low": number(key), "high": number(f"{key}_high"), "weights": weights}


class Fibers:
    animated = False

    def fill(self, body: dict[str, Any], painted: PaintedMap, store: Callable[[str, NDArray[Any]], str],
             number: Callable[[str], float]) -> None:
        if painted.weights.any():
            body["fibers"] = store(painted.entry.key, painted.weights)


class Friction:
    animated = False

    def fill(self, body: dict[str, Any], painted: PaintedMap, store: Callable[[str, NDArray[Any]], str],
             number: Callable[[str], float]) -> None:
        body["friction_weights"] = store(painted.entry.key, painted.weights)


def read(evaluated: bpy.types.Object, mesh: bpy.types.Mesh, settings: bpy.types.PropertyGroup, name: str,
         report: Callable[[str], None]) -> list[PaintedMap]:
    """Return every map that the object has and its settings use. mesh: of `evaluated`. report: called with sentences
    for the artist. Raises NoSuchThing where a map has no such group."""
    entries = maps_in_use(settings).values()
    groups = {entry.key: evaluated.vertex_groups[group].index for entry in entries
              if (group := getattr(settings, f"{entry.key}_group")) in evaluated.vertex_groups}
    weights = group_weights(mesh, set(groups.values()))
    fields, found = frozenset(fields_in_use(settings)), []
    for entry in entries:
        group = getattr(settings, f"{entry.key}_group")
        attribute = mesh.attributes.get(group) if group else None
        if attribute is not None and attribute.domain == "POINT" and attribute.data_type == "FLOAT":
            read = np.empty(len(mesh.vertices), dtype=np.float32)
            attribute.data.foreach_get("value", read)
            values = _in_range(read, f'"{name}": {{}} of "{group}" for {entry.label}', report)
        elif entry.key in groups:
            values = weights[groups[entry.key]]
        elif not is_chosen(settings, entry):
            continue  # nothing was chosen, or its own group is not made yet
        elif attribute is not None:
            raise BadInput(f'its attribute "{group}" for {entry.label} is not one of floats on vertices',
                           "Store it as Float on Point, or choose another one in the ConJac panel", name)
        else:
            raise NoSuchThing(f'there is no vertex group "{group}" for {entry.label}, nor such a float attribute',
                              "Choose another one in the ConJac panel, or paint it; modifiers below ConJac's do not "
                              "count", name)
        found.append(PaintedMap(entry, group, as_set(settings, entry.key, values), name, fields))
    return found


def as_set(settings: bpy.types.PropertyGroup, key: str, weights: NDArray[Any]) -> NDArray[Any]:
    """Return the weights of a map, (n,), inverted where its Invert is on."""
    return 1.0 - weights if getattr(settings, f"{key}_invert") else weights


def of_group(evaluated: bpy.types.Object, mesh: bpy.types.Mesh, group: str, whose: str, name: str,
             report: Callable[[str], None]) -> NDArray[np.float64]:
    """Return the weights of one vertex group or float attribute of the vertices, (n,) in [0, 1]. whose: its purpose,
    for messages. Raises NoSuchThing if there is neither."""
    attribute = mesh.attributes.get(group) if group else None
    if attribute is not None and attribute.domain == "POINT" and attribute.data_type == "FLOAT":
        read = np.empty(len(mesh.vertices), dtype=np.float32)
        attribute.data.foreach_get("value", read)
        return _in_range(read, f'"{name}": {{}} of "{group}" for {whose}', report)
    if group not in evaluated.vertex_groups:
        raise NoSuchThing(f'there is no vertex group "{group}" for {whose}, nor such a float attribute',
                          "Choose another one in the ConJac panel, or paint it", name)
    index = evaluated.vertex_groups[group].index
    return group_weights(mesh, {index})[index]


def _in_range(values: NDArray[Any], whose: str, report: Callable[[str], None]) -> NDArray[np.float64]:
    """Return an attribute's values, clamped to [0, 1], (n,). Values that are not numbers count as 0. Both are reported
    in sentences that begin with `whose`."""
    lost = int(np.count_nonzero(np.isnan(values)))
    if lost:
        count, are = (f"{lost} values", "are not numbers and count") if lost > 1 else ("one value",
                                                                                     "is not a number and counts")
        report(f"{whose.format(count)} {are} as 0")
    weights = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0)
    outside = np.flatnonzero((weights < -ROUNDING) | (weights > 1.0 + ROUNDING))
    if len(outside):
        count = f"{len(outside)} values" if len(outside) > 1 else "one value"
        report(f"{whose.format(count)}, such as {weights[outside[0]]:g}, are outside 0 to 1 and are clamped")
    return np.clip(weights, 0.0, 1.0)


def group_weights(mesh: bpy.types.Mesh, indices: Any) -> dict[int, NDArray[np.float64]]:
    """Return weights of vertex groups by their index, each (n,), 0 for vertices outside."""
    weights = {index: np.zeros(len(mesh.vertices)) for index in indices}
    if not weights:
        return weights
    # Blender 4.2 to 5.x has no foreach_get for vertex groups. Measured: this loop, once a bake, takes 65 ms for
    # 50,000 vertices in 3 groups; the way around it through Geometry Nodes adds a node group to the artist's file.
    for i, vertex in enumerate(mesh.vertices):
        for element in vertex.groups:
            if element.group in weights:
                weights[element.group][i] = element.weight
    return weights
