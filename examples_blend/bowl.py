"""bowl.blend: ten jellies fall into a bowl and come to rest on each other."""

from __future__ import annotations

from math import cos, pi, sin

import bpy

from . import jelly, stage

END = 36
SHEET = (1, 6, 8, 11, 15, 20, 27, 36)  #: frames of the contact sheet
COUNT, RADIUS, NEAR = 10, 0.09, 0.008  #: NEAR: from where on surfaces push [m]
COLOURS = ((0.75, 0.10, 0.12), (0.90, 0.42, 0.05), (0.15, 0.50, 0.16), (0.08, 0.25, 0.65), (0.55, 0.12, 0.50))


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 420, 340)
    looks = [stage.surface(f"Jelly {k + 1}", colour, 0.25, subsurface=0.02) for k, colour in enumerate(COLOURS)]
    for k in range(COUNT):
        layer, place = divmod(k, 5)
        turn, ring = pi / 2 * place + 0.4 * layer, 0.2 if place else 0.0
        height = 0.24 * layer + 0.02 * place if place else -0.2 + 0.25 * layer
        at = (ring * cos(turn) + 0.01 * layer * (not place), ring * sin(turn), height)
        body = jelly.ball(scene, f"Jelly {k + 1:02d}", RADIUS, at, looks[k % len(looks)], finer=2)
        jelly.soft(body, "tetgen", 0.08, 1.5e4 * (1 + k % 3))
        body.conjac.contact.distance = NEAR
        rounder = body.modifiers.new("Rounder", "SUBSURF")  # in renders alone, of what is baked
        rounder.levels, rounder.render_levels = 0, 2
    glaze = stage.surface("Glaze", (0.55, 0.60, 0.62), 0.3)
    made = jelly.bowl(scene, "Bowl", 0.45, 0.02, glaze, 10, 40)
    jelly.collider(made)
    bpy.ops.mesh.primitive_cylinder_add(vertices=64, radius=0.16, depth=0.06, location=(0.0, 0.0, -0.455))
    bpy.context.object.name = "Foot"
    bpy.context.object.data.materials.append(glaze)
    stage.backdrop(scene, 1.6, -0.485, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-1.2, -1.6, 2.0), (0.0, 0.0, -0.1), 90.0, 0.8, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (1.6, 1.0, 1.4), (0.0, 0.0, 0.0), 70.0, 0.7, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.5, -1.75, 1.35), (0.0, 0.0, -0.04), 50.0)
