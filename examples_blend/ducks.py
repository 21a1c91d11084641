"""ducks.blend: rubber ducks of our own fall into a box and lie on each other, as in the dissertation's DUCKS."""

from __future__ import annotations

from math import cos, pi, sin

import bpy
import numpy as np
from mathutils import Euler

from . import jelly, stage
from .grid_box import voxels

END = 40
SHEET = (1, 7, 10, 14, 18, 24, 32, 40)  #: frames of the contact sheet
COUNT = 10
HALF, HIGH, WALL = 0.19, 0.20, 0.02  #: of the box inside [m], and its walls
DAMPING = 2.0e-3  #: of stiffness [s]: rubber that hardly bounces
NEAR = 0.004  #: from where on surfaces push [m]
THICK = 0.001  #: how far ducks are kept from each other's skin [m]: TetGen gives it corners that the mesh has not

BEAK = 0.28  #: where the beak sticks out by more than this share it is orange


def build(scene: bpy.types.Scene, count: int = COUNT) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 420, 360)
    yellow, orange = stage.surface("Yellow", (0.90, 0.58, 0.03), 0.3), stage.surface("Orange", (0.85, 0.16, 0.02), 0.4)
    for k in range(count):
        layer, place = divmod(k, 4)
        turn = 0.5 * pi * place + 0.35 * layer
        at = (0.088 * cos(turn + 0.25 * pi), 0.088 * sin(turn + 0.25 * pi), 0.08 + 0.15 * layer)
        made = duck(scene, f"Duck {k + 1:02d}", at, (0.5 * sin(1.7 * k), 0.4 * cos(2.3 * k), turn), (yellow, orange))
        jelly.soft(made, "tetgen", 0.08, 4.0e4, friction=0.3, damping=DAMPING)
        made.conjac.contact.distance, made.conjac.contact.thickness = NEAR, THICK
    box(scene, stage.surface("Crate", (0.30, 0.42, 0.50), 0.5))
    stage.backdrop(scene, 1.2, -WALL - 0.001, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-0.7, -1.1, 1.5), (0.0, 0.0, 0.1), 42.0, 0.6, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (1.1, 0.7, 1.0), (0.0, 0.0, 0.1), 34.0, 0.5, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.30, -1.05, 1.05), (0.0, 0.0, 0.13), 48.0)


def duck(scene: bpy.types.Scene, name: str, at: tuple[float, float, float], turned: tuple[float, float, float],
         looks: tuple[bpy.types.Material, bpy.types.Material]) -> bpy.types.Object:
    """A body with head, beak and tail of 320 triangles that all look at one point inside."""
    from benchmarks.scenes.ducks import duck_shape

    made = jelly.ball(scene, name, 1.0, (0.0, 0.0, 0.0), looks[0])
    made.data.materials.append(looks[1])
    way = np.array([vertex.co for vertex in made.data.vertices])
    places, beak = duck_shape(way)
    places = places @ np.array(Euler(turned).to_matrix()).T + at
    made.data.vertices.foreach_set("co", places.ravel())
    for face in made.data.polygons:
        face.material_index = int(np.mean(beak[list(face.vertices)]) > BEAK)
    made.data.update()
    return made


def box(scene: bpy.types.Scene, look: bpy.types.Material) -> bpy.types.Object:
    """A crate without a lid: walls with an inner and an outer side, in one mesh."""
    side, up = round(2 * HALF / WALL) + 2, round(HIGH / WALL) + 1
    filled = [(i, j, k) for i in range(side) for j in range(side) for k in range(up)
              if k == 0 or not (0 < i < side - 1 and 0 < j < side - 1)]
    made = voxels(scene, "Crate", filled, WALL, (-HALF - WALL, -HALF - WALL, -WALL))
    made.data.materials.append(look)
    jelly.collider(made, friction=0.3)
    return made
