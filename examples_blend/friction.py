"""friction.blend: silk lies on four posts twice: rough ones hold its corners, between smooth ones it slides through."""

from __future__ import annotations

import bpy

from . import sharp, stage

END = 32
SHEET = (1, 6, 9, 12, 15, 18, 21, 25)  #: frames of the contact sheet
SIDE, CELLS = 0.8, 16  #: of each cloth [m]
POST, GAP, HEIGHT = 0.20, 0.36, 1.0  #: width of a post, room between two, and their height [m]
APART = 0.66  #: of each half from the middle [m]
ROUGH = 0.8


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 520, 380)
    for side, mu, name, colour in ((-1, ROUGH, "Rough", (0.55, 0.06, 0.08)), (1, 0.0, "Smooth", (0.05, 0.20, 0.50))):
        cloth = sharp.sheet(scene, f"{name} Silk", (SIDE, SIDE), (CELLS, CELLS), colour)
        cloth.location = (side * APART + 0.01, 0.013, HEIGHT + 0.004)
        sharp.cloth(cloth, bending_stiffness=5.0e-6)
        for a in (-1, 1):
            for b in (-1, 1):
                post = sharp.block(scene, f"{name} Post", (POST, POST, HEIGHT), (0.30, 0.18, 0.09))
                off = (GAP + POST) / 2
                post.location = (side * APART + a * off, b * off, HEIGHT)
                sharp.collider(post, mu)
    stage.backdrop(scene, 2.4, 0.0, (0.12, 0.13, 0.14))
    stage.light(scene, "Key", (1.6, -2.6, 2.8), (0.0, 0.0, 0.8), 170.0, 1.0, (1.0, 0.94, 0.86))
    stage.light(scene, "Rim", (-2.2, 1.8, 1.6), (0.0, 0.0, 0.6), 90.0, 1.0, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.6, -3.3, 2.3), (0.0, 0.0, 0.72), 48.0)
