"""push.blend: a box pushes a hanging curtain aside and goes back; the curtain slides over its edges and leaves them."""

from __future__ import annotations

from math import radians

import bpy

from . import sharp, stage

END = 48
SHEET = (1, 8, 14, 20, 26, 32, 38, 48)  #: frames of the contact sheet
SIDE, CELLS = 1.0, 20  #: of the cloth [m]
TOP = 1.25  #: where it hangs [m]
BOX = 0.34  #: side of the box [m]
#: where the box's near side is: by frame, along Y [m]; the curtain hangs at 0
WAY = {1: -0.03, 22: 0.42, 28: 0.42, 44: -0.15}


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 380)
    cloth = sharp.sheet(scene, "Curtain", (SIDE, SIDE), (CELLS, CELLS), (0.05, 0.30, 0.20))
    stage.paint(cloth, "Pin", [1.0 if vertex.co.y > 0.499 * SIDE else 0.0 for vertex in cloth.data.vertices])
    cloth.rotation_euler.x = radians(90.0)
    cloth.location = (0.0, 0.0, TOP - SIDE / 2)
    box = sharp.block(scene, "Box", (BOX, BOX, BOX), (0.62, 0.60, 0.56))
    box.rotation_euler.z = radians(20.0)
    reach = BOX * (0.9397 + 0.3420) / 2  # of its corner, turned by 20 degrees
    for frame, y in WAY.items():
        stage.key(box, "location", {frame: (0.04, y - reach, TOP - 0.42)})
    corners, steel = [(-0.6, 0.0, 0.0), (-0.6, 0.0, TOP), (0.6, 0.0, TOP), (0.6, 0.0, 0.0)], (0.45, 0.45, 0.48)
    for name, start, end in zip(("Left Post", "Rail", "Right Post"), corners, corners[1:]):
        sharp.rod(scene, name, start, end, 0.008, 0.008, steel)
    arm = sharp.rod(scene, "Arm", (0.0, 0.0, -1.3), (0.0, 0.0, -BOX), 0.03, 0.03, steel)
    arm.parent = box  # to see only: what the box stands on
    sharp.cloth(cloth)
    sharp.collider(box, 0.1)
    stage.backdrop(scene, 2.0, 0.0, (0.13, 0.12, 0.11), turn=120.0)
    stage.light(scene, "Key", (2.2, 2.0, 2.4), (0.0, 0.1, 0.8), 150.0, 1.0, (1.0, 0.94, 0.86))
    stage.light(scene, "Fill", (2.2, -2.2, 1.6), (0.0, 0.1, 0.8), 60.0, 1.0, (0.80, 0.90, 1.0))
    stage.camera(scene, (2.9, 2.0, 1.55), (0.0, 0.06, 0.76), 54.0)
