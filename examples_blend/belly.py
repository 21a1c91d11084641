"""belly.blend: a figure sinks onto a table with its belly and an arm falls on that: flesh, bones and a collider.

The torso is an animated bone with the belly grown on it, the arm two simulated ones that fall across the belly.
"""

from __future__ import annotations

import bpy
from mathutils import Vector

from . import figure, jelly, stage
from .grid_box import grid_box

END = 48
SHEET = (1, 8, 14, 18, 24, 30, 38, 48)  #: frames of the contact sheet
SUNK = 22  #: the frame at which it has sunk onto the table
MIDDLE, RADII = Vector((0.0, -0.15, 0.28)), (0.17, 0.16, 0.15)  #: of the belly [m]
TABLE = 0.12  #: height of its top [m]; the belly begins a little above and sinks by SINK
SINK = 0.055
SHOULDER, ELBOW, HAND = Vector((0.20, 0.0, 0.47)), Vector((0.25, -0.19, 0.50)), Vector((-0.05, -0.25, 0.51))
THICK = 0.035  #: of the arm [m]
#: what of the torso is only seen: name, ends, radius [m]; no arm rubs on it
SEEN = (("Torso", Vector((0.0, 0.06, 0.20)), Vector((0.0, 0.06, 0.46)), 0.13),
        ("Shoulders", Vector((-0.20, 0.02, 0.475)), Vector((0.20, 0.02, 0.475)), 0.050),
        ("Right Arm", Vector((-0.20, 0.02, 0.475)), Vector((-0.24, 0.06, 0.25)), 0.036),
        ("Neck", Vector((0.0, 0.05, 0.55)), Vector((0.0, 0.04, 0.66)), 0.050),
        ("Head", Vector((0.0, 0.02, 0.73)), Vector((0.0, 0.03, 0.77)), 0.10))
GIVES = 0.2  #: by which the elbow bends either way [rad]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 440, 400)
    rig = armature(scene)
    body = belly(scene, rig)
    for name, first, last, radius in SEEN:
        figure.limb(scene, rig, name, "Torso", first, last, radius, body.data.materials[0])
    for name, first, last in (("Upper Arm", SHOULDER, ELBOW), ("Forearm", ELBOW, HAND)):
        figure.limb(scene, rig, name, name, first, last, THICK, body.data.materials[0])
    table = grid_box(scene, "Table", (8, 5, 1), 0.11, (-0.44, -0.60, TABLE - 0.11), lambda axis, cell: 0)
    table.data.materials.append(stage.surface("Wood", (0.30, 0.14, 0.06), 0.4))
    jelly.collider(table)
    stage.backdrop(scene, 1.4, -0.3, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-0.8, -1.2, 1.3), (0.0, -0.1, 0.3), 34.0, 0.5, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (1.0, 0.5, 0.9), (0.0, -0.1, 0.3), 26.0, 0.4, (0.80, 0.90, 1.0))
    stage.camera(scene, (-0.75, -1.50, 0.72), (0.02, -0.10, 0.42), 47.0)


def armature(scene: bpy.types.Scene) -> bpy.types.Object:
    """A torso that its keyframes lower, and an arm on it that falls as it likes."""
    rig = figure.armature(scene, {"Torso": ((0.0, 0.06, 0.10), (0.0, 0.06, 0.55), None),
                                  "Upper Arm": (tuple(SHOULDER), tuple(ELBOW), "Torso"),
                                  "Forearm": (tuple(ELBOW), tuple(HAND), "Upper Arm")}, 0.6)
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("Upper Arm", "Forearm"):
        rig.data.edit_bones[name].align_roll((0, 0, 1))  # its Z up
    bpy.ops.object.mode_set(mode="OBJECT")
    settings = rig.conjac
    settings.integrator, settings.solver.stage_solver, settings.step = "sdirk2", "quick", 1.0 / 48.0
    rig.pose.bones["Torso"].conjac.role = "animated"
    # the shoulder swings down; the elbow, held to the side, is a hinge that stands upright
    for name, kind, axis in (("Upper Arm", "revolute", "X"), ("Forearm", "revolute", "Z")):
        part = rig.pose.bones[name].conjac
        part.shape, part.radius, part.joint, part.axis, part.damping = "capsule", THICK, kind, axis, 0.05
    elbow = rig.pose.bones["Forearm"]
    elbow.use_ik_limit_z, elbow.ik_min_z, elbow.ik_max_z = True, -GIVES, GIVES
    stage.key(rig.pose.bones["Torso"], "location", {1: (0.0, 0.0, 0.0), SUNK: (0.0, -SINK, 0.0)})
    return rig


def belly(scene: bpy.types.Scene, rig: bpy.types.Object) -> bpy.types.Object:
    """A soft ellipsoid whose back is grown on the torso."""
    skin = stage.surface("Skin", (0.72, 0.42, 0.30), 0.45, 0.01)
    made, places = figure.flesh(scene, MIDDLE, RADII, skin, 0.10, 1.2e4, 0.6)
    grown = (places[:, 1] > MIDDLE.y + 0.45 * RADII[1]) & (places[:, 2] > TABLE + SINK + 0.04)  # clear of the table
    figure.grow(made, rig, grown.astype(float).tolist())
    return made
