"""Surfaces of a mechanism's bodies as soft ones touch them now, to be looked for in other surfaces."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

import bmesh
import bpy
import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from .. import gather, members
from .. import settings as properties
from ..gather.in_memory import Arrays
from .joint_lines import placed

Array = NDArray[np.float64]

ROUND = 12  #: half circles of a round shape, and parts of each: coarser than what touches by two hundredths


def trees(mechanism: bpy.types.Object, scene: bpy.types.Scene) -> dict[str, BVHTree]:
    """By name the bodies that touch soft ones at the present frame, in Blender's lengths in world. Raises ConJacError.

    Those that flesh hangs on have no surface of their own.
    """
    document, arrays = gather.mechanism_now(mechanism, scene)
    hung, unit = members.holding(mechanism), properties.unit_scale(scene)
    return {body["name"]: _tree(body, arrays, unit) for body in document["bodies"]
            if body["name"] not in hung and body.get("is_collider", True)}


def _tree(body: dict[str, Any], arrays: Arrays, unit: float) -> BVHTree:
    points, faces = surface(body, arrays)
    place = placed(body)
    return BVHTree.FromPolygons(((points @ place[:3, :3].T + place[:3, 3]) / unit).tolist(), faces)


def surface(body: dict[str, Any], arrays: Arrays) -> tuple[Array, list[list[int]]]:
    """Return a shape's vertices in the body's own frame, (k, 3) [m], and faces."""
    size = body["shape"].get("params", {})
    if "vertices" not in body:
        return _hull(_POINTS[body["shape"]["kind"]](size))
    vertices = np.asarray(arrays[body["vertices"]], np.float64)
    if "triangles" in body:
        return vertices, np.asarray(arrays[body["triangles"]]).tolist()
    return _hull(vertices)


def _hull(points: Array) -> tuple[Array, list[list[int]]]:
    """Return the convex hull of points, (k, 3)."""
    mesh = bmesh.new()
    for point in points.tolist():
        mesh.verts.new(point)
    outside = bmesh.ops.convex_hull(mesh, input=list(mesh.verts))
    bmesh.ops.delete(mesh, geom=[element for element in outside["geom_interior"]
                                 if isinstance(element, bmesh.types.BMVert)],
                     context="VERTS")
    mesh.verts.index_update()
    found = (np.array([vertex.co for vertex in mesh.verts], np.float64),
             [[vertex.index for vertex in face.verts] for face in mesh.faces])
    mesh.free()
    return found


def _box(size: dict[str, float]) -> Array:
    half = 0.5 * np.array([size["size_x"], size["size_y"], size["size_z"]])
    return half * [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]


def _capsule(size: dict[str, float]) -> Array:
    """Along Z; a sphere where it has no length."""
    r, half = size["radius"], 0.5 * size.get("length", 0.0)
    points = []
    for tilt in (0.5 * pi * k / (ROUND // 2) for k in range(ROUND // 2 + 1)):
        ring = [(r * sin(tilt) * cos(pi * k / ROUND), r * sin(tilt) * sin(pi * k / ROUND)) for k in range(2 * ROUND)]
        points += [(x, y, side * (r * cos(tilt) + half)) for x, y in set(ring) for side in (-1, 1)]
    return np.unique(np.round(points, 12), axis=0)


_POINTS = {"box": _box, "sphere": _capsule, "capsule": _capsule}
