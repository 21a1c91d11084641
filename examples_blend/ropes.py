"""Ropes, strings and nets of the scenes."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np

from . import stage

Edges = Iterable[tuple[int, int]]


def rope(scene: bpy.types.Scene, name: str, places: np.ndarray, edges: Edges, thickness: float,
         look: bpy.types.Material, pinned: Iterable[int]) -> bpy.types.Object:
    """A rope of edges between places (n, 3) [m], pinned at some of them. thickness: [m]."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(places).tolist(), list(edges), [])
    made = bpy.data.objects.new(name, mesh)
    scene.collection.objects.link(made)
    made.data.materials.append(look)
    made.vertex_groups.new(name="Pin").add([one % len(places) for one in pinned], 1.0, "REPLACE")
    made.conjac.rope_thickness = thickness
    stage.choose(made)
    bpy.ops.conjac.add_rope()
    made.conjac.use_ground = False
    return made


def strand(scene: bpy.types.Scene, name: str, places: np.ndarray, thickness: float, colour: tuple,
           pinned: Iterable[int] = (0, -1)) -> bpy.types.Object:
    """A rope along places (n, 3) [m], pinned at some of them."""
    return rope(scene, name, places, [(k, k + 1) for k in range(len(places) - 1)], thickness,
                stage.surface(name, colour, 0.7), pinned)
