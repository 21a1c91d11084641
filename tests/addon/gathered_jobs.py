"""Helpers that paint an object and read its job folder."""

import bpy
import msgspec
import numpy as np

from solver.job import schema


def gathered(obj, folder, scene=None, notes=None):
    """Return the decoded scene.json and a function that loads an array it names."""
    from conjac.conjac_addon import gather

    gather.write_job(obj, scene or bpy.context.scene, folder, (notes if notes is not None else []).append)
    scene = msgspec.json.decode((folder / "scene.json").read_bytes(), type=schema.Scene)
    return scene, lambda path: np.load(folder / path)


def paint(obj, group, vertices, weight=1.0):
    vertex_group = obj.vertex_groups.get(group) or obj.vertex_groups.new(name=group)
    vertex_group.add(list(vertices), weight, "REPLACE")
    return vertex_group


def coordinates(mesh):
    out = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", out)
    return out.reshape(-1, 3).astype(float)


def volume(vertices, triangles):
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0
