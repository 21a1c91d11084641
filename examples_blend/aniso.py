"""aniso.blend: the paper's ANISO. Four standing bars whose fibers run along X, along Z, between both, and in a helix.

12 × 12 × 38 cells (6591 nodes) each, one dynamic node on top. They are held at the bottom, which jumps up and stops:
gravity alone turns the helix by four degrees, which is hard to see, and bars of this shape that are soft enough for
more fall over. What is pressed gives way across its fibers: the diagonal ones lean, the helix turns.
"""

from __future__ import annotations

from math import pi

import bpy

from . import stage
from .grid_box import checker, grid_box

CELLS = (12, 12, 38)
EDGE = 0.0015  #: [m]
SIDE, HEIGHT = CELLS[0] * EDGE, CELLS[2] * EDGE
APART = 0.034  #: [m]
END = 24
RISE = {1: 0.0, 4: 0.0, 7: 0.06, END: 0.06}  #: of the bottoms [m], by frame
SHEET = (1, 5, 6, 7, 8, 9, 12, 24)  #: frames of the contact sheet

#: field, its axis and a colour
FIBERS = {
    "Horizontal": ("straight", (1.0, 0.0, 0.0), (0.05, 0.30, 0.45)),
    "Vertical": ("straight", (0.0, 0.0, 1.0), (0.10, 0.38, 0.16)),
    "Diagonal": ("straight", (1.0, 0.0, 1.0), (0.65, 0.40, 0.05)),
    "Helical": ("helix", (0.0, 0.0, 1.0), (0.55, 0.07, 0.10)),
}


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 380, 300)
    for k, (name, (field, axis, colour)) in enumerate(FIBERS.items()):
        place = ((k - 1.5) * APART, 0.0, 0.0)
        body = bar(scene, name, colour)
        stage.key(body, "location", {frame: (place[0], 0.0, rise) for frame, rise in RISE.items()})
        settings(body, field, axis)
        empty = bpy.data.objects.new("Dynamic", None)
        empty.empty_display_type, empty.empty_display_size = "SPHERE", 0.002
        empty.location = (place[0], 0.0, HEIGHT - 2 * EDGE)
        scene.collection.objects.link(empty)
        body.conjac.handles.add().object = empty
    stage.backdrop(scene, 0.14, 0.0, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-0.12, -0.20, 0.20), (0.0, 0.0, 0.06), 1.2, 0.12, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.18, 0.12, 0.14), (0.0, 0.0, 0.06), 0.7, 0.08, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.0, -0.27, 0.33), (0.0, 0.0, 0.072), 74.0)


def bar(scene: bpy.types.Scene, name: str, colour: tuple[float, float, float]) -> bpy.types.Object:
    """A bar in a checker with a stripe, its own origin in the middle of its bottom, which is pinned."""
    body = grid_box(scene, name, CELLS, EDGE, (-SIDE / 2, -SIDE / 2, 0.0), striped)
    body.data.materials.append(stage.surface(f"{name} Light", colour, 0.4))
    body.data.materials.append(stage.surface(f"{name} Dark", tuple(0.4 * c for c in colour), 0.4))
    body.data.materials.append(stage.surface(f"{name} Stripe", (0.85, 0.84, 0.78), 0.4))
    stage.paint(body, "Pin", [1.0 if vertex.co.z < EDGE / 2 else 0.0 for vertex in body.data.vertices])
    return body


def striped(axis: int, cell: list[int]) -> int:
    """A checker, and a light stripe up the front and the back and over the top: where it leans the bar has turned."""
    return 2 if axis != 0 and cell[0] in (CELLS[0] // 2 - 1, CELLS[0] // 2) else checker(axis, cell)


def settings(body: bpy.types.Object, field: str, axis: tuple[float, float, float]) -> None:
    """E = 1e4 Pa, ν = 0.4 as in the paper's Table 1; the fibers' modulus is ours."""
    soft = body.conjac
    soft.enabled = True
    soft.method = "conjac"
    soft.mesher, soft.edge_length = "grid", EDGE
    soft.youngs_modulus, soft.poisson_ratio, soft.density = 1.0e4, 0.4, 1000.0
    soft.fiber_material, soft.fiber_field = "astvk", field
    soft.fiber_modulus = 5.0e4
    soft.fiber_x, soft.fiber_y, soft.fiber_z = axis
    soft.fiber_angle = pi / 4
    soft.step = 1.0 / 96.0
