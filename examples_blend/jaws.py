"""jaws.blend: teeth close on silk from above and below, and it is pulled out between them."""

from __future__ import annotations

import bpy

from . import sharp, stage

END = 40
SHEET = (1, 5, 9, 13, 18, 24, 32, 40)  #: frames of the contact sheet
SIZE, CELLS = (1.2, 0.6), (24, 12)  #: of the cloth [m]
HEIGHT = 0.5  #: of the cloth at first [m]
PITCH, DEEP, WIDE = 0.20, 0.12, 0.9  #: between teeth, how high they are, and how long [m]
APART, BITE = 0.01, 0.05  #: from the cloth at first, and how far they go past it [m]
SHUT = 12  #: frame


def teeth(scene: bpy.types.Scene, name: str, places: list[float], way: float) -> list[bpy.types.Object]:
    """Wedges along Y whose edges point up (way 1) or down (−1)."""
    made, half = [], 0.3 * PITCH
    for k, x in enumerate(places):
        ends = [(x - half, -way * DEEP), (x + half, -way * DEEP), (x, 0.0)]
        vertices = [(a, side * WIDE / 2, z) for side in (-1, 1) for a, z in ends]
        faces = [(0, 1, 2), (5, 4, 3), (1, 0, 3, 4), (2, 1, 4, 5), (0, 2, 5, 3)]
        made.append(stage.mesh_object(scene, f"{name} {k + 1}", vertices, faces))
        made[-1].data.materials.append(stage.surface(name, (0.55, 0.55, 0.58), 0.3))
    return made


def jaws(scene: bpy.types.Scene, lower: list[bpy.types.Object], upper: list[bpy.types.Object]) -> None:
    """Add the gums that teeth stand on and hang from, to see only."""
    for name, tooth, top, tall in (("Lower Jaw", lower[0], -DEEP, 0.8), ("Upper Jaw", upper[0], DEEP + 0.8, 0.8)):
        made = sharp.block(scene, name, (0.5 if tooth is lower[0] else 0.3, WIDE, tall), (0.16, 0.17, 0.19))
        made.parent, made.location = tooth, (-0.05, 0.0, top)


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 380)
    cloth = sharp.sheet(scene, "Silk", SIZE, CELLS, (0.48, 0.05, 0.20))
    stage.paint(cloth, "Pin", [1.0 if vertex.co.x > 0.499 * SIZE[0] else 0.0 for vertex in cloth.data.vertices])
    stage.key(cloth, "location", {1: (0.0, 0.0, HEIGHT), SHUT: (0.0, 0.0, HEIGHT), END: (0.95, 0.0, HEIGHT)})
    lower = teeth(scene, "Lower Tooth", [-0.25, -0.05, 0.15], 1.0)
    upper = teeth(scene, "Upper Tooth", [-0.15, 0.05], -1.0)
    for tooth, way in [*((one, -1.0) for one in lower), *((one, 1.0) for one in upper)]:
        stage.key(tooth, "location", {1: (0.0, 0.0, HEIGHT + way * APART), SHUT: (0.0, 0.0, HEIGHT - way * BITE / 2)})
    jaws(scene, lower, upper)
    sharp.cloth(cloth)
    for tooth in (*lower, *upper):
        sharp.collider(tooth, 0.05)
    stage.backdrop(scene, 2.0, 0.0, (0.12, 0.12, 0.15))
    stage.light(scene, "Key", (1.2, -2.6, 2.0), (0.1, 0.0, 0.45), 140.0, 1.0, (1.0, 0.94, 0.86))
    stage.light(scene, "Rim", (-2.2, 1.8, 1.6), (0.1, 0.0, 0.45), 90.0, 1.0, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.45, -3.3, 1.05), (0.30, 0.0, 0.45), 48.0)
