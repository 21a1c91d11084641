"""wire.blend: silk lies on a wire, folds over it, and is pulled down and over it by its edge."""

from __future__ import annotations

import bpy

from . import sharp, stage

END = 16
SHEET = (1, 3, 5, 7, 9, 11, 13, 16)  #: frames of the contact sheet
SIDE, CELLS = 1.0, 20  #: of the cloth [m]
HEIGHT, RADIUS = 1.1, 0.002  #: of the wire [m]
#: where the pulled edge goes [m]: by frame, along X and Z
PULL = {1: (0.0, 0.0), 10: (-0.30, -0.34), 36: (-0.34, -0.78)}


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 380)
    cloth = sharp.sheet(scene, "Silk", (SIDE, SIDE), (CELLS, CELLS), (0.05, 0.16, 0.42))
    stage.paint(cloth, "Pin", [1.0 if vertex.co.x > 0.499 * SIDE else 0.0 for vertex in cloth.data.vertices])
    for frame, (x, z) in PULL.items():
        stage.key(cloth, "location", {frame: (0.12 + x, 0.0, HEIGHT + 0.004 + z)})
    wire = sharp.thin(scene, "Wire", [(0.0, -0.9, HEIGHT), (0.0, 0.9, HEIGHT)], [(0, 1)])
    sharp.rod(scene, "Rod", (0.0, -0.9, HEIGHT - RADIUS), (0.0, 0.9, HEIGHT - RADIUS), RADIUS, RADIUS,
              (0.75, 0.72, 0.66))
    for side in (-0.9, 0.9):
        sharp.rod(scene, "Post", (0.0, side, 0.0), (0.0, side, HEIGHT + 0.02), 0.012, 0.012, (0.30, 0.18, 0.09))
    sharp.cloth(cloth)
    sharp.collider(wire, 0.05)
    stage.backdrop(scene, 2.0, 0.0, (0.13, 0.12, 0.12), turn=40.0)
    stage.light(scene, "Key", (1.6, -2.6, 2.8), (0.0, 0.0, 0.8), 160.0, 1.0, (1.0, 0.94, 0.86))
    stage.light(scene, "Rim", (-2.2, 1.8, 1.6), (0.0, 0.0, 0.8), 90.0, 1.0, (0.80, 0.90, 1.0))
    stage.camera(scene, (2.4, -1.9, 1.55), (0.0, 0.0, 0.82), 42.0)
