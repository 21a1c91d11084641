"""Painted maps: what the artist painted on the surface, read from the evaluated mesh.

A map is a vertex group, or a float attribute of the vertices (from Geometry Nodes) of the same name. The catalogue's
family "map" says which there are; each names one of the classes below, which puts it where scene.json wants it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver import catalogue
from ...solver.catalogue import Entry
from ...solver.errors import BadInput, NoSuchThing

PAINTED = 0.5  #: dynamic and pinned above this weight


@dataclass(frozen=True)
class PaintedMap:
    """One map of one object."""

    entry: Entry
    group: str  #: name of the vertex group or attribute
    weights: NDArray[np.float64]  #: (n,) in [0, 1]
    object: str  #: name of the object

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
        if not painted.is_painted():
            raise BadInput(f'no vertex in its group "{painted.group}" is painted above {PAINTED}, so nothing is pinned',
                           "Paint where the body is held, or remove the group", painted.object)
        body["pin"]["weights"] = store(painted.entry.key, painted.weights)


class Blend:
    """Blends the parameters that the catalogue's entry lists, from their value to their painted value."""

    animated = False

    def fill(self, body: dict[str, Any], painted: PaintedMap, store: Callable[[str, NDArray[Any]], str],
             number: Callable[[str], float]) -> None:
        known = {param.key for param in catalogue.find("material", body["material"]["kind"]).params}
        blended = [param.key for param in painted.entry.params if param.key in known | {catalogue.DENSITY.key}]
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


def read(evaluated: bpy.types.Object, mesh: bpy.types.Mesh, settings: bpy.types.PropertyGroup,
         name: str) -> list[PaintedMap]:
    """Every map of the catalogue that this object has. `evaluated` and its `mesh` belong together.

    Raises NoSuchThing for a group that the artist named and that does not exist.
    """
    found: list[PaintedMap] = []
    groups: dict[int, Entry] = {}
    for entry in catalogue.family("map").values():
        group = getattr(settings, f"{entry.key}_group")
        attribute = mesh.attributes.get(group) if group else None
        if attribute is not None and attribute.domain == "POINT" and attribute.data_type == "FLOAT":
            values = np.empty(len(mesh.vertices), dtype=np.float32)
            attribute.data.foreach_get("value", values)
            found.append(_painted_map(entry, group, values, name))
        elif group in evaluated.vertex_groups:
            groups[evaluated.vertex_groups[group].index] = entry
        elif group and group != entry.label:
            raise NoSuchThing(f'there is no vertex group "{group}" for {entry.label}',
                              "Choose another group in the ConJac panel, or paint one", name)
    for index, weights in _group_weights(mesh, groups.keys()).items():
        entry = groups[index]
        found.append(_painted_map(entry, getattr(settings, f"{entry.key}_group"), weights, name))
    return found


def _painted_map(entry: Entry, group: str, values: NDArray[Any], name: str) -> PaintedMap:
    weights = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0)
    return PaintedMap(entry, group, np.clip(weights, 0.0, 1.0), name)


def _group_weights(mesh: bpy.types.Mesh, indices: Any) -> dict[int, NDArray[np.float64]]:
    """Weights of vertex groups by their index, each (n,), 0 for vertices outside."""
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
