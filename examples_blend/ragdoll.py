"""ragdoll.blend: a mannequin runs off the top of the stairs, is let go, and tumbles down to the floor.

Its armature is made a ragdoll by the operators: bones are capsules as heavy as the skin around them, knees and elbows
are hinges because their other axes are locked, and all joints have limits. It follows its keyframes until LET_GO.
"""

from __future__ import annotations

from math import cos, pi, sin

import bpy
from mathutils import Matrix, Vector

from . import stage

END = 72
LET_GO = 9
SHEET = (8, 16, 22, 27, 33, 40, 47, 62)  #: frames of the contact sheet
STEPS, RISE, RUN, WIDTH = 10, 0.20, 0.26, 1.8  #: of the stairs [m]
FRICTION = 0.3  #: of the stairs and the floor: rougher ones hold it halfway
TOP = STEPS * RISE

#: bone: (head, tail, parent, radius of the skin) [m], standing on z = 0 and facing -Y; those of the left side
SPINE = {
    "hips": ((0, 0, 0.93), (0, 0, 1.12), None, 0.115),
    "chest": ((0, 0, 1.12), (0, 0, 1.46), "hips", 0.135),
    "head": ((0, 0, 1.54), (0, 0, 1.80), "chest", 0.105),
}
LEFT = {
    "upper_arm": ((0.20, 0, 1.43), (0.47, 0, 1.41), "chest", 0.050),
    "lower_arm": ((0.47, 0, 1.41), (0.73, 0, 1.40), "upper_arm", 0.042),
    "hand": ((0.73, 0, 1.40), (0.88, 0, 1.40), "lower_arm", 0.038),
    "upper_leg": ((0.10, 0, 0.90), (0.11, 0, 0.49), "hips", 0.075),
    "lower_leg": ((0.11, 0, 0.49), (0.11, 0.01, 0.09), "upper_leg", 0.056),
    "foot": ((0.11, 0.03, 0.05), (0.11, -0.17, 0.045), "lower_leg", 0.043),
}

#: limits about X, Y and Z of the left bones [rad]; none: locked
LIMITS = {
    "chest": ((-0.5, 0.4), (-0.4, 0.4), (-0.4, 0.4)), "head": ((-0.6, 0.6), (-0.8, 0.8), (-0.5, 0.5)),
    "upper_arm": ((-1.3, 1.3), (-0.9, 0.9), (-1.4, 0.9)), "lower_arm": (None, None, (-2.3, 0.02)),
    "hand": ((-0.7, 0.7), None, (-0.4, 0.4)),
    "upper_leg": ((-1.7, 0.4), (-0.5, 0.5), (-0.4, 0.6)), "lower_leg": ((-0.02, 2.3), None, None),
    "foot": ((-0.5, 0.6), None, None),
}


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 640, 400, ambient=0.35)
    rig = armature(scene)
    skin(scene, rig)
    steps = stairs(scene)
    stumble(rig)
    bpy.context.view_layer.objects.active = rig
    rig.conjac.mechanism.contact_friction = FRICTION
    rig.conjac.mechanism.self_collisions = False  # the scene's numbers were measured without
    bpy.ops.conjac.ragdoll(smallest=0.0)
    bpy.ops.conjac.drive_then_let_go(frame=LET_GO)
    settings = rig.conjac
    settings.solver.integrator = "semi_implicit"  # with which the scene's numbers were measured
    settings.mechanism.obstacles = steps
    settings.step = 1.0 / 120.0
    stage.backdrop(scene, 5.0, 0.0, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (3.0, -3.6, 4.2), (0, -0.8, 0.8), 420.0, 1.6, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (-5.0, 2.0, 5.0), (0, -1.2, 1.2), 600.0, 1.6, (0.80, 0.90, 1.0))
    stage.camera(scene, (5.0, -8.6, 3.3), (0.0, -1.45, 1.62), 40.0)


def bones() -> dict[str, tuple]:
    """Every bone, those of the right side mirrored."""
    found = dict(SPINE)
    for name, (head, tail, parent, radius) in LEFT.items():
        for side, sign in (("L", 1), ("R", -1)):
            above = f"{parent}.{side}" if parent in LEFT else parent
            found[f"{name}.{side}"] = ((sign * head[0], *head[1:]), (sign * tail[0], *tail[1:]), above, radius)
    return found


def armature(scene: bpy.types.Scene) -> bpy.types.Object:
    """The mannequin's rig at the top of the stairs, with limits."""
    data = bpy.data.armatures.new("Mannequin")
    rig = bpy.data.objects.new("Mannequin", data)
    rig.location = (0.0, 0.05, TOP)
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (head, tail, parent, _) in bones().items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        if parent is not None:
            bone.parent = data.edit_bones[parent]
            bone.use_connect = (Vector(head) - bone.parent.tail).length < 1e-6
        # Z up along the arms, back along all that stands, and up on the feet: X is then the hinge of the legs
        bone.align_roll((0, 0, 1) if name.startswith(("upper_arm", "lower_arm", "hand", "foot")) else (0, 1, 0))
    bpy.ops.object.mode_set(mode="OBJECT")
    for name in bones():
        kind, _, side = name.partition(".")
        if kind in LIMITS:
            limit(rig.pose.bones[name], LIMITS[kind], mirrored=side == "R")
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    rig.hide_render = True
    return rig


