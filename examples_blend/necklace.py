"""necklace.blend: pearls of jelly on a string, one end of which comes down: they slide and gather."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np

from . import stage
from .ropes import strand

END = 60
SHEET = (1, 6, 10, 14, 20, 28, 40, 60)  #: frames of the contact sheet
LINKS, WIDTH, SAG = 72, 0.36, 0.10  #: of the string, how far apart its ends are and how deep it hangs [m]
PEARLS, RADIUS = 7, 0.014  #: [m]
COLOURS = ((0.75, 0.16, 0.20), (0.85, 0.55, 0.15), (0.15, 0.45, 0.65))


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 360)
    x = np.linspace(-0.5, 0.5, LINKS + 1)
    places = np.stack([WIDTH * x, np.zeros(LINKS + 1), SAG * (4.0 * x * x - 1.0)], axis=1)
    string = strand(scene, "String", places, 0.004, (0.85, 0.80, 0.70))
    string.conjac.linear_density, string.conjac.rope_bending_stiffness = 0.01, 2.0e-5
    # its left end comes down by half of its height
    for at, frame in ((0.0, 4), (-0.06, 12)):
        string.location.z = at
        string.rotation_euler.y = -0.3 if at else 0.0
        string.keyframe_insert("location", frame=frame)
        string.keyframe_insert("rotation_euler", frame=frame)
    for number in range(PEARLS):
        place = places[15 + 7 * number]
        pearl(scene, f"Pearl {number + 1}", place, string, COLOURS[number % len(COLOURS)])
    stage.backdrop(scene, 0.40, -0.30, (0.12, 0.14, 0.18))
    stage.light(scene, "Key", (-0.35, -0.50, 0.45), (0.0, 0.0, -0.05), 9.0, 0.30, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.45, 0.25, 0.40), (0.0, 0.0, -0.05), 6.0, 0.20, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.0, -0.85, 0.0), (0.0, 0.0, -0.10), 60.0)


def pearl(scene: bpy.types.Scene, name: str, place: np.ndarray, string: bpy.types.Object, colour: tuple) -> None:
    """A ball of jelly that is threaded on the string."""
    mesh = bpy.data.meshes.new(name)
    ball = bmesh.new()
    bmesh.ops.create_icosphere(ball, subdivisions=3, radius=RADIUS)
    ball.to_mesh(mesh)
    ball.free()
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    made = bpy.data.objects.new(name, mesh)
    made.location = place
    scene.collection.objects.link(made)
    made.data.materials.append(stage.surface(name, colour, 0.25, subsurface=0.004))
    soft = made.conjac
    soft.edge_length, soft.youngs_modulus = 0.012, 6.0e4
    stage.choose(made)
    bpy.ops.conjac.add_soft_body()
    soft.use_ground = False
    string.select_set(True)
    bpy.ops.conjac.add_constraint(kind="on_curve")
    soft.constraints[0].place.location = place
