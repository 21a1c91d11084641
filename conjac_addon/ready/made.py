"""Meshes of the ready scenes, made from data: no operator of Blender's is called for them."""

from __future__ import annotations

from collections.abc import Callable

import bmesh
import bpy
from mathutils import Vector


def add_mesh(context: bpy.types.Context, name: str, fill: Callable[[bmesh.types.BMesh], object], at: Vector,
             smooth: bool = True) -> bpy.types.Object:
    """Return a new mesh object in the active collection, with its origin at `at` in the world [Blender units].

    fill: puts geometry into an empty BMesh.
    """
    mesh = bpy.data.meshes.new(name)
    made = bmesh.new()
    fill(made)
    made.to_mesh(mesh)
    made.free()
    if smooth:
        mesh.shade_smooth()
    obj = bpy.data.objects.new(name, mesh)
    obj.location = at
    context.collection.objects.link(obj)
    return obj


def rounded_cube(size: float, cuts: int) -> Callable[[bmesh.types.BMesh], object]:
    """Fill with a cube of an edge length [Blender units] whose faces have `cuts` cuts a side and whose edges are
    round."""
    def fill(made: bmesh.types.BMesh) -> None:
        bmesh.ops.create_cube(made, size=size)
        bmesh.ops.subdivide_edges(made, edges=made.edges[:], cuts=cuts, use_grid_fill=True)
        core, radius = 0.38 * size, 0.12 * size
        for vertex in made.verts:
            inner = Vector([max(-core, min(core, value)) for value in vertex.co])
            away = vertex.co - inner
            if away.length > 0.0:
                vertex.co = inner + away.normalized() * radius
    return fill


def grid(width: float, depth: float, cells: float) -> Callable[[bmesh.types.BMesh], object]:
    """Fill with a level sheet in the middle of its object, `cells` faces along its longer side."""
    def fill(made: bmesh.types.BMesh) -> None:
        longest = max(width, depth)
        bmesh.ops.create_grid(made, x_segments=max(round(cells * width / longest), 1),
                              y_segments=max(round(cells * depth / longest), 1), size=0.5)
        for vertex in made.verts:
            vertex.co.x *= width
            vertex.co.y *= depth
    return fill


def cylinder(radius: float, height: float, segments: int = 48) -> Callable[[bmesh.types.BMesh], object]:
    """Fill with an upright cylinder around its object's origin."""
    def fill(made: bmesh.types.BMesh) -> None:
        bmesh.ops.create_cone(made, cap_ends=True, segments=segments, radius1=radius, radius2=radius, depth=height)
    return fill


def paint(obj: bpy.types.Object, group: str, weight: Callable[[Vector], float]) -> None:
    """Store `weight` of each vertex's position in the object, in [0, 1], in a vertex group."""
    found = obj.vertex_groups.new(name=group)
    for vertex in obj.data.vertices:  # type: ignore[union-attr]
        amount = weight(vertex.co)
        if amount > 0.0:
            found.add([vertex.index], amount, "REPLACE")


def choose(context: bpy.types.Context, *objects: bpy.types.Object) -> None:
    """Select only these objects, and make the last one active."""
    for obj in context.view_layer.objects:
        obj.select_set(False)
    for obj in objects:
        obj.select_set(True)
    context.view_layer.objects.active = objects[-1]
