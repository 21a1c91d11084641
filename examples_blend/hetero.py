"""hetero.blend: the paper's HETERO. A standing bar of stiff and soft layers whose base is jerked to and fro.

12 × 12 × 34 cells (5915 nodes), one dynamic node on top. The layers are painted on the surface and go straight in.
"""

from __future__ import annotations

import bpy

from . import stage
from .grid_box import grid_box

CELLS, EDGE = (12, 12, 34), 0.0045  #: [m]
LAYERS = (7, 7, 6, 7, 7)  #: cells of each, from the bottom, stiff ones first
SIDE, HEIGHT = CELLS[0] * EDGE, CELLS[2] * EDGE
END = 48
JERK = {1: 0.0, 4: 0.0, 7: 0.04, 10: -0.03, 13: 0.0, END: 0.0}  #: of the base along X [m], by frame
SHEET = (1, 7, 10, 13, 16, 24, 32, 40)  #: frames of the contact sheet


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 300, 380)
    layer = [number for number, cells in enumerate(LAYERS) for _ in range(cells)]

    def shade(axis: int, cell: list[int]) -> int:
        return 2 * (layer[cell[2]] % 2) + (sum(cell) - cell[axis]) % 2

    body = grid_box(scene, "Layers", CELLS, EDGE, (-SIDE / 2, -SIDE / 2, 0.0), shade)
    for name, colour in (("Stiff", (0.05, 0.20, 0.36)), ("Soft", (0.62, 0.30, 0.10))):
        body.data.materials.append(stage.surface(f"{name} Light", colour, 0.4))
        body.data.materials.append(stage.surface(f"{name} Dark", tuple(0.6 * c for c in colour), 0.4))
    heights = [vertex.co.z / EDGE for vertex in body.data.vertices]
    stage.paint(body, "Pin", [1.0 if height < 0.5 else 0.0 for height in heights])
    # a border between two layers belongs to the stiff one
    stage.paint(body, "Stiffness", [1.0 if 0 in {layer[min(max(round(height) - below, 0), CELLS[2] - 1)] % 2
                                                 for below in (0, 1)} else 0.0 for height in heights])
    stage.key(body, "location", {frame: (x, 0.0, 0.0) for frame, x in JERK.items()})
    empty = bpy.data.objects.new("Dynamic", None)
    empty.empty_display_type, empty.empty_display_size = "SPHERE", 0.006
    empty.location = (0.0, 0.0, HEIGHT - 2 * EDGE)
    scene.collection.objects.link(empty)
    body.conjac.handles.add().object = empty
    settings(body)
    stage.backdrop(scene, 0.30, 0.0, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-0.30, -0.40, 0.45), (0.0, 0.0, 0.07), 6.0, 0.25, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.35, 0.30, 0.25), (0.0, 0.0, 0.07), 3.5, 0.16, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.10, -0.52, 0.19), (0.0, 0.0, 0.078), 64.0)


def settings(body: bpy.types.Object) -> None:
    """E = 1e4 Pa, ν = 0.4 as in the paper's Table 1; stiff layers ten times as stiff are ours."""
    soft = body.conjac
    soft.enabled = True
    soft.method = "conjac"
    soft.mesher, soft.edge_length = "grid", EDGE
    soft.youngs_modulus, soft.youngs_modulus_high, soft.carry = 1.0e4, 1.0e5, "straight"
    soft.poisson_ratio, soft.density = 0.4, 1000.0
    soft.step, soft.corrections = 1.0 / 96.0, 1
