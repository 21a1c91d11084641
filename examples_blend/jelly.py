"""Helpers of the scenes in which soft bodies touch: jellies, what they meet, and how near it all comes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import cos, pi, sin
from typing import Any

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from . import stage

SAME = 1.0e-5  #: between a node and its face at the start [m]
SQUARE = 16  #: column of what a barrier says of a pair: the square of its distance


def soft(body: bpy.types.Object, mesher: str, edge: float, modulus: float, itself: bool = False,
         friction: float = 0.5, damping: float = 0.0) -> None:
    """A soft body that collides with all, by the settings of new ones: full FEM, SDIRK2, Quick.

    mesher: one whose skin is the object's own mesh, so that what is seen is what touches. edge: [m]. modulus: [Pa].
    damping: of stiffness [s].
    """
    settings = body.conjac
    settings.kind, settings.method = "soft_body", "vanilla"
    settings.integrator, settings.solver.stage_solver = "sdirk2", "quick"
    settings.mesher, settings.edge_length = mesher, edge
    settings.youngs_modulus, settings.poisson_ratio, settings.density = modulus, 0.4, 1000.0
    settings.step, settings.stiffness_damping = 1.0 / 48.0, damping
    settings.contact.collides_with, settings.contact.itself = "all", itself
    settings.contact.friction = friction


def collider(body: bpy.types.Object, friction: float = 0.5) -> None:
    """Objects that soft bodies do not go through."""
    body.conjac.kind, body.conjac.contact.friction = "collider", friction


def ball(scene: bpy.types.Scene, name: str, radius: float, place: tuple[float, float, float],
         look: bpy.types.Material, finer: int = 3) -> bpy.types.Object:
    """A sphere of 320 triangles, all nearly alike; of 80 if `finer` is 2."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=finer, radius=radius, location=place)
    made = bpy.context.object
    made.name = made.data.name = name
    made.data.materials.append(look)
    made.data.polygons.foreach_set("use_smooth", [True] * len(made.data.polygons))
    return made


def bowl(scene: bpy.types.Scene, name: str, radius: float, wall: float, look: bpy.types.Material,
         rings: int = 14, around: int = 40) -> bpy.types.Object:
    """Half a sphere about the origin with a wall: an inner side, a rim and an outer side."""
    vertices: list[tuple[float, float, float]] = []
    faces: list[tuple[int, ...]] = []
    for r in (radius, radius + wall):
        for k in range(1, rings + 1):
            tilt = 0.5 * pi * k / rings
            vertices += [(r * sin(tilt) * cos(2 * pi * i / around), r * sin(tilt) * sin(2 * pi * i / around),
                          -r * cos(tilt)) for i in range(around)]
        vertices.append((0.0, 0.0, -r))
    side = rings * around + 1
    for i in range(around):
        j = (i + 1) % around
        faces += [(side - 1, i, j), (2 * side - 1, side + j, side + i)]
        for k in range(rings - 1):
            a, b, c, d = k * around + i, (k + 1) * around + i, (k + 1) * around + j, k * around + j
            faces += [(a, b, c, d), (side + a, side + d, side + c, side + b)]
        top = (rings - 1) * around
        faces.append((top + i, side + top + i, side + top + j, top + j))
    made = stage.mesh_object(scene, name, vertices, faces)
    made.data.materials.append(look)
    made.data.polygons.foreach_set("use_smooth", [True] * len(faces))
    return made


