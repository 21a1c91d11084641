"""aniso.blend: the paper's ANISO. Four hanging bars whose fibers run along X, along Z, between both, and in a helix.

12 × 12 × 38 cells (6591 nodes) each, one dynamic node at the bottom. They are held at the top and let go unstretched:
their weight stretches them, they swing up and down and come to rest. The stripe down the front and over the bottom
shows how each gives way: the horizontal ones grow longest, the vertical ones hardly, the diagonal ones lean, the helix
turns. The paper's bars stand; of this shape they fall over before their weight turns the helix by more than 4 degrees.
"""

from __future__ import annotations

from math import pi

import bpy

from . import stage
from .grid_box import checker, grid_box

CELLS = (12, 12, 38)
EDGE = 0.01  #: [m]
SIDE, HEIGHT = CELLS[0] * EDGE, CELLS[2] * EDGE
APART = 0.225  #: [m]
END = 30
SHEET = (1, 4, 6, 8, 11, 14, 20, 30)  #: frames of the contact sheet

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
        body.location = place
        settings(body, field, axis)
        empty = bpy.data.objects.new("Dynamic", None)
        empty.empty_display_type, empty.empty_display_size = "SPHERE", 0.013
        empty.location = (place[0], 0.0, 2 * EDGE - HEIGHT)
        scene.collection.objects.link(empty)
        body.conjac.handles.add().object = empty
    beam(scene)
    stage.backdrop(scene, 0.9, -0.75, (0.20, 0.21, 0.23))
    stage.light(scene, "Key", (-0.7, -1.6, -0.1), (0.1, 0.0, -0.25), 44.0, 1.2, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.9, 1.0, 0.5), (0.0, 0.0, -0.25), 26.0, 0.6, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.0, -1.9, -0.58), (0.0, 0.0, -0.225), 64.0)


def beam(scene: bpy.types.Scene) -> None:
    """Add the wall that the bars hang from."""
    low, high = (-2.2 * APART, -0.09, 0.0), (2.2 * APART, 0.09, 0.04)
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    stage.mesh_object(scene, "Beam", corners, faces).data.materials.append(
        stage.surface("Beam", (0.09, 0.09, 0.10), 0.6))


def bar(scene: bpy.types.Scene, name: str, colour: tuple[float, float, float]) -> bpy.types.Object:
    """A bar in a checker with a stripe, its own origin in the middle of its top, which is pinned."""
    body = grid_box(scene, name, CELLS, EDGE, (-SIDE / 2, -SIDE / 2, -HEIGHT), striped)
    body.data.materials.append(stage.surface(f"{name} Light", colour, 0.4))
    body.data.materials.append(stage.surface(f"{name} Dark", tuple(0.4 * c for c in colour), 0.4))
    body.data.materials.append(stage.surface(f"{name} Stripe", (0.85, 0.84, 0.78), 0.4))
    stage.paint(body, "Pin", [1.0 if vertex.co.z > -EDGE / 2 else 0.0 for vertex in body.data.vertices])
    return body


def striped(axis: int, cell: list[int]) -> int:
    """A checker, and a light stripe down the front and the back and over the bottom."""
    return 2 if axis != 0 and cell[0] in (CELLS[0] // 2 - 1, CELLS[0] // 2) else checker(axis, cell)


def settings(body: bpy.types.Object, field: str, axis: tuple[float, float, float]) -> None:
    """E = 1e4 Pa, ν = 0.4 as in the paper's Table 1; the fibers' modulus is ours."""
    soft = body.conjac
    soft.enabled = True
    soft.method = "conjac"
    soft.mesher, soft.edge_length = "grid", EDGE
    soft.youngs_modulus, soft.poisson_ratio, soft.density = 1.0e4, 0.4, 1000.0
    soft.fiber_material, soft.fiber_field = "astvk", field
    soft.fiber_modulus = 1.0e5
    soft.fiber_x, soft.fiber_y, soft.fiber_z = axis
    soft.fiber_angle = pi / 4
    soft.step = 1.0 / 96.0
