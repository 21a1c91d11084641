"""belly.blend: a figure sinks onto a table with its belly and an arm falls on that: flesh, bones and a collider.

The torso is an animated bone with the belly grown on it, the arm two simulated ones that fall across the belly.
"""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

from . import jelly, ragdoll, stage
from .grid_box import grid_box

END = 48
SHEET = (1, 8, 14, 18, 24, 30, 38, 48)  #: frames of the contact sheet
SUNK = 22  #: the frame at which it has sunk onto the table
MIDDLE, RADII = Vector((0.0, -0.15, 0.28)), (0.17, 0.16, 0.15)  #: of the belly [m]
TABLE = 0.12  #: height of its top [m]; the belly begins a little above and sinks by SINK
SINK = 0.055
SHOULDER, ELBOW, HAND = Vector((0.20, 0.0, 0.47)), Vector((0.25, -0.19, 0.50)), Vector((-0.05, -0.25, 0.51))
THICK = 0.035  #: of the arm [m]
GIVES = 0.2  #: by which the elbow bends either way [rad]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 440, 400)
    rig = armature(scene)
    body = belly(scene, rig)
    for name, ends, radius in (("Torso", (Vector((0.0, 0.06, 0.20)), Vector((0.0, 0.06, 0.52))), 0.13),
                               ("Upper Arm", (SHOULDER, ELBOW), THICK), ("Forearm", (ELBOW, HAND), THICK)):
        limb(scene, rig, name, *ends, radius, body.data.materials[0])
    table = grid_box(scene, "Table", (8, 5, 1), 0.11, (-0.44, -0.60, TABLE - 0.11), lambda axis, cell: 0)
    table.data.materials.append(stage.surface("Wood", (0.30, 0.14, 0.06), 0.4))
    jelly.collider(table)
    stage.backdrop(scene, 1.4, -0.3, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-0.8, -1.2, 1.3), (0.0, -0.1, 0.3), 34.0, 0.5, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (1.0, 0.5, 0.9), (0.0, -0.1, 0.3), 26.0, 0.4, (0.80, 0.90, 1.0))
    stage.camera(scene, (-0.75, -1.45, 0.62), (0.02, -0.12, 0.33), 55.0)


def armature(scene: bpy.types.Scene) -> bpy.types.Object:
    """A torso that its keyframes lower, and an arm on it that falls as it likes."""
    data = bpy.data.armatures.new("Figure")
    rig = bpy.data.objects.new("Figure", data)
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    torso, upper, fore = (data.edit_bones.new(name) for name in ("Torso", "Upper Arm", "Forearm"))
    torso.head, torso.tail = (0.0, 0.06, 0.10), (0.0, 0.06, 0.55)
    upper.head, upper.tail, upper.parent = SHOULDER, ELBOW, torso
    fore.head, fore.tail, fore.parent, fore.use_connect = ELBOW, HAND, upper, True
    for bone in (upper, fore):
        bone.align_roll((0, 0, 1))  # its Z up
    bpy.ops.object.mode_set(mode="OBJECT")
    settings = rig.conjac
    settings.enabled, settings.mechanism.use_skin, settings.method = True, False, "vanilla"
    settings.integrator, settings.solver.stage_solver, settings.step = "sdirk2", "quick", 1.0 / 48.0
    settings.mechanism.contact_friction, settings.mechanism.touch_soft = 0.6, True
    rig.pose.bones["Torso"].conjac.role = "animated"
    # the shoulder swings down; the elbow, held to the side, is a hinge that stands upright
    for name, kind, axis in (("Upper Arm", "revolute", "X"), ("Forearm", "revolute", "Z")):
        part = rig.pose.bones[name].conjac
        part.shape, part.radius, part.joint, part.axis, part.damping = "capsule", THICK, kind, axis, 0.05
    elbow = rig.pose.bones["Forearm"]
    elbow.use_ik_limit_z, elbow.ik_min_z, elbow.ik_max_z = True, -GIVES, GIVES
    stage.key(rig.pose.bones["Torso"], "location", {1: (0.0, 0.0, 0.0), SUNK: (0.0, -SINK, 0.0)})
    rig.hide_render = True
    return rig


def belly(scene: bpy.types.Scene, rig: bpy.types.Object) -> bpy.types.Object:
    """A soft ellipsoid whose back is grown on the torso."""
    made = jelly.ball(scene, "Belly", 1.0, (0.0, 0.0, 0.0), stage.surface("Skin", (0.72, 0.42, 0.30), 0.45, 0.01))
    places = np.array([vertex.co for vertex in made.data.vertices]) * RADII + np.array(MIDDLE)
    made.data.vertices.foreach_set("co", places.ravel())
    made.data.update()
    jelly.soft(made, "tetgen", 0.10, 1.2e4, friction=0.6)
    grown = (places[:, 1] > MIDDLE.y + 0.45 * RADII[1]) & (places[:, 2] > TABLE + SINK + 0.04)  # clear of the table
    stage.paint(made, "Torso", grown.astype(float).tolist())
    one = made.conjac.attachments.add()
    one.object, one.part, one.group = rig, "Torso", "Torso"
    return made


def limb(scene: bpy.types.Scene, rig: bpy.types.Object, name: str, head: Vector, tail: Vector, radius: float,
         look: bpy.types.Material) -> bpy.types.Object:
    """A capsule that a bone moves."""
    vertices, faces = ragdoll.capsule(head, tail, radius)
    made = stage.mesh_object(scene, f"{name} Skin", [tuple(vertex) for vertex in vertices], faces)
    made.data.polygons.foreach_set("use_smooth", [True] * len(faces))
    made.data.materials.append(look)
    stage.paint(made, name, [1.0] * len(vertices))
    made.parent = rig
    made.modifiers.new("Armature", "ARMATURE").object = rig
    return made
