"""wrung.blend: a thick mat is wrung four times around, lies on itself in folds, and is let go."""

from __future__ import annotations

from math import pi

import bpy
from mathutils import Matrix

from . import jelly, stage
from .grid_box import checker, grid_box

CELLS, EDGE = (30, 4, 1), 0.02
LENGTH = CELLS[0] * EDGE
TURNS, WRUNG = 4.0, 73  #: the frame at which it is wrung
END = 84
SHEET = (1, 14, 26, 38, 50, 62, 73, 84)  #: frames of the contact sheet


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 460, 300)
    mat = grid_box(scene, "Mat", CELLS, EDGE, (-0.5 * LENGTH, -0.5 * CELLS[1] * EDGE, -0.5 * EDGE), checker)
    mat.data.materials.append(stage.surface("Light", (0.75, 0.55, 0.12), 0.6))
    mat.data.materials.append(stage.surface("Dark", (0.08, 0.26, 0.40), 0.6))
    rig(scene, mat)
    jelly.soft(mat, "grid", EDGE, 5.0e4, itself=True, friction=0.2)
    stage.backdrop(scene, 0.7, -0.16, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-0.3, -0.8, 0.8), (0.0, 0.0, 0.0), 16.0, 0.3, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.6, 0.5, 0.5), (0.0, 0.0, 0.0), 12.0, 0.3, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.0, -1.1, 0.42), (0.0, 0.0, 0.0), 58.0)


def rig(scene: bpy.types.Scene, mat: bpy.types.Object) -> None:
    """Two bones hold its ends, turn them against each other and bring them a little nearer."""
    data = bpy.data.armatures.new("Hands")
    hands = bpy.data.objects.new("Hands", data)
    scene.collection.objects.link(hands)
    bpy.context.view_layer.objects.active = hands
    bpy.ops.object.mode_set(mode="EDIT")
    for name, side in (("Left", -1), ("Right", 1)):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (side * 0.5 * LENGTH, 0.0, 0.0), (side * (0.5 * LENGTH + 0.06), 0.0, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    hands.hide_render = True
    for name, side in (("Left", -1), ("Right", 1)):
        stage.paint(mat, name, [float(vertex.co.x * side > 0.0) for vertex in mat.data.vertices])
        hand = hands.pose.bones[name]
        hand.rotation_mode = "XYZ"
        frame = hands.data.bones[name].matrix_local.to_3x3()
        # about the bone's own length, which points outwards at either end
        stage.key(hand, "rotation_euler", {1: (0.0, 0.0, 0.0), WRUNG: (0.0, TURNS * pi, 0.0),
                                           END: (0.0, TURNS * pi, 0.0)})
        inwards = frame.inverted() @ Matrix.Translation((-side * 0.05, 0.0, 0.0)).translation
        stage.key(hand, "location", {1: (0.0, 0.0, 0.0), WRUNG: tuple(inwards), END: tuple(inwards)})
    held = 0.5 * LENGTH - 0.5 * EDGE
    stage.paint(mat, "Pin", [float(abs(vertex.co.x) > held) for vertex in mat.data.vertices])
    mat.parent = hands
    mat.modifiers.new("Hands", "ARMATURE").object = hands
