"""cloak.blend: a figure runs in a cloak: cloth on its bones, and a soft belly that bounces under it.

Torso and legs follow keyframes, the head sits on a joint with a spring, the belly is grown on the torso, and the cloak
hangs from the torso by its upper edge, around all of them. All of it is one simulation.
"""

from __future__ import annotations

from math import cos, hypot, pi, radians, sin

import bpy
from mathutils import Vector

from . import figure, sharp, stage

END = 40
SHEET = (1, 7, 12, 17, 22, 27, 33, 40)  #: frames of the contact sheet
STRIDE, PERIOD, SWING, BOB = 0.55, 10, 0.5, 0.035  #: of two steps [m, frames], of a leg [rad], of the body [m]
NECK, HIPS, FLOOR = 0.70, 0.36, 0.04  #: heights [m]
BELLY, RADII = Vector((0.0, -0.09, 0.51)), (0.12, 0.11, 0.12)  #: its middle and size [m]
THICK = {"Torso": 0.09, "Left Leg": 0.035, "Right Leg": 0.035, "Head": 0.09}  #: of limbs [m]
SEEN = {"Torso": 0.75}  #: shares of that which are seen: a bone that things are grown on is not felt by the cloak
NAPE = (Vector((0.0, 0.03, 0.64)), Vector((0.0, 0.015, 0.74)), 0.045)  #: what is seen of the neck: ends, radius [m]
SPRING = (8.0, 0.3)  #: of the head [N m/rad], [N m s/rad]
EYE, LOOKS = (-2.3, -1.15, 0.75), (0.0, -0.02, 0.46)  #: the camera, which goes along [m]
OPEN, TURNS, ROWS = radians(60.0), 36, 18  #: half of what is open in front, and quads of the cloak around and down
TOP, HEM = (0.15, 0.69), (0.31, 0.14)  #: radius and height of its upper and lower edge [m]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 440, 420)
    rig = armature(scene)
    skin = stage.surface("Skin", (0.72, 0.42, 0.30), 0.45, 0.01)
    body = belly(scene, rig, skin)
    for bone in rig.data.bones:  # no longer than it and a little within what touches, which has few faces
        end = (bone.tail_local - bone.head_local).normalized() * THICK[bone.name]
        figure.limb(scene, rig, bone.name, bone.name, bone.head_local + end, bone.tail_local - end,
                    SEEN.get(bone.name, 0.92) * THICK[bone.name], skin)
    figure.limb(scene, rig, "Neck", "Torso", *NAPE, skin)
    cloak(scene, rig)
    for thing in (body, bpy.data.objects["Cloak"]):
        thing.conjac.step = rig.conjac.step
    stage.backdrop(scene, 1.6, FLOOR, (0.13, 0.14, 0.17), turn=-90.0)  # behind the figure as it is seen
    stage.light(scene, "Key", (-2.4, -2.6, 2.6), (0.0, -0.9, 0.4), 190.0, 1.2, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (1.8, 0.6, 1.8), (0.0, -0.9, 0.4), 120.0, 0.8, (0.80, 0.90, 1.0))
    stage.camera(scene, EYE, LOOKS, 62.0)
    stage.key(scene.camera, "location", {frame: (EYE[0], EYE[1] - way, EYE[2]) for frame, way in ways().items()})


def armature(scene: bpy.types.Scene) -> bpy.types.Object:
    """A torso and two legs that run by keyframes, and a head that nods as it likes."""
    rig = figure.armature(scene, {"Torso": ((0.0, 0.03, HIPS), (0.0, 0.03, NECK), None),
                                  "Left Leg": ((0.07, 0.05, HIPS - 0.10), (0.07, 0.05, FLOOR), "Torso"),
                                  "Right Leg": ((-0.07, 0.05, HIPS - 0.10), (-0.07, 0.05, FLOOR), "Torso"),
                                  "Head": ((0.0, 0.02, NECK + 0.02), (0.0, 0.0, NECK + 0.24), "Torso")}, 0.3)
    settings = rig.conjac
    settings.integrator, settings.solver.stage_solver, settings.step = "backward_euler", "newton_d", 1.0 / 96.0
    for name in ("Torso", "Left Leg", "Right Leg"):
        rig.pose.bones[name].conjac.role = "animated"
        rig.pose.bones[name].rotation_mode = "XYZ"
    for name, radius in THICK.items():
        rig.pose.bones[name].conjac.shape, rig.pose.bones[name].conjac.radius = "capsule", radius
    loose = rig.pose.bones["Head"].conjac
    loose.joint, (loose.stiffness, loose.damping) = "spherical", SPRING
    run(rig)
    return rig


