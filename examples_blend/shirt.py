"""shirt.blend: four panels of cloth around a figure are sewn into a shirt, and then the figure turns in it.

Edges without a face are the seams, as in Blender's own cloth: sides, shoulders, armholes and the lower sides of the
sleeves.
"""

from __future__ import annotations

from math import cos, pi, radians, sin

import bpy
import numpy as np

from . import jelly, stage
from .grown import along, grown

END = 96
SHEET = (1, 8, 14, 20, 30, 60, 68, 76)  #: frames of the contact sheet
CELL = 0.03  #: of the panels [m]
HALF, ROWS, ARMHOLE = 8, 18, 6  #: cells of half a panel's width, of its height, and of it beside a sleeve
NECK = 3  #: cells of half the neck's width
SLEEVE = 6  #: cells of a sleeve's length
SHOULDER, OFF = 1.40, 0.17  #: height of the shoulders, and panels' distance from the figure's middle at the start [m]
ARM, AWAY = 1.305, 0.05  #: height of the arms' middle, and how far sleeves begin from the panels [m]
SEWN = 0.6  #: time in which seams close [s]
#: the figure: balls and rows of balls from a place to a place, radius there and there [m]
LIMBS = (((0.0, 0.0, 0.72), (0.0, 0.0, 1.02), 0.150, 0.135), ((0.0, 0.0, 1.02), (0.0, 0.0, 1.27), 0.135, 0.140),
         ((-0.13, 0.0, 1.31), (0.13, 0.0, 1.31), 0.075, 0.075), ((0.0, 0.0, 1.33), (0.0, 0.0, 1.50), 0.060, 0.055),
         ((0.0, 0.0, 1.58), (0.0, 0.0, 1.63), 0.095, 0.100),
         *(((side * 0.13, 0.0, 1.31), (side * 0.66, 0.0, 1.29), 0.062, 0.042) for side in (-1.0, 1.0)),
         *(((side * 0.085, 0.0, 0.70), (side * 0.10, 0.0, 0.10), 0.085, 0.06) for side in (-1.0, 1.0)))


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 440, 440)
    body = figure()
    stage.key(body, "rotation_euler", {1: (0.0, 0.0, 0.0), 48: (0.0, 0.0, 0.0), 60: (0.0, 0.0, radians(35.0)),
                                       76: (0.0, 0.0, radians(-30.0)), 88: (0.0, 0.0, 0.0)})
    jelly.collider(body, friction=0.4)
    cloth = panels(scene)
    stage.choose(cloth)
    cloth.conjac.seam_time = SEWN
    cloth.conjac.area_density, cloth.conjac.thickness = 0.2, 0.002
    bpy.ops.conjac.add_cloth()
    cloth.conjac.use_ground = False
    stage.backdrop(scene, 1.6, 0.04, (0.20, 0.22, 0.27))
    stage.light(scene, "Key", (-2.2, -2.8, 2.8), (0.0, 0.0, 1.1), 240.0, 1.2, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (2.2, 1.4, 2.4), (0.0, 0.0, 1.1), 150.0, 1.0, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.9, -3.6, 1.55), (0.0, 0.0, 1.08), 56.0)


def figure() -> bpy.types.Object:
    """Balls that grow together to one skin."""
    balls = [ball for limb in LIMBS for ball in along(*limb, 0.03)]
    return grown("Figure", balls, 0.022, 6, stage.surface("Skin", (0.62, 0.45, 0.36), 0.5))


def panels(scene: bpy.types.Scene) -> bpy.types.Object:
    """Front, back and two sleeves, and the edges that sew them."""
    vertices: list[tuple[float, float, float]] = []
    faces: list[tuple[int, ...]] = []
    colours: list[int] = []

    def sheet(columns: int, rows: int, place, colour: int, inside_out: bool = False) -> np.ndarray:
        """Numbers of a grid's vertices, (columns + 1, rows + 1). place: of a column and a row [m]."""
        own = len(vertices) + np.arange((columns + 1) * (rows + 1)).reshape(columns + 1, rows + 1)
        vertices.extend(place(i, j) for i in range(columns + 1) for j in range(rows + 1))
        for i in range(columns):
            for j in range(rows):
                face = (own[i, j], own[i + 1, j], own[i + 1, j + 1], own[i, j + 1])
                faces.append(tuple(int(one) for one in (face[::-1] if inside_out else face)))
                colours.append(colour)
        return own

    hem, seams = SHOULDER - ROWS * CELL, []
    front, back = (sheet(2 * HALF, ROWS, lambda i, j, y=y: ((i - HALF) * CELL, y, hem + j * CELL), 0, y > 0.0)
                   for y in (-OFF, OFF))
    for column in (0, 2 * HALF):  # sides below the armholes
        seams += [(front[column, j], back[column, j]) for j in range(ROWS - ARMHOLE + 1)]
    # shoulders, but for the neck
    seams += [(front[i, ROWS], back[i, ROWS]) for i in range(2 * HALF + 1) if abs(i - HALF) > NECK]
    around, radius = 2 * ARMHOLE, ARMHOLE * CELL / pi * 1.08
    for side in (-1, 1):
        edge = side * (HALF * CELL + AWAY)
        # from below the arm in front over it to below it behind: an arc that is open below
        turns = [-0.5 * pi - (2.0 * pi - 0.7) * (j / around - 0.5) + pi for j in range(around + 1)]
        sleeve = sheet(SLEEVE, around,
                       lambda i, j, e=edge, s=side, t=turns: (e + s * i * CELL, -radius * cos(t[j]) * 1.0,
                                                              ARM + radius * sin(t[j])), 1, side < 0)
        column = 2 * HALF if side > 0 else 0
        seams += [(sleeve[i, 0], sleeve[i, around]) for i in range(SLEEVE + 1)]
        ways = (front, back) if vertices[sleeve[0, 1]][1] < 0.0 else (back, front)
        seams += [(sleeve[0, j], ways[0][column, ROWS - ARMHOLE + j]) for j in range(ARMHOLE)]
        seams += [(sleeve[0, around - j], ways[1][column, ROWS - ARMHOLE + j]) for j in range(ARMHOLE)]
        seams.append((sleeve[0, ARMHOLE], ways[0][column, ROWS]))
    mesh = bpy.data.meshes.new("Shirt")
    mesh.from_pydata(vertices, [tuple(int(one) for one in seam) for seam in seams], faces)
    made = bpy.data.objects.new("Shirt", mesh)
    scene.collection.objects.link(made)
    for name, colour in (("Panel", (0.10, 0.26, 0.50)), ("Sleeve", (0.75, 0.60, 0.20))):
        made.data.materials.append(stage.surface(name, colour, 0.8))
    made.data.polygons.foreach_set("material_index", colours)
    made.data.polygons.foreach_set("use_smooth", [True] * len(faces))
    return made
