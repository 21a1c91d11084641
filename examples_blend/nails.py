"""nails.blend: silk falls onto a bed of nails and is pulled off over their tips."""

from __future__ import annotations

import bpy

from . import sharp, stage

END = 40
SHEET = (1, 6, 12, 18, 24, 29, 34, 40)  #: frames of the contact sheet
SIDE, CELLS = 1.0, 20  #: of the cloth [m]
HEIGHT, LENGTH, RADIUS = 0.6, 0.25, 0.006  #: of the tips, and of the nails [m]
ROWS = (-0.33, -0.11, 0.11, 0.33)  #: of nails, along X and Y [m]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 380)
    cloth = sharp.sheet(scene, "Silk", (SIDE, SIDE), (CELLS, CELLS), (0.62, 0.36, 0.04))
    stage.paint(cloth, "Pin", [1.0 if vertex.co.x > 0.499 * SIDE else 0.0 for vertex in cloth.data.vertices])
    stage.key(cloth, "location", {1: (0.02, 0.013, HEIGHT + 0.004), 10: (0.0, 0.013, HEIGHT),
                                  END: (0.62, 0.013, HEIGHT)})
    tips = [(x + 0.02 * (j % 2), y, HEIGHT) for x in ROWS for j, y in enumerate(ROWS)]
    nails = sharp.thin(scene, "Nails", tips, [])
    for k, tip in enumerate(tips):
        sharp.rod(scene, f"Nail {k + 1}", (tip[0], tip[1], HEIGHT - LENGTH), tip, RADIUS, 0.0004, (0.60, 0.60, 0.62))
    sharp.block(scene, "Board", (0.9, 0.9, 0.04), (0.30, 0.18, 0.09)).location.z = HEIGHT - LENGTH
    sharp.legs(scene, (0.8, 0.8), HEIGHT - LENGTH - 0.04, 0.06, (0.26, 0.15, 0.07))
    sharp.cloth(cloth)
    sharp.collider(nails, 0.0)
    stage.backdrop(scene, 2.0, 0.0, (0.10, 0.13, 0.13))
    stage.light(scene, "Key", (1.6, -2.6, 2.4), (0.0, 0.0, 0.5), 150.0, 1.0, (1.0, 0.94, 0.86))
    stage.light(scene, "Rim", (-2.2, 1.8, 1.6), (0.0, 0.0, 0.5), 90.0, 1.0, (0.80, 0.90, 1.0))
    stage.camera(scene, (1.9, -2.6, 1.55), (0.22, 0.0, 0.40), 54.0)
