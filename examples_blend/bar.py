"""bar.blend: the paper's TWIST. A soft bar, one end held, the other pushed, pulled, bent and twisted by a bone.

20 × 6 × 6 cells of 1 cm (1029 nodes) and one dynamic node in the middle.
"""

from __future__ import annotations

from math import radians

import bpy
from mathutils import Matrix, Vector

from . import stage
from .grid_box import checker, grid_box

CELLS = (20, 6, 6)
EDGE = 0.01  #: [m]
LENGTH, SIDE = CELLS[0] * EDGE, CELLS[1] * EDGE
END = 144
SHEET = (1, 14, 24, 36, 66, 84, 112, 130)  #: frames of the contact sheet
FLOOR = -0.12

#: the held end's bone: its place [m] and its turn about Y (bend) and X (twist) [degrees], from rest
REST = ((0.0, 0.0, 0.0), 0.0, 0.0)
DRIVE = {
    1: REST, 4: REST,
    14: ((-0.06, 0.0, 0.0), 0.0, 0.0), 24: REST,  # compress
    36: ((0.08, 0.0, 0.0), 0.0, 0.0), 48: REST,  # stretch
    66: ((-0.046, 0.0, 0.108), -70.0, 0.0), 84: REST,  # bend
    108: ((0.0, 0.0, 0.0), 0.0, 180.0), 116: ((0.0, 0.0, 0.0), 0.0, 180.0), 128: REST,  # twist, and let go
    END: REST,
}


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 640, 360)
    bar = box(scene)
    rig(scene, bar)
    handles(scene, bar)
    settings(bar)
    stage.backdrop(scene, 0.35, FLOOR, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-0.1, -0.55, 0.55), (0.1, 0.0, 0.0), 11.0, 0.30, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.45, 0.35, 0.35), (0.1, 0.0, 0.0), 7.0, 0.20, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.14, -0.72, 0.22), (0.12, 0.0, 0.015), 56.0)


def box(scene: bpy.types.Scene, name: str = "Bar") -> bpy.types.Object:
    """The bar's surface in a checker that shows how it twists, from x = 0 along the X axis."""
    bar = grid_box(scene, name, CELLS, EDGE, (0.0, -SIDE / 2, -SIDE / 2), checker)
    bar.data.materials.append(stage.surface("Light", (0.06, 0.40, 0.50), 0.4))
    bar.data.materials.append(stage.surface("Dark", (0.02, 0.14, 0.22), 0.4))
    return bar


def rig(scene: bpy.types.Scene, bar: bpy.types.Object, place: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
    """Two bones: "Base" holds the left end, "Tip" moves the right end. Pinned are the two end faces.

    place: where the bar's left end is [m].
    """
    data = bpy.data.armatures.new("Rig")
    armature = bpy.data.objects.new("Rig", data)
    armature.location = place
    scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for name, x in (("Base", 0.0), ("Tip", LENGTH)):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (x, 0.0, 0.0), (x, 0.04, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.hide_render = True

    at_tip = [1.0 if vertex.co.x > LENGTH - EDGE / 2 else 0.0 for vertex in bar.data.vertices]
    at_base = [1.0 if vertex.co.x < EDGE / 2 else 0.0 for vertex in bar.data.vertices]
    stage.paint(bar, "Tip", at_tip)
    stage.paint(bar, "Base", [1.0 - tip for tip in at_tip])
    stage.paint(bar, "Pin", [max(pair) for pair in zip(at_base, at_tip)])
    bar.parent = armature
    bar.modifiers.new("Rig", "ARMATURE").object = armature

    tip = armature.pose.bones["Tip"]
    tip.rotation_mode = "QUATERNION"
    frame = armature.data.bones["Tip"].matrix_local.to_3x3()  # the bone's axes in the armature
    moves = {at: (frame.inverted() @ Vector(move)).to_tuple() for at, (move, _, _) in DRIVE.items()}
    turns = {}
    for at, (_, bend, twist) in DRIVE.items():
        turn = Matrix.Rotation(radians(bend), 3, "Y") @ Matrix.Rotation(radians(twist), 3, "X")
        turns[at] = tuple((frame.inverted() @ turn @ frame).to_quaternion())
    stage.key(tip, "location", moves)
    stage.key(tip, "rotation_quaternion", turns)


def handles(scene: bpy.types.Scene, bar: bpy.types.Object, count: int = 1) -> None:
    """Empties at equal intervals on the axis: the node nearest to each is dynamic."""
    for k in range(count):
        empty = bpy.data.objects.new("Dynamic", None)
        empty.empty_display_type, empty.empty_display_size = "SPHERE", 0.01
        empty.location = (LENGTH * (k + 1) / (count + 1), 0.0, 0.0)
        empty.parent = bar.parent
        scene.collection.objects.link(empty)
        bar.conjac.handles.add().object = empty


def settings(bar: bpy.types.Object) -> None:
    """E = 1e4 Pa, ν = 0.4 as in the paper's Table 1; the grid's nodes are the box's own corners."""
    soft = bar.conjac
    soft.enabled = True
    soft.method = "conjac"
    soft.mesher, soft.edge_length = "grid", EDGE
    soft.youngs_modulus, soft.poisson_ratio, soft.density = 1.0e4, 0.4, 1000.0
    soft.step = 1.0 / 120.0
