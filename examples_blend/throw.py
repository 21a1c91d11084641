"""throw.blend: a box turns under silk, throws it up and catches it on its corners."""

from __future__ import annotations

from math import radians

import bpy

from . import sharp, stage

END = 36
SHEET = (1, 5, 9, 12, 15, 19, 25, 36)  #: frames of the contact sheet
SIDE, CELLS = 0.9, 18  #: of the cloth [m]
BOX, HEIGHT = 0.36, 0.7  #: side of the box, and its top [m]
#: how high and how far turned the box is: by frame [m, degrees]
WAY = {1: (0.0, 0.0), 9: (-0.10, 0.0), 14: (0.28, 25.0), 22: (0.0, 60.0), END: (0.0, 60.0)}


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 380)
    cloth = sharp.sheet(scene, "Silk", (SIDE, SIDE), (CELLS, CELLS), (0.36, 0.10, 0.45))
    cloth.location, cloth.rotation_euler.z = (0.03, -0.02, HEIGHT + 0.004), radians(14.0)
    box = sharp.block(scene, "Box", (BOX, BOX, BOX), (0.62, 0.60, 0.56))
    for frame, (z, turn) in WAY.items():
        stage.key(box, "location", {frame: (0.0, 0.0, HEIGHT + z)})
        stage.key(box, "rotation_euler", {frame: (0.0, 0.0, radians(turn))})
    rod = sharp.rod(scene, "Piston", (0.0, 0.0, -1.3), (0.0, 0.0, -BOX), 0.03, 0.03, (0.45, 0.45, 0.48))
    rod.parent = box  # to see only: what throws it
    sharp.cloth(cloth)
    sharp.collider(box, 0.1)
    stage.backdrop(scene, 2.0, 0.0, (0.12, 0.13, 0.16))
    stage.light(scene, "Key", (1.6, -2.6, 2.8), (0.0, 0.0, 0.7), 160.0, 1.0, (1.0, 0.94, 0.86))
    stage.light(scene, "Rim", (2.2, 1.8, 1.6), (0.0, 0.0, 0.7), 90.0, 1.0, (0.80, 0.90, 1.0))
    stage.camera(scene, (2.2, -2.6, 1.5), (0.0, 0.0, 0.60), 66.0)
