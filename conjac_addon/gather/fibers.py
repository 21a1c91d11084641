"""Muscles and other fibers: which there are, which way they run, and how active they are over time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver import catalogue
from ...solver.errors import BadInput
from ..declared import NONE
from ..handles import has_curves
from . import animated
from .evaluation import Evaluation

ATTRIBUTE = "conjac_fiber"  #: vector attribute of the vertices, in object space
ACTIVATION = catalogue.ACTIVATION.key

Array = NDArray[np.float64]
Store = Callable[[str, NDArray[Any]], str]


def is_activated(obj: bpy.types.Object) -> bool:
    """Whether the activation of its fibers must be read at every sample."""
    if obj.conjac.fiber_material == NONE or not animated.may_be_animated(obj):
        return False
    return ACTIVATION in {param.key for param in catalogue.find("fiber_material", obj.conjac.fiber_material).params}


def directions(evaluation: Evaluation, mesh: bpy.types.Mesh, store: Store) -> dict[str, str]:
    """Return the arrays of the chosen direction at the present frame. Raises BadInput if the artist has not provided
    them."""
    settings = evaluation.object.conjac
    read = _ARRAYS.get(settings.fiber_field)
    return {} if settings.fiber_material == NONE or read is None else read(evaluation, mesh, store)


def _attribute(evaluation: Evaluation, mesh: bpy.types.Mesh, store: Store) -> dict[str, str]:
    attribute: Any = mesh.attributes.get(ATTRIBUTE)
    if attribute is None or attribute.domain != "POINT" or attribute.data_type != "FLOAT_VECTOR":
        raise BadInput(f'its mesh has no vector attribute "{ATTRIBUTE}" of the vertices',
                       "Add it, for example with Geometry Nodes, or choose another direction of the fibers",
                       evaluation.object.name)
    local = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    attribute.data.foreach_get("vector", local)
    world = np.nan_to_num(local.reshape(-1, 3).astype(np.float64)) @ evaluation.to_world()[:3, :3].T
    return {"fiber_vectors": store("fiber_vectors", world)}


def _combed(evaluation: Evaluation, mesh: bpy.types.Mesh, store: Store) -> dict[str, str]:
    obj = evaluation.object.conjac.fiber_curves_object
    if obj is None:
        raise BadInput("it has no curves to take the direction of its fibers from",
                       "Choose an object with curves, or another direction of the fibers", evaluation.object.name)
    if not has_curves(None, obj):
        raise BadInput(f'it gives the fibers of "{evaluation.object.name}" their direction and is a '
                       f"{obj.type.title()} without curves", "Choose hair, a curve, or a mesh of edges", obj.name)
    evaluation.check_enabled(obj, f'it gives the fibers of "{evaluation.object.name}" their direction')
    evaluated = evaluation.evaluated(obj)
    ends = _hair(evaluated.data) if obj.type == "CURVES" else _edges(evaluated)  # type: ignore[arg-type]
    along = ends[:, 1] - ends[:, 0]
    ends = ends[np.linalg.norm(along, axis=1) > 0.0]
    if not len(ends):
        raise BadInput("it has no curve of two points or more", "Comb some curves", obj.name)
    matrix = evaluation.to_world(obj)
    ends = ends @ matrix[:3, :3].T + matrix[:3, 3]
    pieces = np.stack([ends.mean(axis=1), ends[:, 1] - ends[:, 0]], axis=1)
    return {"fiber_curves": store("fiber_curves", pieces)}


def _hair(curves: bpy.types.Curves) -> Array:
    """Return the ends of every piece of hair curves in object space, (s, 2, 3)."""
    points = np.empty(3 * len(curves.points), dtype=np.float32)
    curves.points.foreach_get("position", points)
    counts = np.empty(len(curves.curves), dtype=np.int32)
    curves.curves.foreach_get("points_length", counts)
    return _pieces(points.reshape(-1, 3).astype(np.float64), counts)


def _pieces(points: Array, counts: NDArray[np.int32]) -> Array:
    """Neighbours on the same curve, (s, 2, 3); counts: points of each curve."""
    curve = np.repeat(np.arange(len(counts)), counts)
    joined = curve[1:] == curve[:-1]
    pieces: Array = np.stack([points[:-1], points[1:]], axis=1)[joined]
    return pieces


def _edges(evaluated: bpy.types.Object) -> Array:
    """Return the ends of every edge of the object's mesh, (s, 2, 3): Bézier curves become one, without a bevel."""
    mesh = evaluated.to_mesh()
    if mesh is None:  # a curve object without any curve
        return np.empty((0, 2, 3))
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    edges = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", edges)
    evaluated.to_mesh_clear()
    ends: Array = points.reshape(-1, 3).astype(np.float64)[edges.reshape(-1, 2)]
    return ends


_ARRAYS = {"attribute": _attribute, "combed": _combed}
