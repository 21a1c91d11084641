"""rabbit.blend: a rabbit of our own with long soft ears falls on its feet and its face, and its ears slap the floor.

In place of the dissertation's BUNNY, whose mesh is not ours to ship.
"""

from __future__ import annotations

from math import radians

import bpy

from . import drop, jelly, stage
from .grid_box import grid_box

END = 72
SHEET = (1, 4, 6, 8, 10, 14, 24, 72)  #: frames of the contact sheet
TURN, HEIGHT = (48.0, 8.0, 22.0), 0.135  #: how it is held [degrees] and how high its middle is [m]
MODULUS, DAMPING = 2.0e4, 5.0e-4  #: [Pa], and of stiffness [s]
FINE = 0.009  #: of the mesh [m]
#: the ears of drop.blend, longer and thinner
EARS = {f"{side} ear": tuple(((sign * (0.013 + 0.005 * k), 0.003 * k - 0.006, 0.066 + 0.014 * k), 0.0105)
                             for k in range(7)) for side, sign in (("left", 1), ("right", -1))}


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 380)
    toy = drop.rabbit(scene, drop.BALLS | EARS, FINE)
    toy.location, toy.rotation_euler = (0.0, 0.0, HEIGHT), tuple(radians(angle) for angle in TURN)
    jelly.soft(toy, "tetgen", 0.03, MODULUS, itself=True, friction=0.5, damping=DAMPING)
    floor = grid_box(scene, "Floor", (8, 8, 1), 0.1, (-0.4, -0.4, -0.1), lambda axis, cell: 0)
    floor.data.materials.append(stage.surface("Slate", (0.16, 0.17, 0.19), 0.7))
    jelly.collider(floor, friction=0.5)
    stage.light(scene, "Key", (-0.35, -0.50, 0.55), (0.0, 0.0, 0.04), 9.0, 0.30, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.45, 0.25, 0.40), (0.0, 0.0, 0.04), 6.0, 0.20, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.14, -0.70, 0.24), (0.0, 0.0, 0.10), 50.0)
