"""twist.blend: the paper's TWIST with one, two and four dynamic nodes on the axis, moved alike, one above the other."""

from __future__ import annotations

import bpy

from . import bar, stage

COUNTS = (1, 2, 4)  #: dynamic nodes, from the front bar to the last
APART = 0.20  #: [m]
SHEET = (1, 14, 36, 66, 84, 108, 120, 126)  #: frames of the contact sheet


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, bar.END, 480, 480)
    for row, count in enumerate(COUNTS):
        body = bar.box(scene, f"Bar {count}")
        bar.rig(scene, body, (0.0, 0.0, -row * APART))
        bar.handles(scene, body, count)
        bar.settings(body)
    stage.backdrop(scene, 0.45, -0.55, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-0.2, -0.9, 0.6), (0.1, 0.0, -0.2), 20.0, 0.5, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.6, 0.4, 0.3), (0.1, 0.0, -0.2), 18.0, 0.4, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.15, -1.45, -0.12), (0.10, 0.0, -0.185), 75.0)
