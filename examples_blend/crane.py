"""crane.blend: a load of a tonne swings on a rope of a kilogram from a crane that turns, and does not shake."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np

from . import jelly, stage
from .ropes import strand

END = 72
SHEET = (1, 12, 20, 28, 36, 44, 56, 72)  #: frames of the contact sheet
LENGTH, LINKS, SIDE = 3.0, 40, 0.7  #: of the rope [m], and an edge of the load [m]
ROPE, LOAD = 1.0, 1000.0  #: [kg]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 400)
    jib = bpy.data.objects.new("Jib", None)
    scene.collection.objects.link(jib)
    for name, size, place in (("Mast", (0.25, 0.25, 4.6), (0.0, 0.0, 2.3)),
                              ("Arm", (2.6, 0.18, 0.18), (1.1, 0.0, 4.6))):
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=place)
        part = bpy.context.object
        part.name, part.scale = name, size
        part.data.materials.append(stage.surface(name, (0.75, 0.45, 0.05), 0.5))
        if name == "Arm":
            part.parent = jib
        else:
            jelly.collider(part)
    # to the front, so that the mast hides nothing
    stage.key(jib, "rotation_euler", {1: (0.0, 0.0, 0.0), 4: (0.0, 0.0, 0.0), 28: (0.0, 0.0, radians(-70.0))})
    down = np.linspace(0.0, LENGTH, LINKS + 1)
    places = np.stack([np.full(LINKS + 1, 2.2), np.zeros(LINKS + 1), 4.5 - down], axis=1)
    rope = strand(scene, "Rope", places, 0.05, (0.20, 0.20, 0.22), (0,))
    rope.parent = jib
    rope.conjac.linear_density = ROPE / LENGTH
    bpy.ops.mesh.primitive_cube_add(size=SIDE, location=(2.2, 0.0, 4.5 - LENGTH - 0.5 * SIDE - 0.05))
    load = bpy.context.object
    load.name = "Load"
    load.data.materials.append(stage.surface("Load", (0.30, 0.45, 0.60), 0.4, subsurface=0.05))
    soft = load.conjac
    soft.mesher, soft.edge_length = "grid", 0.5 * SIDE
    soft.youngs_modulus, soft.density = 2.0e6, LOAD / SIDE**3
    bpy.ops.conjac.add_soft_body()
    soft.use_ground = False
    stage.choose(load, rope)
    bpy.ops.conjac.add_constraint(kind="ball")
    soft.constraints[0].place.location = (2.2, 0.0, 4.5 - LENGTH)
    stage.backdrop(scene, 4.0, 0.0, (0.30, 0.34, 0.38))
    stage.light(scene, "Key", (-4.0, -6.0, 7.0), (1.0, 0.0, 2.0), 1600.0, 3.0, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (5.0, 3.0, 6.0), (1.0, 0.0, 2.0), 900.0, 2.0, (0.80, 0.90, 1.0))
    stage.camera(scene, (2.6, -12.5, 3.6), (0.7, 0.0, 2.3), 46.0)