def limit(bone: bpy.types.PoseBone, limits: tuple, mirrored: bool) -> None:
    """Locks and limits as for inverse kinematics, which leave the artist's posing alone."""
    for axis, ends in zip("xyz", limits):
        if ends is None:
            setattr(bone, f"lock_ik_{axis}", True)
            continue
        # turns about the mirrored bone's own Y and Z run the other way round
        low, high = (-ends[1], -ends[0]) if mirrored and axis != "x" else ends
        setattr(bone, f"use_ik_limit_{axis}", True)
        # Blender keeps lower ends at or below zero and upper ends at or above it
        setattr(bone, f"ik_min_{axis}", min(low, 0.0))
        setattr(bone, f"ik_max_{axis}", max(high, 0.0))


def capsule(head: Vector, tail: Vector, radius: float, sides: int = 20, caps: int = 6) -> tuple[list, list]:
    """Vertices and faces of a closed capsule from head to tail."""
    along = tail - head
    turn = along.to_track_quat("Z", "Y").to_matrix()
    profile = [(radius * sin(0.5 * pi * k / caps), -radius * cos(0.5 * pi * k / caps)) for k in range(1, caps + 1)]
    profile += [(r, along.length - z) for r, z in reversed(profile)]
    vertices = [head + turn @ Vector((0, 0, -radius))]
    for r, z in profile:
        vertices += [head + turn @ Vector((r * cos(2 * pi * k / sides), r * sin(2 * pi * k / sides), z))
                     for k in range(sides)]
    vertices.append(head + turn @ Vector((0, 0, along.length + radius)))
    ring = [1 + sides * i for i in range(len(profile))]
    faces = [(0, ring[0] + (k + 1) % sides, ring[0] + k) for k in range(sides)]
    for a, b in zip(ring, ring[1:]):
        faces += [(a + k, a + (k + 1) % sides, b + (k + 1) % sides, b + k) for k in range(sides)]
    faces += [(ring[-1] + k, ring[-1] + (k + 1) % sides, len(vertices) - 1) for k in range(sides)]
    return vertices, faces


def skin(scene: bpy.types.Scene, rig: bpy.types.Object) -> bpy.types.Object:
    """Capsules around the bones in one mesh, each moved by its bone alone."""
    vertices, faces, groups = [], [], {}
    for name, (head, tail, _, radius) in bones().items():
        a, b = Vector(head), Vector(tail)
        inset = (b - a).normalized() * min(radius, 0.45 * (b - a).length)
        own, own_faces = capsule(a + 0.8 * inset, b - 0.8 * inset, radius)
        groups[name] = range(len(vertices), len(vertices) + len(own))
        faces += [tuple(len(vertices) + k for k in face) for face in own_faces]
        vertices += own
    body = stage.mesh_object(scene, "Skin", [tuple(v) for v in vertices], faces)
    body.data.polygons.foreach_set("use_smooth", [True] * len(faces))
    light, dark = stage.surface("Wood", (0.62, 0.36, 0.16), 0.5), stage.surface("Joint", (0.05, 0.30, 0.36), 0.5)
    body.data.materials.append(light)
    body.data.materials.append(dark)
    for name, of in groups.items():
        body.vertex_groups.new(name=name).add(list(of), 1.0, "REPLACE")
    coloured = {i for name in ("hips", "head", "hand.L", "hand.R", "foot.L", "foot.R") for i in groups[name]}
    for polygon in body.data.polygons:
        polygon.material_index = int(polygon.vertices[0] in coloured)
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    return body


def stairs(scene: bpy.types.Scene) -> bpy.types.Collection:
    """Steps down towards -Y, a box each, in a collection of obstacles."""
    collection = bpy.data.collections.new("Stairs")
    scene.collection.children.link(collection)
    stone = stage.surface("Stone", (0.42, 0.43, 0.45), 0.8)
    for k in range(STEPS):
        back = 1.0 if k == 0 else -0.18 - RUN * (k - 1)
        box = ((-WIDTH / 2, -0.18 - RUN * k, 0.0), (WIDTH / 2, back, TOP - RISE * k))
        (x0, y0, z0), (x1, y1, z1) = box
        corners = [(x, y, z) for x in (x0, x1) for y in (y0, y1) for z in (z0, z1)]
        made = stage.mesh_object(scene, f"Step {k + 1}", corners, [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1),
                                                                    (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
        made.data.materials.append(stone)
        scene.collection.objects.unlink(made)
        collection.objects.link(made)
    return collection


def stumble(rig: bpy.types.Object) -> None:
    """Keyframes: it runs over the edge and dives."""
    pose = rig.pose.bones
    frame = rig.data.bones["hips"].matrix_local.to_3x3()
    moves = {1: (0.0, 0.0, 0.0), 5: (0.0, -0.15, 0.0), LET_GO: (0.0, -0.45, -0.04), LET_GO + 8: (0.0, -1.08, -0.2)}
    stage.key(pose["hips"], "location", {at: (frame.inverted() @ Vector(v)).to_tuple() for at, v in moves.items()})
    leans = {1: 0.0, 5: 0.12, LET_GO: 0.42, LET_GO + 8: 2.2}
    stage.key(pose["hips"], "rotation_euler", {
        at: tuple((frame.inverted() @ Matrix.Rotation(lean, 3, "X") @ frame).to_euler()) for at, lean in leans.items()})
    stage.key(pose["upper_leg.L"], "rotation_euler", {1: (0, 0, 0), LET_GO: (-0.9, 0, 0)})
    stage.key(pose["lower_leg.L"], "rotation_euler", {1: (0, 0, 0), 5: (0.8, 0, 0), LET_GO: (0.5, 0, 0)})
    stage.key(pose["upper_leg.R"], "rotation_euler", {1: (0, 0, 0), LET_GO: (0.25, 0, 0)})
    for side, sign in (("L", -1), ("R", 1)):
        stage.key(pose[f"upper_arm.{side}"], "rotation_euler", {1: (0, 0, 0), LET_GO: (0.3, 0, sign * 0.7)})
