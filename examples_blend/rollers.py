"""rollers.blend: a soft ball is drawn through two turning rollers that stand nearer to each other than it is wide."""

from __future__ import annotations

from math import cos, pi, radians, sin

import bpy

from . import jelly, stage

END = 60
SHEET = (1, 6, 13, 16, 18, 20, 22, 26)  #: frames of the contact sheet
RADIUS, ROLLER, APART, WIDE = 0.10, 0.08, 0.12, 0.34  #: of ball and rollers, the gap and their length [m]
TURNS = 2.0
RIBS, DEEP = 12, 0.0025  #: around a roller, and how deep it is between them [m]
AXLE, STAND = 0.018, 0.24  #: how thick axles are, and where they are held, behind the rollers [m]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 420, 420, ambient=0.25)
    ball = jelly.ball(scene, "Ball", RADIUS, (0.0, 0.0, 0.175), stage.surface("Gum", (0.75, 0.10, 0.30), 0.3, 0.01))
    jelly.soft(ball, "tetgen", 0.06, 2.0e4, friction=0.9)
    rubber, steel = stage.surface("Rubber", (0.06, 0.22, 0.30), 0.6), stage.surface("Steel", (0.45, 0.47, 0.50), 0.3)
    for name, side in (("Left", -1), ("Right", 1)):
        made = roller(scene, name)
        made.data.materials.append(rubber)
        made.location = (side * (ROLLER + 0.5 * APART), 0.0, 0.0)
        made.rotation_mode = "XYZ"
        stage.key(made, "rotation_euler", {1: (0.0, 0.0, 0.0), END: (0.0, -side * radians(360.0 * TURNS), 0.0)})
        jelly.collider(made, friction=0.9)
        stand(scene, name, made.location.x, steel)
    floor = stage.mesh_object(scene, "Floor", [(x, y, -0.3) for x, y in ((-2, -2), (2, -2), (2, 2), (-2, 2))],
                              [(0, 1, 2, 3)])
    floor.data.materials.append(stage.surface("Slate", (0.16, 0.17, 0.19), 0.8))
    jelly.collider(floor)
    stage.backdrop(scene, 1.2, -0.302, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-0.9, -1.1, 1.0), (0.0, 0.0, -0.1), 40.0, 0.4, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.9, 0.6, 0.8), (0.0, 0.0, -0.1), 26.0, 0.4, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.25, -1.35, 0.22), (0.0, 0.0, -0.035), 50.0)


def roller(scene: bpy.types.Scene, name: str, around: int = 48, along: int = 6) -> bpy.types.Object:
    """A closed cylinder along Y with low ribs."""
    vertices, faces = [], []
    for k in range(along + 1):
        y = WIDE * (k / along - 0.5)
        for i in range(around):
            turn = 2 * pi * i / around
            r = ROLLER - 0.5 * DEEP * (1.0 - cos(RIBS * turn))
            vertices.append((r * cos(turn), y, r * sin(turn)))
    for i in range(around):
        j = (i + 1) % around
        faces += [(k * around + i, (k + 1) * around + i, (k + 1) * around + j, k * around + j) for k in range(along)]
    faces += [tuple(range(around)), tuple(reversed(range(along * around, (along + 1) * around)))]
    made = stage.mesh_object(scene, name, vertices, faces)
    made.data.polygons.foreach_set("use_smooth", [len(face) == 4 for face in faces])
    return made


def stand(scene: bpy.types.Scene, name: str, side: float, look: bpy.types.Material) -> None:
    """An axle that sticks out of both ends of a roller, and what holds it behind: to be looked at alone."""
    for part, size, place in (("post", (0.05, 0.03, 0.36), (side, STAND, -0.12)),):
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=place)
        bpy.context.object.scale = size
        bpy.context.object.name = f"{name} {part}"
        bpy.context.object.data.materials.append(look)
    bpy.ops.mesh.primitive_cylinder_add(vertices=32, radius=AXLE, depth=WIDE + 0.11, location=(side, 0.035, 0.0),
                                        rotation=(0.5 * pi, 0.0, 0.0))
    axle = bpy.context.object
    axle.name = f"{name} axle"
    axle.data.materials.append(look)
    axle.data.polygons.foreach_set("use_smooth", [len(face.vertices) == 4 for face in axle.data.polygons])
