"""slices.blend: a pusher moves a loaf of jelly over the end of a table, where it is cut; slices fall on each other."""

from __future__ import annotations

import bpy

from . import jelly, stage
from .grid_box import checker, grid_box

CELLS, EDGE = (14, 5, 5), 0.02  #: a loaf of 28 × 10 × 10 cm
LENGTH, SIDE = CELLS[0] * EDGE, CELLS[1] * EDGE
END = 64
SHEET = (1, 9, 13, 22, 28, 36, 46, 64)  #: frames of the contact sheet
MODULUS = 1.2e5  #: [Pa]
DAMPING = 1.0e-3  #: of stiffness [s]
GAP = 0.001
FLOOR, TABLE = -0.22, 0.20  #: height of the floor, and where the table ends [m]
BLADE = 0.215  #: where the loaf is cut [m]
PUSHED = 0.05  #: between two cuts [m]
CUTS = (6, 23, 40)  #: frames; the loaf is pushed in between


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 560, 400)
    loaf = grid_box(scene, "Loaf", CELLS, EDGE, (0.0, -SIDE / 2, GAP), checker)
    loaf.data.materials.append(stage.surface("Light", (0.75, 0.30, 0.28), 0.35))
    loaf.data.materials.append(stage.surface("Dark", (0.55, 0.12, 0.12), 0.35))
    jelly.soft(loaf, "grid", EDGE, MODULUS, friction=0.3, damping=DAMPING)
    loaf.conjac.contact.distance = GAP
    # of the loaf's size: a plane without an end would cut what has fallen, too
    half = 0.7 * SIDE
    blade = stage.mesh_object(scene, "Blade", [(BLADE, -half, -0.02), (BLADE, half, -0.02), (BLADE, half, 2 * half),
                                               (BLADE, -half, 2 * half)], [(0, 1, 2, 3)])
    blade.hide_render = True
    for frame in CUTS:
        cut = loaf.conjac.cuts.add()
        cut.frame, cut.object = frame, blade
    loaf.conjac.inside_material = stage.surface("Inside", (0.62, 0.05, 0.07), 0.4)
    table = grid_box(scene, "Table", (10, 8, 1), 0.04, (TABLE - 0.4, -0.16, -0.04), lambda axis, cell: 0)
    table.data.materials.append(stage.surface("Wood", (0.36, 0.22, 0.11), 0.6))
    jelly.collider(table, friction=0.2)
    pusher = grid_box(scene, "Pusher", (1, 4, 4), 0.02, (0.0, -0.04, 0.005), lambda axis, cell: 0)
    pusher.data.materials.append(stage.surface("Steel", (0.45, 0.46, 0.48), 0.3))
    begins = -0.02 - GAP
    keys = {1: begins}
    for k, frame in enumerate(CUTS[:-1]):
        keys[frame + 2] = begins + k * PUSHED
        keys[frame + 14] = begins + (k + 1) * PUSHED
    stage.key(pusher, "location", {frame: (x, 0.0, 0.0) for frame, x in keys.items()})
    jelly.collider(pusher, friction=0.2)
    floor = grid_box(scene, "Floor", (14, 14, 1), 0.2, (-1.2, -0.9, FLOOR - 0.2), lambda axis, cell: 0)
    floor.data.materials.append(stage.surface("Slate", (0.16, 0.17, 0.19), 0.7))
    jelly.collider(floor)
    stage.light(scene, "Key", (0.5, -0.9, 1.0), (0.14, 0.0, 0.0), 22.0, 0.5, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.9, 0.6, 0.6), (0.14, 0.0, 0.0), 14.0, 0.4, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.78, -1.05, 0.36), (0.17, 0.0, -0.05), 62.0)
