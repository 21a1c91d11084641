"""What pushes a soft body at the present frame, as attributes of its mesh."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from ...solver.errors import ConJacError
from .. import members
from .. import settings as properties
from ..bake import place
from .entries import UNDOABLE
from .poll import active_soft_body, in_object_mode, unless

FORCE, PRESSURE = "contact_force", "contact_pressure"
NEAR = 0.005  #: of a body's size: how far a shown face may be from where what touches was simulated

Array = NDArray[np.float64]


class CONJAC_OT_contact_attributes(bpy.types.Operator):
    """Write how hard the body is pushed at the present frame into its mesh, as the attributes contact_force (newtons)
    and contact_pressure (pascals) of its vertices. They stay as they are at other frames"""

    bl_idname = "conjac.contact_attributes"
    bl_label = "Contact to Attributes"
    bl_options = UNDOABLE

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = in_object_mode(cls, active_soft_body(cls, context))
        return unless(cls, obj, lambda one: not members.collides(one), "It collides with nothing") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj, scene = context.object, context.scene
        frame = properties.present_frame(scene)
        try:
            rows = place.cache_of(place.of(obj).folder).contacts(frame)
        except ConJacError as error:
            self.report({"ERROR"}, f"{obj.name}: {error}")
            return {"CANCELLED"}
        unit = properties.unit_scale(scene)
        vertices, triangles = shown(obj, context)
        if len(vertices) != len(obj.data.vertices):
            self.report({"ERROR"}, f'"{obj.name}": its modifiers change the number of its vertices, so there is no '
                        "vertex to write to. Switch them off")
            return {"CANCELLED"}
        force = pushed(vertices * unit, triangles, rows.astype(np.float64))
        for name, values in ((FORCE, force), (PRESSURE, force / np.maximum(areas(vertices * unit, triangles), 1e-300))):
            write(obj, name, values)
        self.report({"INFO"}, f"Frame {frame}: {force.sum():.3g} N push \"{obj.name}\"")
        return {"FINISHED"}


def shown(obj: bpy.types.Object, context: bpy.types.Context) -> tuple[Array, NDArray[np.int32]]:
    """Vertices in world, (n, 3), and triangles, (m, 3), as they are seen now."""
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
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


def pushed(vertices: Array, triangles: NDArray[np.int32], rows: Array) -> Array:
    """The size of what pushes at each vertex [N], (n,). vertices: (n, 3) [m]; rows: of `Cache.contacts`.

    A pair that pushes goes to the face that is nearest to it; where both of its sides are of this body to the nearest
    one on the other side as well.
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
    """Of the three corners of a triangle, (3, 3), at a place on it, (3,)."""
    u, v, w = corners[1] - corners[0], corners[2] - corners[0], at - corners[0]
    whole = np.cross(u, v)
    second, third = (float(np.dot(np.cross(a, b), whole) / np.dot(whole, whole)) for a, b in ((w, v), (u, w)))
    return np.array([1.0 - second - third, second, third])


def areas(vertices: Array, triangles: NDArray[np.int32]) -> Array:
    """A third of each triangle's area to each corner, (n,) [m²]."""
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


classes = (CONJAC_OT_contact_attributes,)
