"""lo_res.blend: two coarse cloths are pulled over a table's edge by what hangs there: one bends at it, one cannot."""

from __future__ import annotations

import bpy

from . import sharp, stage

END = 24
SHEET = (1, 5, 8, 11, 14, 17, 20, 24)  #: frames of the contact sheet
SIDE, OVER, HEIGHT = 1.0, 0.43, 1.0  #: of the cloths, beyond the edge, of the tables [m]
COTTON = {"area_density": 0.2, "bending_stiffness": 2.0e-5}
#: name of a cloth, cells a side, colour, and whether it slides over what is sharp
CLOTHS = (("Sharp", 7, (0.55, 0.06, 0.08), True), ("Regular", 11, (0.05, 0.20, 0.50), False))
APART = 1.3  #: of the cloths' middles [m]
ROOM = 0.004  #: between cloth and table at first [m]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 520, 380)
    for k, (name, cells, colour, bends) in enumerate(CLOTHS):
        y = (k - 0.5) * APART
        table = sharp.block(scene, f"Table {k + 1}", (1.2, 1.15, HEIGHT), (0.30, 0.18, 0.09))
        table.location = (SIDE / 2 - OVER - 0.6, y, HEIGHT)
        made = sharp.sheet(scene, name, (SIDE, SIDE), (cells, cells), colour)
        made.location = (0.0, y, HEIGHT + ROOM)
        sharp.cloth(made, **COTTON)
        made.conjac.sharp_edges = bends
        sharp.collider(table, 0.0)
    stage.backdrop(scene, 5.0, 0.0, (0.12, 0.13, 0.16), turn=50.0)
    stage.light(scene, "Key", (0.8, -3.6, 4.4), (0.0, 0.0, 0.8), 320.0, 1.0, (1.0, 0.94, 0.86))
    stage.light(scene, "Rim", (2.6, 3.4, 2.2), (0.0, 0.0, 0.8), 110.0, 1.0, (0.80, 0.90, 1.0))
    stage.camera(scene, (3.4, -2.9, 2.0), (0.0, 0.0, 0.72), 46.0)