def ways() -> dict[int, float]:
    """How far it has run at each frame [m]: strides get longer over the first of them."""
    way, found = 0.0, {}
    for frame in range(1, END + 1):
        found[frame] = way
        way += share_of(frame) * STRIDE / PERIOD
    return found


def share_of(frame: int) -> float:
    """Return the time as a share of a whole stride."""
    return min(1.0, (frame - 1) / PERIOD)


def run(rig: bpy.types.Object) -> None:
    """From a stand to full strides, towards −Y."""
    torso, legs = rig.pose.bones["Torso"], (rig.pose.bones["Left Leg"], rig.pose.bones["Right Leg"])
    front = torso.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, -1.0, 0.0))
    up = torso.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, 1.0))
    places, swings = {}, {}
    for frame, way in ways().items():
        turn = 2.0 * pi * (frame - 1) / PERIOD
        places[frame] = tuple(way * front + share_of(frame) * BOB * (0.5 - 0.5 * cos(2.0 * turn)) * up)
        swings[frame] = share_of(frame) * SWING * sin(turn)
    stage.key(torso, "location", places)
    for leg, side in zip(legs, (1.0, -1.0)):
        stage.key(leg, "rotation_euler", {frame: (side * swing, 0.0, 0.0) for frame, swing in swings.items()})


def belly(scene: bpy.types.Scene, rig: bpy.types.Object, look: bpy.types.Material) -> bpy.types.Object:
    """A soft ellipsoid whose back is grown on the torso."""
    made, places = figure.flesh(scene, BELLY, RADII, look, 0.08, 1.0e4, 0.3)
    made.conjac.integrator = "backward_euler"
    figure.grow(made, rig, (places[:, 1] > BELLY.y + 0.3 * RADII[1]).astype(float).tolist())
    return made


def cloak(scene: bpy.types.Scene, rig: bpy.types.Object) -> bpy.types.Object:
    """A part of a cone around the figure, open in front, that hangs from its upper edge."""
    vertices, faces = [], []
    for j in range(ROWS + 1):
        radius, height = (a + (b - a) * j / ROWS for a, b in zip(TOP, HEM))
        for i in range(TURNS + 1):
            turn = -pi / 2 + OPEN + (2.0 * pi - 2.0 * OPEN) * i / TURNS
            vertices.append((radius * cos(turn), 0.02 + radius * sin(turn), height))
    for j in range(ROWS):
        for i in range(TURNS):
            a = j * (TURNS + 1) + i
            faces.append((a, a + 1, a + TURNS + 2, a + TURNS + 1))
    made = stage.mesh_object(scene, "Cloak", vertices, faces)
    unroll(made)
    made.data.materials.append(sharp.woven("Cloak", (0.42, 0.04, 0.06)))
    made.data.polygons.foreach_set("use_smooth", [True] * len(faces))
    sharp.cloth(made, area_density=0.25, bending_stiffness=2.0e-5, thickness=0.002)
    made.conjac.cloth_shape = "uv"
    figure.grow(made, rig, [1.0 if k <= TURNS else 0.0 for k in range(len(vertices))])
    return made


def unroll(made: bpy.types.Object) -> None:
    """Its UV map: the part of a cone laid flat, as it is cut [m]."""
    slant = hypot(HEM[0] - TOP[0], TOP[1] - HEM[1])
    begins = TOP[0] * slant / (HEM[0] - TOP[0])  # how far the cone's tip is from the upper edge
    around = (2.0 * pi - 2.0 * OPEN) * TOP[0] / begins
    layer = made.data.uv_layers.new(name=sharp.WEAVE)
    for loop in made.data.loops:
        row, turn = divmod(loop.vertex_index, TURNS + 1)
        far, angle = begins + slant * row / ROWS, around * turn / TURNS
        layer.data[loop.index].uv = (far * cos(angle), far * sin(angle))
