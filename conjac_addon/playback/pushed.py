"""Contact forces at the vertices of a playing mesh, and as attributes of it."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

NEAR = 0.005  #: of a body's size: how far a shown face may be from where what touches was simulated

Array = NDArray[np.float64]


def shown(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[Array, NDArray[np.int32]]:
    """Return vertices in world, (n, 3), and triangles, (m, 3), of the visible mesh."""
    evaluated = obj.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    try:
        places = np.empty(3 * len(mesh.vertices))
        mesh.vertices.foreach_get("co", places)
        mesh.calc_loop_triangles()
        corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
        mesh.loop_triangles.foreach_get("vertices", corners)
        world = np.array(evaluated.matrix_world)
    finally:
        evaluated.to_mesh_clear()
    return places.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3], corners.reshape(-1, 3)


def placed(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, local: NDArray[Any]
           ) -> tuple[Array, NDArray[np.int32]]:
    """Return the places of vertices in the world and the triangles of the object's own mesh. local: places in its own
    space, (n, 3)."""
    mesh: Any = obj.data
    mesh.calc_loop_triangles()
    corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    world = np.array(obj.evaluated_get(depsgraph).matrix_world)
    return local @ world[:3, :3].T + world[:3, 3], corners.reshape(-1, 3)


def at_vertices(vertices: Array, triangles: NDArray[np.int32], rows: NDArray[np.float32]) -> tuple[Array, Array]:
    """Return the contact force at each vertex [N] and the force per area of a third of its faces [Pa], (n,), of
    `forces`."""
    force = forces(vertices, triangles, rows.astype(np.float64))
    return force, force / np.maximum(areas(vertices, triangles), 1e-300)


def forces(vertices: Array, triangles: NDArray[np.int32], rows: Array) -> Array:
    """Return the contact force at each vertex [N], (n,). vertices: (n, 3) [m]; rows: of `Cache.contacts`. The force of
    a pair is assigned to its nearest face; if both sides belong to this body, also to the nearest one on the other
    side.
    """
    tree = BVHTree.FromPolygons(vertices.tolist(), triangles.tolist())
    off = NEAR * float(np.linalg.norm(np.ptp(vertices, axis=0)))
    force = np.zeros(len(vertices))
    for row in rows:
        size, far = float(np.linalg.norm(row[3:6])), 0.5 * float(row[6]) + off
        hits = sorted(tree.find_nearest_range(row[:3].tolist(), far), key=lambda hit: hit[3])
        if not hits or not size:
            continue
        way = row[3:6] / size
        sides = {bool(np.dot(np.array(hit[0]) - row[:3], way) > 0.0): hit for hit in reversed(hits)}
        # the other side is this body's too only where its surface looks the other way
        first = hits[0]
        chosen = [first] + [hit for hit in sides.values() if hit is not first and hit[1].dot(first[1]) < -0.5]
        for at, _, face, _ in chosen:
            force[triangles[face]] += size * weights(vertices[triangles[face]], np.array(at))
    return force


def weights(corners: Array, at: Array) -> Array:
    """Return the weights of the three corners of a triangle, (3, 3), at a place on it, (3,)."""
    u, v, w = corners[1] - corners[0], corners[2] - corners[0], at - corners[0]
    whole = np.cross(u, v)
    second, third = (float(np.dot(np.cross(a, b), whole) / np.dot(whole, whole)) for a, b in ((w, v), (u, w)))
    return np.array([1.0 - second - third, second, third])


def areas(vertices: Array, triangles: NDArray[np.int32]) -> Array:
    """Return the area of each vertex, (n,) [m²]: a third of each of its triangles."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    found = np.zeros(len(vertices))
    np.add.at(found, triangles, third[:, None])
    return found


def write(obj: bpy.types.Object, name: str, values: Array) -> None:
    """An attribute of a mesh's vertices, in place of one of that name."""
    mesh: Any = obj.data
    old = mesh.attributes.get(name)
    if old is not None and (old.domain, old.data_type) != ("POINT", "FLOAT"):
        mesh.attributes.remove(old)
        old = None
    made = old or mesh.attributes.new(name, "FLOAT", "POINT")
    made.data.foreach_set("value", values.astype(np.float32))
    mesh.update()


def clear(obj: bpy.types.Object, name: str) -> None:
    """Zeros in an attribute, where the mesh has it."""
    if name in obj.data.attributes:
        write(obj, name, np.zeros(len(obj.data.vertices)))
