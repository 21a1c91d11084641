"""muscle2d.blend: the paper's planar MUSCLE. A flat muscle on two light bones bends shoulder and elbow, and lets go.

Both bones of an armature are simulated and hang on hinges about the world's Y. The muscle has the shape and sizes of
`benchmarks/scenes/muscle.flat`: two layers, mirrored in its middle plane, with a node of the middle that is dynamic.
It weighs more than the bones, so its own swing moves them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Vector

from . import stage
from .muscle import turned

if TYPE_CHECKING:
    from benchmarks.scenes.muscle import Arm

END = 84
SHEET = (1, 18, 44, 56)
ACTIVE = {1: 0.02, 6: 0.02, 20: 1.0, 40: 1.0, 46: 0.02}  #: activation at frames
HIGH = Vector((0.0, 0.0, 0.32))  #: where the shoulder is


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    from benchmarks.scenes.muscle import flat

    stage.prepare(scene, END, 420, 420, ambient=0.35)
    rig = arm(scene, flat().mechanism["bodies"])
    muscle(scene, rig, flat())
    stage.backdrop(scene, 0.6, 0.0, (0.42, 0.44, 0.48))
    stage.light(scene, "Key", (0.4, -0.8, 0.8), (0.03, 0, 0.22), 9.0, 0.4, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (-0.5, -0.4, 0.5), (0.03, 0, 0.22), 3.0, 0.4, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.04, -0.9, 0.25), (0.04, 0.0, 0.232), 100.0)


def arm(scene: bpy.types.Scene, bodies: list[dict[str, Any]]) -> bpy.types.Object:
    """The benchmark's bones as an armature, and a shape to look at for each."""
    elbow, fore = Vector((0.0, 0.0, -0.12)), 2.0 * (Vector(bodies[1]["position"]) - Vector((0.0, 0.0, -0.12)))
    data = bpy.data.armatures.new("Arm")
    rig = bpy.data.objects.new("Arm", data)
    rig.location = HIGH
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    upper, lower = data.edit_bones.new("Upper Arm"), data.edit_bones.new("Forearm")
    upper.head, upper.tail = (0.0, 0.0, 0.0), elbow
    lower.head, lower.tail, lower.parent, lower.use_connect = elbow, elbow + fore, upper, True
    for bone in (upper, lower):
        bone.align_roll((0, 1, 0))  # its Z lies across the arm: the hinge
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.conjac.enabled, rig.conjac.mechanism.use_skin = True, False
    rig.conjac.beta = 0.5
    material = stage.surface("Bone", (0.78, 0.72, 0.60), 0.5)
    for body, bone in zip(bodies, rig.pose.bones):
        part, radius = bone.conjac, body["shape"]["params"]["radius"]
        part.radius, part.mass, part.joint, part.axis, part.damping = radius, body["mass"], "revolute", "Z", 2.0e-4
        vertices, faces, _ = turned(bone.bone.head_local, bone.bone.tail_local,
                                    lambda s, r=radius: r * (1.0 + 0.5 * (2.0 * s - 1.0) ** 6), 24)
        made = stage.mesh_object(scene, f"{bone.name} Bone", vertices, faces)
        made.data.materials.append(material)
        made.data.polygons.foreach_set("use_smooth", [True] * len(faces))
        made.vertex_groups.new(name=bone.name).add(range(len(vertices)), 1.0, "REPLACE")
        made.parent = rig
        made.modifiers.new("Armature", "ARMATURE").object = rig
    rig.hide_render = True
    return rig


def muscle(scene: bpy.types.Scene, rig: bpy.types.Object, of: Arm) -> bpy.types.Object:
    """The skin of the benchmark's sheet, grown on both bones, with fibers from end to end that are keyed."""
    from solver.meshing.volume import boundary_faces

    whole, grown = of.muscle, of.grown
    used, corners = np.unique(boundary_faces(whole.tets)[0], return_inverse=True)
    along = whole.along[used]
    body = stage.mesh_object(scene, "Muscle", whole.nodes[used].tolist(), corners.reshape(-1, 3).tolist())
    body.location = HIGH
    body.data.materials.append(stage.surface("Flesh", (0.55, 0.06, 0.05), 0.4))
    stage.paint(body, "Fibers", [0.0 if s < 1e-9 else 1.0 if s > 1.0 - 1e-9 else 0.5 for s in along])
    soft = body.conjac
    soft.enabled = True
    soft.youngs_modulus, soft.poisson_ratio, soft.density = 3.0e4, 0.49, 1000.0
    soft.mesher, soft.edge_length = "tetwild", 0.006
    soft.fiber_material, soft.fiber_field, soft.fiber_modulus = "afung", "gradient", of.fiber_modulus
    soft.fibers_group = "Fibers"
    stage.key(soft, "activation", ACTIVE)
    for part, held in ((of.origin, along <= grown), (of.insertion, along >= 1.0 - grown)):
        stage.paint(body, part, held.astype(float).tolist())
        one = soft.attachments.add()
        one.object, one.part, one.group = rig, part, part
    handle = bpy.data.objects.new("Middle", None)
    handle.location, handle.empty_display_size = HIGH + Vector(whole.nodes[whole.middle]), 0.005
    scene.collection.objects.link(handle)
    soft.handles.add().object = handle
    return body
