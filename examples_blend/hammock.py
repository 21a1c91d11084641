"""hammock.blend: melons of jelly fall into a hammock of net, which hangs from two posts and swings."""

from __future__ import annotations

from math import cos, pi

import bpy
import numpy as np

from . import jelly, stage
from .ropes import rope

END = 60
SHEET = (1, 8, 12, 16, 22, 30, 42, 60)  #: frames of the contact sheet
ALONG, ACROSS = 20, 10  #: meshes of the net
LENGTH, WIDTH, SAG = 1.6, 0.76, 0.42  #: of the net [m]
APART, HIGH = 1.25, 0.9  #: of the posts from the middle, and of what the net hangs from [m]
MELONS = ((-0.24, 0.0, 0.72, 0.11), (0.22, 0.0, 0.76, 0.10), (0.0, 0.01, 1.02, 0.12))  #: place and radius [m]
COLOURS = ((0.12, 0.40, 0.10), (0.80, 0.55, 0.10), (0.70, 0.12, 0.15))


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 360)
    wood = stage.surface("Post", (0.30, 0.17, 0.08), 0.7)
    for side in (-1.0, 1.0):
        bpy.ops.mesh.primitive_cylinder_add(radius=0.035, depth=1.15, location=(side * APART, 0.0, 0.575))
        bpy.context.object.name = "Left Post" if side < 0.0 else "Right Post"
        bpy.context.object.data.materials.append(wood)
    net(scene)
    for number, ((x, y, z, radius), colour) in enumerate(zip(MELONS, COLOURS)):
        look = stage.surface(f"Melon {number + 1}", colour, 0.35, subsurface=0.01)
        melon = jelly.ball(scene, f"Melon {number + 1}", radius, (x, y, z), look, finer=3)
        stage.choose(melon)
        melon.conjac.edge_length, melon.conjac.youngs_modulus = 0.06, 6.0e4
        melon.conjac.density = 500.0
        bpy.ops.conjac.add_soft_body()
        melon.conjac.use_ground = False
    stage.backdrop(scene, 1.6, 0.0, (0.20, 0.25, 0.22))
    stage.light(scene, "Key", (-1.6, -2.4, 2.6), (0.0, 0.0, 0.7), 190.0, 1.0, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (2.0, 1.2, 2.2), (0.0, 0.0, 0.7), 120.0, 0.8, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.7, -3.6, 1.75), (0.0, 0.0, 0.68), 46.0)


def net(scene: bpy.types.Scene) -> bpy.types.Object:
    """A net of knots whose short sides run together at the posts, where it is pinned."""
    u, v = np.linspace(-1.0, 1.0, ALONG + 1), np.linspace(-1.0, 1.0, ACROSS + 1)
    places = [(0.5 * LENGTH * a, 0.5 * WIDTH * b, HIGH - 0.10 - SAG * cos(0.5 * pi * a) * (1.0 - 0.85 * b * b))
              for a in u for b in v]
    edges = []
    for i in range(ALONG + 1):
        for j in range(ACROSS + 1):
            here = i * (ACROSS + 1) + j
            edges += [(here, here + 1)] * (j < ACROSS) + [(here, here + ACROSS + 1)] * (i < ALONG)
    # strings from each knot of a short side to its post, in three links
    posts = []
    for side, row in ((-1.0, 0), (1.0, ALONG)):
        post = len(places)
        places.append((side * (APART - 0.036), 0.0, HIGH))
        posts.append(post)
        for j in range(ACROSS + 1):
            last, end = row * (ACROSS + 1) + j, np.array(places[row * (ACROSS + 1) + j])
            for share in (1.0 / 3.0, 2.0 / 3.0):
                places.append(tuple((1.0 - share) * end + share * np.array(places[post])))
                edges.append((last, len(places) - 1))
                last = len(places) - 1
            edges.append((last, post))
    made = rope(scene, "Net", np.array(places), edges, 0.008, stage.surface("Cord", (0.85, 0.78, 0.62), 0.8), posts)
    made.conjac.linear_density, made.conjac.rope_bending_stiffness = 0.03, 1.0e-4
    made.conjac.contact.itself = False
    return made