def clearance(bodies: Sequence[bpy.types.Object], frames: Iterable[int]) -> float:
    """How near surfaces that may touch come as they play, over these frames [m]; 0 where they cross.

    bodies: all of one simulation, as baked. What is measured is the skin of their tetrahedra, whose nodes stand in
    faces of the objects at the start and are taken along with those, and that of rigid bodies. Raises ValueError where
    they do not, and where some *Collide by Mesh*.
    """
    from conjac.conjac_addon.bake import place
    from conjac.solver.build.world import build
    from conjac.solver.contact.laws.embedded import Embedded
    from conjac.solver.job.load import load

    folder = place.job_folder(bodies[0])
    job, cache = load(folder), place.cache_of(folder)
    world = build(job, lambda *_: None)[0]
    parts = zip(world.parts, world.split_state(world.initial_state()))
    soft, state = next((part, state) for part, state in parts if getattr(part, "contacts", ()))
    law, scene = soft.contacts[0], bpy.context.scene
    if isinstance(law, Embedded):
        raise ValueError("what touches is the mesh of some body, and the skin of the tetrahedra of others")
    start, corners, nodes = soft.coordinates.positions(state.q, 0.0, state.carrier_motion), {}, {}
    for body in soft.bodies_in_world:
        skin = law.surfaces.nodes
        nodes[body.name] = skin[(skin >= body.nodes.start) & (skin < body.nodes.stop)]
        corners[body.name] = on_faces(body.name, start[nodes[body.name]])
    riders = riding(job, soft.bodies_in_world[-1].nodes.stop)
    nearest = float(np.max(law.activation))
    for frame in frames:
        x = soft.coordinates.positions(state.q, (frame - scene.frame_start) / stage.FPS, state.carrier_motion)
        for name, skin in nodes.items():
            vertices, weights = corners[name]
            x[skin] = np.einsum("kc,kci->ki", weights, played(name, frame)[vertices])
        if riders:
            first, now = (cache.poses(at)["pose"] for at in (scene.frame_start, frame))
            for shown, rows in riders:
                move = now[shown] @ np.linalg.inv(first[shown])
                x[rows] = start[rows] @ move[:3, :3].T + move[:3, 3]
        if law.surfaces.intersection(x) is not None:
            return 0.0
        nearest = min(nearest, float(np.sqrt(law.find_active_pairs(x).work[:, SQUARE].min(initial=np.inf))))
    return nearest


def on_faces(name: str, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Three vertices of an object and their weights, (k, 3) each, at places on its faces at the start, (k, 3) [m].

    Raises ValueError where one is on none.
    """
    mesh = bpy.data.objects[name].data
    mesh.calc_loop_triangles()
    triangles = np.array([triangle.vertices for triangle in mesh.loop_triangles])
    rest = played(name, bpy.context.scene.frame_start)
    tree = BVHTree.FromPolygons(rest.tolist(), triangles.tolist())
    found = [tree.find_nearest(place.tolist()) for place in places]
    far = max(distance for *_, distance in found)
    if far > SAME:
        raise ValueError(f'nodes of "{name}" are up to {far:.2g} m from its faces')
    vertices = triangles[[face for _, _, face, _ in found]]
    a, b, c = (rest[vertices[:, k]] for k in range(3))
    whole = np.cross(b - a, c - a)
    square = np.einsum("ki,ki->k", whole, whole)
    second, third = (np.einsum("ki,ki->k", np.cross(u, v), whole) / square
                     for u, v in ((places - a, c - a), (b - a, places - a)))
    return vertices, np.stack([1.0 - second - third, second, third], axis=1)


def riding(job: Any, first: int) -> list[tuple[int, slice]]:
    """Return for each rigid body that soft ones touch its place among all that are shown, and its nodes.

    first: the first node that is no soft body's.
    """
    from conjac.solver.build.obstacles import obstacles_of
    from conjac.solver.build.rigid_skins import skins_of

    return [(shown, slice(first + rows.start, first + rows.stop))
            for shown, rows in obstacles_of(job, skins_of(job)).attached]


def played(name: str, frame: int) -> np.ndarray:
    """Places in the world of an object's vertices at a frame, (n, 3) [m]."""
    bpy.context.scene.frame_set(frame)
    one = bpy.data.objects[name]
    shown = one.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    x = np.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("co", x)
    shown.to_mesh_clear()
    matrix = np.array(shown.matrix_world)
    return x.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def reported_clearance(scene: bpy.types.Scene) -> float:
    """The least of all frames of the scene's soft bodies, which are one simulation [m]."""
    bodies = [one for one in scene.objects if one.type == "MESH" and one.conjac.kind == "soft_body"]
    return clearance(bodies, range(scene.frame_start, scene.frame_end + 1))
