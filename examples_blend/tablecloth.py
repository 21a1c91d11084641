"""tablecloth.blend: a tablecloth is pulled off a laid table; what stands on it stays."""

from __future__ import annotations

from math import radians

import bpy

from . import sharp, stage

END = 30
SHEET = (1, 10, 13, 16, 18, 20, 23, 26)  #: frames of the contact sheet
SIZE, CELLS = (1.3, 1.0), (26, 20)  #: of the cloth [m]
TABLE = (0.9, 0.7, 0.05)  #: its top [m]
HEIGHT, ROOM, THICK = 0.72, 0.002, 0.0005  #: of the table's top, between it and what stands there, and of the cloth [m]
PULL = {1: 0.0, 10: 0.0, 32: 1.35}  #: of the cloth's edge, along X [m]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 520, 380)
    cloth = sharp.sheet(scene, "Tablecloth", SIZE, CELLS, (0.50, 0.05, 0.06))
    stage.paint(cloth, "Pin", [1.0 if vertex.co.x > 0.499 * SIZE[0] else 0.0 for vertex in cloth.data.vertices])
    for frame, x in PULL.items():
        stage.key(cloth, "location", {frame: (0.03 + x, 0.0, HEIGHT + 0.5 * ROOM - (0.0 if frame == 1 else 0.04))})
    table = sharp.block(scene, "Table", TABLE, (0.30, 0.18, 0.09))
    table.location.z = HEIGHT
    things = [sharp.block(scene, "Book", (0.20, 0.14, 0.05), (0.04, 0.13, 0.32)),
              sharp.block(scene, "Box", (0.10, 0.10, 0.12), (0.65, 0.42, 0.05)),
              sharp.block(scene, "Brick", (0.22, 0.10, 0.07), (0.06, 0.26, 0.12))]
    for thing, x, y, turn in zip(things, (-0.18, 0.20, 0.05), (0.12, 0.10, -0.18), (20.0, -15.0, 5.0)):
        thing.location = (x, y, HEIGHT + ROOM + thing.dimensions.z)
        thing.rotation_euler.z = radians(turn)
    sharp.legs(scene, (0.82, 0.62), HEIGHT - TABLE[2], 0.05, (0.26, 0.15, 0.07))
    sharp.cloth(cloth, area_density=0.12, thickness=THICK)
    sharp.collider(table, 0.1)
    for thing in things:
        sharp.collider(thing, 0.05)
    stage.backdrop(scene, 2.4, 0.0, (0.13, 0.11, 0.10), turn=26.0)
    stage.light(scene, "Key", (1.6, -2.6, 2.8), (0.2, 0.0, 0.7), 170.0, 1.0, (1.0, 0.94, 0.86))
    stage.light(scene, "Rim", (-2.2, 1.8, 1.8), (0.2, 0.0, 0.7), 90.0, 1.0, (0.80, 0.90, 1.0))
    stage.camera(scene, (1.8, -2.7, 1.75), (0.56, 0.0, 0.52), 41.0)
