"""Boxes that fall on the ground and collide with everything, objects below them, and a check for intersections."""

import ipctk
import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import scene, seen_at  # noqa: E402, F401

LAST = 10


def add_soft_cube(size, location, cuts, rotation=(0, 0, 0)):
    """Add a soft cube whose edges are cut into cuts + 1 pieces."""
    bpy.ops.mesh.primitive_cube_add(size=size, location=location, rotation=rotation)
    obj = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=cuts)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.conjac.kind = "soft_body"
    return obj


def add_ball(name, height, along=0.0, size=0.2):
    """Add a box of 20 cm without pins that falls from a height on the ground at 0, and collides with all."""
    obj = add_soft_cube(size, (along, 0, height), cuts=1)
    obj.name = name
    settings = obj.conjac
    settings.method, settings.integrator = "vanilla", "backward_euler"
    settings.mesher, settings.edge_length, settings.step = "grid", 0.1, 1 / 48
    settings.youngs_modulus = 2.0e4
    settings.use_ground, settings.ground_stiffness = True, 1.0e3
    settings.contact.collides_with = "all"
    return obj


@pytest.fixture()
def balls(scene):  # noqa: F811
    """Return two falling boxes, one above the other, that meet immediately."""
    scene.frame_end = LAST
    return add_ball("Low", 0.12), add_ball("High", 0.34, along=0.05)


def world_at(obj, frame):
    seen = seen_at(obj, frame)
    matrix = np.array(obj.matrix_world)
    return seen @ matrix[:3, :3].T + matrix[:3, 3]


def crosses(objects, frame):
    """Whether any drawn faces of the objects intersect, by the exact test of ipctk."""
    positions, faces, first = [], [], 0
    for obj in objects:
        positions.append(world_at(obj, frame))
        obj.data.calc_loop_triangles()
        faces.append(np.array([triangle.vertices for triangle in obj.data.loop_triangles]) + first)
        first += len(positions[-1])
    positions, faces = np.concatenate(positions).astype(float), np.concatenate(faces).astype(np.int32)
    mesh = ipctk.CollisionMesh(positions, ipctk.edges(faces), faces)
    return ipctk.has_intersections(mesh, positions)


def add_collider(name, size, location, scale=(1, 1, 1)):
    bpy.ops.mesh.primitive_cube_add(size=size, location=location)
    obj = bpy.context.object
    obj.name, obj.scale = name, scale
    assert bpy.ops.conjac.add_collider() == {"FINISHED"}
    return obj
