"""rollers.blend: a soft ball is drawn through two turning rollers that stand nearer to each other than it is wide."""

from __future__ import annotations

from math import cos, pi, radians, sin

import bpy

from . import jelly, stage

END = 60
SHEET = (1, 8, 14, 20, 26, 32, 40, 54)  #: frames of the contact sheet
RADIUS, ROLLER, APART, WIDE = 0.10, 0.08, 0.12, 0.34  #: of ball and rollers, the gap and their length [m]
TURNS = 2.0


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 420, 380)
    ball = jelly.ball(scene, "Ball", RADIUS, (0.0, 0.0, 0.175), stage.surface("Gum", (0.75, 0.10, 0.30), 0.3, 0.01))
    jelly.soft(ball, "tetgen", 0.06, 2.0e4, friction=0.9)
    rubber = stage.surface("Rubber", (0.06, 0.22, 0.30), 0.6)
    for name, side in (("Left", -1), ("Right", 1)):
        made = roller(scene, name)
        made.data.materials.append(rubber)
        made.location = (side * (ROLLER + 0.5 * APART), 0.0, 0.0)
        made.rotation_mode = "XYZ"
        stage.key(made, "rotation_euler", {1: (0.0, 0.0, 0.0), END: (0.0, -side * radians(360.0 * TURNS), 0.0)})
        jelly.collider(made, friction=0.9)
    floor = stage.mesh_object(scene, "Floor", [(x, y, -0.3) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))],
                              [(0, 1, 2, 3)])
    floor.data.materials.append(stage.surface("Slate", (0.16, 0.17, 0.19), 0.8))
    jelly.collider(floor)
    stage.light(scene, "Key", (-0.7, -1.1, 0.9), (0.0, 0.0, 0.0), 26.0, 0.4, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.8, 0.7, 0.8), (0.0, 0.0, 0.0), 22.0, 0.4, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.22, -1.25, 0.22), (0.0, 0.0, -0.03), 50.0)


def roller(scene: bpy.types.Scene, name: str, around: int = 24, along: int = 6) -> bpy.types.Object:
    """A closed cylinder along Y with eight low ribs."""
    vertices, faces = [], []
    for k in range(along + 1):
        y = WIDE * (k / along - 0.5)
        for i in range(around):
            r, turn = ROLLER * (1.0 if i % 3 else 0.95), 2 * pi * i / around
            vertices.append((r * cos(turn), y, r * sin(turn)))
    for i in range(around):
        j = (i + 1) % around
        faces += [(k * around + i, (k + 1) * around + i, (k + 1) * around + j, k * around + j) for k in range(along)]
    faces += [tuple(range(around)), tuple(reversed(range(along * around, (along + 1) * around)))]
    return stage.mesh_object(scene, name, vertices, faces)
