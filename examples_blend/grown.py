"""Skins that grow around balls: figures, and a tree."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np

from . import stage

Place = tuple[float, float, float]


def grown(name: str, balls: Iterable[tuple[Place, float]], voxel: float, smoothings: int,
          look: bpy.types.Material) -> bpy.types.Object:
    """A closed mesh around balls, each with its place and radius [m]. voxel: how fine it is [m]."""
    parts = []
    for place, radius in balls:
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=radius, location=place)
        parts.append(bpy.context.object)
    made = parts[0]
    with bpy.context.temp_override(active_object=made, selected_editable_objects=parts):
        bpy.ops.object.join()
    made.name = made.data.name = name
    stage.choose(made)
    bpy.ops.object.transform_apply(location=True, rotation=False, scale=False)
    remesh = made.modifiers.new("Together", "REMESH")
    remesh.mode, remesh.voxel_size = "VOXEL", voxel
    bpy.ops.object.modifier_apply(modifier="Together")
    smooth = made.modifiers.new("Smooth", "SMOOTH")
    smooth.factor, smooth.iterations = 0.5, smoothings
    bpy.ops.object.modifier_apply(modifier="Smooth")
    made.data.polygons.foreach_set("use_smooth", [True] * len(made.data.polygons))
    made.data.materials.append(look)
    return made


def along(start: Place, end: Place, first: float, last: float, apart: float) -> list[tuple[Place, float]]:
    """Balls in a row from a place to a place, their radius there and there, so far apart at most [m]."""
    a, b = np.array(start), np.array(end)
    count = int(np.linalg.norm(b - a) / apart) + 2
    return [(tuple((1.0 - share) * a + share * b), (1.0 - share) * first + share * last)
            for share in np.linspace(0.0, 1.0, count)]
