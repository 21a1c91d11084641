"""nails.blend: silk falls onto a bed of nails and is pulled off over their tips, twice: rough ones hold it as it goes.

What snags is friction of the tips: on smooth ones the cloth slides freely, on rough ones it is stretched tight between
them and lags behind.
"""

from __future__ import annotations

import bpy

from . import sharp, stage

END = 40
SHEET = (1, 6, 12, 18, 24, 29, 34, 40)  #: frames of the contact sheet
SIDE, CELLS = 1.0, 20  #: of the cloth [m]
HEIGHT, LENGTH, RADIUS = 0.6, 0.25, 0.006  #: of the tips, and of the nails [m]
ROWS = (-0.33, -0.11, 0.11, 0.33)  #: of nails, along X and Y [m]
APART, ROUGH = 0.56, 1.0  #: of each bed from the middle [m], and friction of the second one's tips


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 560, 400)
    for side, mu, name, colour in ((-1, 0.0, "Smooth", (0.62, 0.36, 0.04)), (1, ROUGH, "Rough", (0.55, 0.06, 0.08))):
        bed(scene, name, side * APART, mu, colour)
    stage.backdrop(scene, 2.6, 0.0, (0.10, 0.13, 0.13))
    stage.light(scene, "Key", (1.6, -2.8, 2.8), (0.0, 0.0, 0.5), 210.0, 1.0, (1.0, 0.94, 0.86))
    stage.light(scene, "Rim", (-2.2, 1.8, 1.6), (0.0, 0.0, 0.5), 90.0, 1.0, (0.80, 0.90, 1.0))
    stage.camera(scene, (2.5, -3.3, 2.5), (0.22, 0.0, 0.36), 48.0)


def bed(scene: bpy.types.Scene, name: str, y: float, mu: float, colour: tuple[float, float, float]) -> None:
    """A board of nails with a cloth above it. y: where [m]; mu: friction of their tips."""
    cloth = sharp.sheet(scene, f"{name} Silk", (SIDE, SIDE), (CELLS, CELLS), colour)
    stage.paint(cloth, "Pin", [1.0 if vertex.co.x > 0.499 * SIDE else 0.0 for vertex in cloth.data.vertices])
    stage.key(cloth, "location", {1: (0.02, y + 0.013, HEIGHT + 0.004), 10: (0.0, y + 0.013, HEIGHT),
                                  END: (0.62, y + 0.013, HEIGHT)})
    tips = [(a + 0.02 * (j % 2), y + b, HEIGHT) for a in ROWS for j, b in enumerate(ROWS)]
    nails = sharp.thin(scene, f"{name} Nails", tips, [])
    for k, tip in enumerate(tips):
        sharp.rod(scene, f"{name} Nail {k + 1}", (tip[0], tip[1], HEIGHT - LENGTH), tip, RADIUS, 0.0004,
                  (0.60, 0.60, 0.62))
    sharp.block(scene, f"{name} Board", (0.9, 0.9, 0.04), (0.30, 0.18, 0.09)).location = (0.0, y, HEIGHT - LENGTH)
    sharp.legs(scene, (0.8, 0.8), HEIGHT - LENGTH - 0.04, 0.06, (0.26, 0.15, 0.07), y)
    sharp.cloth(cloth)
    sharp.collider(nails, mu)
