"""stack.blend: ten soft blocks stand on each other; a heavy arm comes from the side and topples the upper ones."""

from __future__ import annotations

import bpy

from . import jelly, stage
from .grid_box import checker, grid_box

END = 60
SHEET = (1, 30, 33, 36, 39, 42, 50, 60)  #: frames of the contact sheet
COUNT, CELLS, EDGE, GAP = 10, (3, 3, 2), 0.03, 0.001
MODULUS = 2.0e6  #: [Pa]: a column as high and as soft as jelly, 6e4, buckles under its own weight
DAMPING = 1.0e-3  #: of stiffness [s]: blocks of hard rubber, which hardly bounce


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 400)
    light, dark = stage.surface("Light", (0.80, 0.62, 0.35), 0.5), stage.surface("Dark", (0.50, 0.20, 0.10), 0.5)
    height = CELLS[2] * EDGE
    for k in range(COUNT):
        aside = 0.004 * (-1) ** k
        block = grid_box(scene, f"Block {k + 1:02d}", CELLS, EDGE,
                         (-0.5 * CELLS[0] * EDGE + aside, -0.5 * CELLS[1] * EDGE, GAP + k * (height + GAP)), checker)
        block.data.materials.append(light)
        block.data.materials.append(dark)
        jelly.soft(block, "grid", EDGE, MODULUS, damping=DAMPING)
        block.conjac.contact.distance = GAP  # what starts nearer is thrown apart
    floor = grid_box(scene, "Floor", (12, 8, 1), 0.2, (-0.8, -0.8, -0.2), lambda axis, cell: 0)
    floor.data.materials.append(stage.surface("Slate", (0.16, 0.17, 0.19), 0.7))
    jelly.collider(floor)
    arm = grid_box(scene, "Arm", (6, 1, 1), 0.06, (-0.36, -0.03, -0.03), lambda axis, cell: 0)
    arm.data.materials.append(stage.surface("Steel", (0.45, 0.46, 0.48), 0.3))
    stage.key(arm, "location", {1: (-0.45, 0.0, 0.45), 26: (-0.45, 0.0, 0.45), 38: (0.04, 0.0, 0.45),
                                52: (-0.45, 0.0, 0.45)})
    jelly.collider(arm, friction=0.2)
    stage.backdrop(scene, 1.6, -0.002, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-0.9, -1.3, 1.6), (0.0, 0.0, 0.3), 45.0, 0.6, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (1.1, 0.8, 1.1), (0.0, 0.0, 0.3), 40.0, 0.5, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.66, -2.05, 0.85), (0.27, 0.0, 0.25), 51.0)
