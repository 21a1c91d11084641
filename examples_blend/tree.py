"""tree.blend: a tree of jelly sways after it is pulled aside, and a brick of jelly swings on its hinge beside it.

The deformable articulated objects of Figure 1 in Ascher et al. 2021: the tree is stepped by BDF2ERE of that paper,
whose stages are solved, which keeps it swaying, and the brick, which hangs on hard rows, by SDIRK2. Linearised steps
(SIERE, SBDF2ERE) stretch what turns and lose that energy: of a swing as wide as this one nine tenths in the first half
of a period, at 1/48 s and at 1/96 s.
"""

from __future__ import annotations

from math import cos, pi, sin

import bpy
import numpy as np

from . import jelly, stage
from .grown import along, grown

END = 96
SHEET = (1, 12, 18, 24, 32, 42, 60, 96)  #: frames of the contact sheet
TRUNK, CROWN = 0.62, 0.95  #: heights of the trunk's and of the middle branch's end [m]
LET_GO, ASIDE = 12, 0.42  #: frame at which the pull ends, and how far it has led by then [m]
POST, TOP = 1.20, 0.80  #: where the hinge is, along X, so far that the brick swings beside the branches; its height [m]
BRICK = (0.44, 0.22, 0.20)  #: its edges [m]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 400)
    tree(scene)
    brick(scene)
    stage.backdrop(scene, 2.2, 0.0, (0.26, 0.33, 0.40))
    stage.light(scene, "Key", (-1.6, -2.8, 2.8), (0.5, 0.0, 0.6), 260.0, 1.0, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (2.9, 1.5, 2.3), (0.5, 0.0, 0.6), 160.0, 0.8, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.75, -4.3, 1.0), (0.58, 0.0, 0.62), 50.0)


def tree(scene: bpy.types.Scene) -> bpy.types.Object:
    """A trunk with roots, branches and balls of leaves, pulled by its crown and let go."""
    balls = along((0.0, 0.0, 0.0), (0.0, 0.0, TRUNK), 0.060, 0.038, 0.03)
    balls += along((0.0, 0.0, TRUNK), (0.02, 0.0, CROWN), 0.038, 0.022, 0.03) + [((0.02, 0.0, CROWN + 0.05), 0.11)]
    for number in range(5):
        turn, start = 2.0 * pi * (number + 0.3) / 5.0, 0.42 + 0.06 * number
        out, rise = 0.30 - 0.02 * number, 0.24
        end = (out * cos(turn), out * sin(turn), start + rise)
        balls += along((0.0, 0.0, start), end, 0.026, 0.016, 0.02)
        balls.append(((1.12 * end[0], 1.12 * end[1], end[2] + 0.03), 0.075))
    made = grown("Tree", balls, 0.016, 4, stage.surface("Bark", (0.25, 0.14, 0.06), 0.8))
    made.data.materials.append(stage.surface("Leaves", (0.10, 0.32, 0.07), 0.6, subsurface=0.01))
    leaves = [(np.array(place), radius) for place, radius in balls if radius > 0.065]
    for polygon in made.data.polygons:
        polygon.material_index = int(any(np.linalg.norm(np.array(polygon.center) - place) < 1.1 * radius
                                         for place, radius in leaves))
    stage.paint(made, "Pin", [1.0 if vertex.co.z < 0.03 else 0.0 for vertex in made.data.vertices])
    stage.choose(made)
    soft = made.conjac
    soft.edge_length, soft.youngs_modulus, soft.density = 0.05, 6.0e6, 150.0
    bpy.ops.conjac.add_soft_body()
    soft.use_ground, soft.wobble_half_life = False, 1.5
    soft.solver.method, soft.solver.integrator, soft.solver.stage_solver = "vanilla", "bdf2ere", "newton_visible"
    bpy.ops.conjac.add_pull()
    pull = soft.pulls[0]
    pull.radius, pull.stiffness = 0.16, 600.0
    pull.object.location = (0.02, 0.0, CROWN)
    stage.key(pull.object, "location", {1: (0.02, 0.0, CROWN), LET_GO: (0.02 - ASIDE, 0.0, CROWN - 0.08)})
    for frame, strength in ((LET_GO, 1.0), (LET_GO + 1, 0.0)):
        pull.strength = strength
        made.keyframe_insert("conjac.pulls[0].strength", frame=frame)
    return made


def brick(scene: bpy.types.Scene) -> bpy.types.Object:
    """A brick that begins level and swings down about a hinge on a post."""
    wood = stage.surface("Post", (0.35, 0.33, 0.31), 0.6)
    for name, place, size in (("Post", (POST, 0.20, 0.5 * TOP), (0.05, 0.05, TOP)),
                              ("Axle", (POST, 0.0, TOP), (0.03, 0.45, 0.03))):
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=place)
        post = bpy.context.object
        post.name, post.scale = name, size
        post.data.materials.append(wood)
    axle = post
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(POST + 0.025 + 0.5 * BRICK[0], 0.0, TOP))
    made = bpy.context.object
    made.name, made.scale = "Brick", BRICK
    stage.choose(made)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    made.data.materials.append(stage.surface("Brick", (0.62, 0.14, 0.10), 0.35, subsurface=0.02))
    jelly.soft(made, "grid", 0.055, 5.0e4)
    made.conjac.contact.collides_with = "none"
    stage.choose(made, axle)
    bpy.ops.conjac.add_constraint(kind="hinge")
    hinge = made.conjac.constraints[0].place
    hinge.location, hinge.rotation_euler = (POST + 0.025, -0.5 * BRICK[1], TOP), (-0.5 * pi, 0.0, 0.0)
    hinge.empty_display_size = BRICK[1]
    return made
