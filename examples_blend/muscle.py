"""muscle.blend: a biceps bends the elbow of an arm, lets go, and bends it again. MUSCLE in three dimensions.

An armature of two bones, of which the lower one is simulated on a hinge and the upper one is left out: it stands. The
elbow bends from straight to 150 degrees and no further, as ours do. The muscle is a soft body, pinned above and
attached to the forearm below. Its fibers' activation has keyframes, and one dynamic node lies in its belly.
"""

from __future__ import annotations

from math import cos, pi, sin

import bpy
from mathutils import Vector

from . import stage

END = 96
SHEET = (1, 12, 18, 26, 44, 58, 72, 92)  #: frames of the contact sheet
ACTIVE = {1: 0.02, 6: 0.02, 20: 1.0, 44: 1.0, 52: 0.05, 66: 0.05, 80: 0.7}  #: activation at frames
SHOULDER, ELBOW = Vector((0.0, 0.0, 0.60)), Vector((0.0, 0.0, 0.30))
FORE = Vector((cos(-1.2), 0.0, sin(-1.2)))  #: which way the forearm points
LENGTH = 0.25  #: of the forearm [m]
BENT = 0.5 * pi - 1.2  #: by how much the elbow is bent at rest [rad]
MOST = 5.0 / 6.0 * pi  #: how far it bends [rad]
ORIGIN, INSERTION = Vector((0.036, 0.0, 0.58)), ELBOW + 0.045 * FORE + Vector((0.016, 0.0, 0.006))
ROWS, SIDES, TIP, WIDE = 28, 20, 0.007, 0.026


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 560, ambient=0.35)
    rig = arm(scene)
    bones(scene, rig)
    muscle(scene, rig)
    stage.backdrop(scene, 1.2, 0.0, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (0.7, -1.2, 1.3), (0.08, 0, 0.35), 28.0, 0.5, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (-0.8, 0.5, 0.9), (0.08, 0, 0.35), 18.0, 0.4, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.10, -1.45, 0.40), (0.10, 0.0, 0.335), 72.0)


def arm(scene: bpy.types.Scene) -> bpy.types.Object:
    """Upper arm and forearm as a mechanism."""
    data = bpy.data.armatures.new("Arm")
    rig = bpy.data.objects.new("Arm", data)
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    upper, lower = data.edit_bones.new("Upper Arm"), data.edit_bones.new("Forearm")
    upper.head, upper.tail = SHOULDER, ELBOW
    lower.head, lower.tail, lower.parent, lower.use_connect = ELBOW, ELBOW + LENGTH * FORE, upper, True
    for bone in (upper, lower):
        bone.align_roll((0, 1, 0))  # its Z lies across the arm: the hinge
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.conjac.enabled = True
    rig.conjac.mechanism.use_skin = False
    rig.conjac.step, rig.conjac.beta = 1.0 / 120.0, 0.5
    rig.pose.bones["Upper Arm"].conjac.role = "none"
    part = rig.pose.bones["Forearm"].conjac
    part.shape, part.radius, part.mass, part.joint, part.axis = "capsule", 0.012, 1.2, "revolute", "Z"
    part.damping = 0.1
    fore = rig.pose.bones["Forearm"]
    # turning about its Z bends it back: straight at the upper end, 150 degrees at the lower one
    fore.use_ik_limit_z, fore.ik_min_z, fore.ik_max_z = True, BENT - MOST, BENT
    rig.hide_render = True
    return rig


def bones(scene: bpy.types.Scene, rig: bpy.types.Object) -> None:
    """A bone to look at for each of the armature's: thick at its ends."""
    material = stage.surface("Bone", (0.78, 0.72, 0.60), 0.5)
    for name, start, end, radius in (("Upper Arm", SHOULDER, ELBOW, 0.011),
                                     ("Forearm", ELBOW, ELBOW + LENGTH * FORE, 0.009)):
        vertices, faces, _ = turned(start, end, lambda s, r=radius: r * (1.0 + 0.7 * (2.0 * s - 1.0) ** 6), 24)
        made = stage.mesh_object(scene, f"{name} Bone", vertices, faces)
        made.data.materials.append(material)
        made.data.polygons.foreach_set("use_smooth", [True] * len(faces))
        made.vertex_groups.new(name=name).add(range(len(vertices)), 1.0, "REPLACE")
        made.parent = rig
        made.modifiers.new("Armature", "ARMATURE").object = rig


def muscle(scene: bpy.types.Scene, rig: bpy.types.Object) -> bpy.types.Object:
    """A spindle grown on both bones, with fibers from end to end that are keyed."""
    vertices, faces, along = turned(ORIGIN, INSERTION, thickness, ROWS)
    body = stage.mesh_object(scene, "Biceps", vertices, faces)
    body.data.materials.append(stage.surface("Flesh", (0.55, 0.06, 0.05), 0.35, subsurface=0.004))
    body.data.polygons.foreach_set("use_smooth", [True] * len(faces))
    stage.paint(body, "Fibers", [0.0 if s < 0.02 else 1.0 if s > 0.98 else 0.5 for s in along])
    stage.paint(body, "Origin", [float(s < 0.06) for s in along])
    stage.paint(body, "Insertion", [float(s > 0.94) for s in along])
    soft = body.conjac
    soft.enabled = True
    soft.youngs_modulus, soft.poisson_ratio, soft.density = 3.0e4, 0.49, 1000.0
    soft.mesher, soft.edge_length = "tetwild", 0.012
    soft.fiber_material, soft.fiber_field, soft.fiber_modulus = "afung", "gradient", 2.0e5
    soft.fibers_group = "Fibers"
    stage.key(soft, "activation", ACTIVE)
    soft.pin_group = "Origin"
    one = soft.attachments.add()
    one.object, one.part, one.group = rig, "Forearm", "Insertion"
    handle = bpy.data.objects.new("Belly", None)
    handle.location, handle.empty_display_size = 0.5 * (ORIGIN + INSERTION), 0.01
    scene.collection.objects.link(handle)
    soft.handles.add().object = handle
    return body


def thickness(s: float) -> float:
    """Radius of the muscle at a share of its length [m]: tendons at both ends, the belly between."""
    return TIP + (WIDE - TIP) * sin(pi * min(max((s - 0.08) / 0.84, 0.0), 1.0)) ** 1.5


def turned(start: Vector, end: Vector, radius, rows: int) -> tuple[list, list, list]:
    """Vertices, faces and shares of the length of a closed turned shape."""
    turn = (end - start).to_track_quat("Z", "Y").to_matrix()
    vertices, along = [], []
    for i in range(rows + 1):
        s = i / rows
        for k in range(SIDES):
            around = Vector((cos(2.0 * pi * k / SIDES), sin(2.0 * pi * k / SIDES), 0.0))
            vertices.append(start + s * (end - start) + turn @ (radius(s) * around))
            along.append(s)
    faces = [(a + k, a + (k + 1) % SIDES, a + SIDES + (k + 1) % SIDES, a + SIDES + k)
             for a in range(0, rows * SIDES, SIDES) for k in range(SIDES)]
    # the ends close in a point each
    for centre, s, first in ((start, 0.0, 0), (end, 1.0, rows * SIDES)):
        vertices.append(centre)
        along.append(s)
        for k in range(SIDES):
            face = (first + (k + 1) % SIDES, first + k, len(vertices) - 1)
            faces.append(face if s == 0.0 else face[::-1])
    return vertices, faces, along
