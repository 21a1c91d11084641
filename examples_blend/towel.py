"""towel.blend: a box is pushed into a towel that hangs on a swing: it folds sharply over the box and drags the swing.

The swing is a bone that is simulated, the towel hangs on it by *Attach to Bone* and has *Sharp Edges*: it bends exactly
at the box's edges and slides over them, and the swing feels what it pulls. One simulation of both.
"""

from __future__ import annotations

import bpy
from mathutils import Vector

from . import figure, sharp, stage

END = 36
SHEET = (1, 10, 13, 16, 20, 24, 30, 36)  #: frames of the contact sheet
SIZE, CELLS = (0.42, 0.36), (20, 17)  #: of the towel [m]
HOOK, BAR = 1.30, 0.90  #: heights of where the swing hangs and of its bar [m]
BOX, GOES = (0.24, 0.20, 0.16), {1: -0.20, 4: -0.20, 24: 0.16, 36: 0.16}  #: its size, and its middle along X [m]
MASS = 0.15  #: of the swing [kg]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 440, 420)
    towel = sharp.sheet(scene, "Towel", SIZE, CELLS, (0.10, 0.30, 0.42))
    towel.rotation_euler.y = -1.5707963267948966  # its far border up
    towel.location = (0.0, 0.0, BAR - SIZE[0] / 2)
    box = sharp.block(scene, "Box", BOX, (0.34, 0.20, 0.10))
    box.location.z = BAR - 0.20
    for frame, x in GOES.items():
        stage.key(box, "location", {frame: (x, 0.02, BAR - 0.20)})
    ends = [(x, 0.0, -BOX[2] / 2) for x in (-1.6, -BOX[0] / 2)]
    arm = sharp.rod(scene, "Arm", *ends, 0.02, 0.02, (0.45, 0.45, 0.48))
    arm.parent = box  # to see only: what pushes it
    sharp.block(scene, "Beam", (0.05, 5.0, 0.05), (0.30, 0.18, 0.09)).location.z = HOOK + 0.05
    rig = swing(scene)
    sharp.cloth(towel, area_density=0.25, bending_stiffness=2.0e-5, thickness=0.001)
    sharp.collider(box, 0.1)
    stage.paint(towel, "Swing", [1.0 if vertex.co.x > 0.499 * SIZE[0] else 0.0 for vertex in towel.data.vertices])
    one = towel.conjac.attachments.add()
    one.object, one.part, one.group = rig, "Swing", "Swing"
    stage.backdrop(scene, 1.9, 0.0, (0.13, 0.13, 0.16))
    stage.light(scene, "Key", (1.4, -2.0, 2.0), (0.0, 0.0, 0.8), 90.0, 0.8, (1.0, 0.94, 0.86))
    stage.light(scene, "Rim", (-1.4, 1.5, 1.6), (0.0, 0.0, 0.8), 60.0, 0.8, (0.80, 0.90, 1.0))
    stage.camera(scene, (1.25, -1.95, 1.15), (0.02, 0.0, 0.95), 60.0)


def swing(scene: bpy.types.Scene) -> bpy.types.Object:
    """A bone that hangs from a hook that stands still, with a bar along Y at its end."""
    hook, end = (0.0, 0.0, HOOK), (0.0, 0.0, BAR)
    rig = figure.armature(scene, {"Hook": ((0.0, 0.0, HOOK + 0.1), hook, None), "Swing": (hook, end, "Hook")}, 0.1)
    settings = rig.conjac
    settings.integrator, settings.step = "backward_euler", 1.0 / 96.0
    rig.pose.bones["Hook"].conjac.role = "animated"
    bone = rig.pose.bones["Swing"].conjac
    bone.joint, bone.stiffness, bone.damping, bone.mass = "spherical", 0.02, 0.005, MASS
    for name in ("Hook", "Swing"):
        rig.pose.bones[name].conjac.shape, rig.pose.bones[name].conjac.radius = "capsule", 0.008
    steel, half = stage.surface("Steel", (0.5, 0.5, 0.52), 0.3), SIZE[1] / 2 + 0.02
    figure.limb(scene, rig, "Rod", "Swing", Vector(hook), Vector(end), 0.006, steel)
    figure.limb(scene, rig, "Bar", "Swing", Vector((0.0, -half, BAR)), Vector((0.0, half, BAR)), 0.008, steel)
    return rig
