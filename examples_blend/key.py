"""key.blend: a stiff key with teeth is pushed into a soft slot that is narrower than the teeth, and drawn out again."""

from __future__ import annotations

from math import pi, sin

import bpy

from . import jelly, stage
from .grid_box import checker, grid_box, voxels

END = 60
SHEET = (1, 10, 16, 22, 30, 40, 48, 53)  #: frames of the contact sheet
EDGE, LONG, DEEP, JAW = 0.02, 10, 4, 3  #: cells of the lock [m], along, across with its back wall, and up a jaw
KEY, BLADE, TOOTH = (24, 4, 1), 0.006, 0.010  #: cells of the key; half of what is thin of it, how far teeth stand out
THICK = 0.0012  #: how far they are kept from each other's skin [m]: TetGen gives it corners that leave the mesh
IN, STAY, OUT = 26, 32, 58  #: frames: all the way in, and out again
WAY = 0.24  #: that it is pushed [m]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 460, 320)
    lock = slot(scene)
    lock.data.materials.append(stage.surface("Gum", (0.10, 0.42, 0.36), 0.35, subsurface=0.01))
    jelly.soft(lock, "tetgen", 0.04, 3.0e4, itself=True, friction=0.1)
    lock.conjac.pin_group = "Pin"
    key = teeth(scene)
    rig(scene, key)
    jelly.soft(key, "tetgen", 0.03, 2.0e6, friction=0.1)
    key.conjac.pin_group = "Pin"
    for body in (lock, key):
        body.conjac.contact.distance, body.conjac.contact.thickness = 0.001, THICK
    stage.backdrop(scene, 0.9, -JAW * EDGE - 0.5 * EDGE - 0.002, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-0.4, -0.9, 0.7), (0.0, 0.0, 0.0), 16.0, 0.3, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.7, 0.4, 0.5), (0.0, 0.0, 0.0), 12.0, 0.3, (0.80, 0.90, 1.0))
    stage.camera(scene, (-0.12, -0.74, 0.22), (-0.012, 0.0, -0.005), 43.0)


def slot(scene: bpy.types.Scene) -> bpy.types.Object:
    """Two jaws on a back wall, a slot of one cell between that is open in front and widens to its ends."""
    up = 2 * JAW + 1
    filled = [(i, j, k) for i in range(LONG) for j in range(DEEP) for k in range(up) if j == DEEP - 1 or k != JAW]
    made = voxels(scene, "Lock", filled, EDGE, (0.0, -0.5 * (DEEP - 1) * EDGE, -0.5 * up * EDGE))
    for vertex in made.data.vertices:
        if abs(abs(vertex.co.z) - 0.5 * EDGE) < 1e-6:  # of the slot
            at = vertex.co.x / EDGE
            end = max(0.0, 1.0 - min(at, LONG - at))
            vertex.co.z *= 1.0 + 1.2 * end
    outside = [float(abs(vertex.co.z) > (JAW + 0.4) * EDGE) for vertex in made.data.vertices]
    stage.paint(made, "Pin", outside)
    return made


def teeth(scene: bpy.types.Scene) -> bpy.types.Object:
    """A blade along X whose thickness goes up and down, its bow at the far end thick."""
    size = 0.01
    made = grid_box(scene, "Key", KEY, size, (-KEY[0] * size - 0.015, -0.5 * KEY[1] * size - 0.008, -0.5 * size),
                    checker)
    for vertex in made.data.vertices:
        s = (vertex.co.x + 0.015) / (-KEY[0] * size)  # 0 at its tip, 1 at its bow
        rise = sin(pi * min(s / 0.72, 1.0) * 3.0) ** 2 if s < 0.72 else 0.0
        half = BLADE + (TOOTH * rise if s < 0.72 else 0.008 * min((s - 0.72) / 0.1, 1.0))
        vertex.co.z = half if vertex.co.z > 0.0 else -half
    for name, colour in (("Brass", (0.72, 0.46, 0.10)), ("Worn Brass", (0.62, 0.38, 0.08))):
        made.data.materials.append(stage.surface(name, colour, 0.25))
    stage.paint(made, "Pin", [float(vertex.co.x < -0.23) for vertex in made.data.vertices])
    return made


def rig(scene: bpy.types.Scene, key: bpy.types.Object) -> None:
    """A bone that holds the bow and moves along X."""
    data = bpy.data.armatures.new("Hand")
    hand = bpy.data.objects.new("Hand", data)
    scene.collection.objects.link(hand)
    bpy.context.view_layer.objects.active = hand
    bpy.ops.object.mode_set(mode="EDIT")
    bone = data.edit_bones.new("Hand")
    bone.head, bone.tail = (-0.25, 0.0, 0.0), (-0.30, 0.0, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    hand.hide_render = True
    stage.paint(key, "Hand", [1.0] * len(key.data.vertices))
    # the bone's own length points outwards
    stage.key(hand.pose.bones["Hand"], "location", {1: (0.0, 0.0, 0.0), IN: (0.0, -WAY, 0.0), STAY: (0.0, -WAY, 0.0),
                                                    OUT: (0.0, 0.0, 0.0)})
    key.parent = hand
    key.modifiers.new("Hand", "ARMATURE").object = hand
