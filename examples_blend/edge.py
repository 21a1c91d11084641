"""edge.blend: a silk cloth slides off a table, over its edge and one of its corners, and bends exactly there."""

from __future__ import annotations

from math import radians

import bpy

from . import stage

END = 36
SHEET = (1, 4, 8, 12, 16, 20, 26, 36)  #: frames of the contact sheet
SIDE, CELLS = 1.0, 24  #: of the cloth [m]
TABLE = (1.1, 1.0, 0.70)  #: size [m]; its top is at the height of its size
TURN, BEGIN = 12.0, (0.42, -0.16)  #: how the cloth lies [degrees], and where its middle is from the table's [m]
ROOM = 0.004  #: between cloth and table at first [m]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 380)
    cloth, table = silk(scene), board(scene)
    settings(cloth, table)
    stage.backdrop(scene, 2.0, 0.0, (0.12, 0.13, 0.16))
    stage.light(scene, "Key", (1.6, -2.6, 2.8), (0.3, 0.0, 0.6), 160.0, 1.0, (1.0, 0.94, 0.86))
    stage.light(scene, "Rim", (2.2, 1.8, 1.6), (0.3, 0.0, 0.6), 90.0, 1.0, (0.80, 0.90, 1.0))
    stage.camera(scene, (2.6, -2.4, 1.55), (0.28, 0.0, 0.52), 52.0)


def silk(scene: bpy.types.Scene) -> bpy.types.Object:
    """A square of squares, unwrapped as it lies."""
    step = SIDE / CELLS
    vertices = [(i * step - SIDE / 2, j * step - SIDE / 2, 0.0) for i in range(CELLS + 1) for j in range(CELLS + 1)]
    faces = [(i * (CELLS + 1) + j, (i + 1) * (CELLS + 1) + j, (i + 1) * (CELLS + 1) + j + 1, i * (CELLS + 1) + j + 1)
             for i in range(CELLS) for j in range(CELLS)]
    cloth = stage.mesh_object(scene, "Silk", vertices, faces)
    layer = cloth.data.uv_layers.new(name="Weave")
    places = [cloth.data.vertices[loop.vertex_index].co for loop in cloth.data.loops]
    layer.data.foreach_set("uv", [value for at in places for value in (at.x / SIDE + 0.5, at.y / SIDE + 0.5)])
    cloth.location = (BEGIN[0], BEGIN[1], TABLE[2] + ROOM)
    cloth.rotation_euler = (0.0, 0.0, radians(TURN))
    cloth.data.materials.append(stage.surface("Silk", (0.55, 0.06, 0.08), 0.35))
    cloth.data.polygons.foreach_set("use_smooth", [True] * len(cloth.data.polygons))
    return cloth


def board(scene: bpy.types.Scene) -> bpy.types.Object:
    """The table: a block."""
    x, y, z = TABLE[0] / 2, TABLE[1] / 2, TABLE[2]
    corners = [(a * x, b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (0, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    table = stage.mesh_object(scene, "Table", corners, faces)
    table.data.materials.append(stage.surface("Oak", (0.30, 0.18, 0.09), 0.5))
    return table


def settings(cloth: bpy.types.Object, table: bpy.types.Object) -> None:
    """Silk: 50 g/m², hardly any bending stiffness; μ = 0.1; h = 1/96 s."""
    for button, obj in ((bpy.ops.conjac.add_cloth, cloth), (bpy.ops.conjac.add_collider, table)):
        with bpy.context.temp_override(active_object=obj, object=obj, selected_objects=[obj]):
            button()
    soft = cloth.conjac
    soft.area_density, soft.bending_stiffness = 0.05, 1.0e-6
    soft.step, soft.stiffness_damping = 1.0 / 96.0, 2.0e-3
    soft.sharp_edges = True
    table.conjac.contact.friction = 0.1
