"""Figures of a few bones with flesh grown on them: rig, limbs that bones move, and flesh, of BELLY and CLOAK."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

from . import jelly, ragdoll, stage

Bones = dict[str, tuple[tuple[float, float, float], tuple[float, float, float], str | None]]


def armature(scene: bpy.types.Scene, bones: Bones, friction: float) -> bpy.types.Object:
    """A mechanism that touches soft bodies. bones: head, tail and parent of each; one that begins where its parent ends
    is connected."""
    data = bpy.data.armatures.new("Figure")
    rig = bpy.data.objects.new("Figure", data)
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (head, tail, parent) in bones.items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        if parent is not None:
            bone.parent = data.edit_bones[parent]
            bone.use_connect = (bone.head - bone.parent.tail).length < 1e-6
    bpy.ops.object.mode_set(mode="OBJECT")
    settings = rig.conjac
    settings.enabled, settings.mechanism.use_skin, settings.method = True, False, "vanilla"
    settings.mechanism.contact_friction, settings.mechanism.touch_soft = friction, True
    rig.hide_render = True
    return rig


def flesh(scene: bpy.types.Scene, middle: Vector, radii: tuple[float, float, float], look: bpy.types.Material,
          edge: float, modulus: float, friction: float) -> tuple[bpy.types.Object, np.ndarray]:
    """A soft ellipsoid, and where its vertices are, (n, 3) [m]. edge: of its tetrahedra [m]; modulus: [Pa]."""
    made = jelly.ball(scene, "Belly", 1.0, (0.0, 0.0, 0.0), look)
    places = np.array([vertex.co for vertex in made.data.vertices]) * radii + np.array(middle)
    made.data.vertices.foreach_set("co", places.ravel())
    made.data.update()
    jelly.soft(made, "tetgen", edge, modulus, friction=friction)
    return made, places


def grow(body: bpy.types.Object, rig: bpy.types.Object, weights: list[float]) -> None:
    """*Attach to Bone*: what is painted goes with the torso."""
    stage.paint(body, "Torso", weights)
    one = body.conjac.attachments.add()
    one.object, one.part, one.group = rig, "Torso", "Torso"


def limb(scene: bpy.types.Scene, rig: bpy.types.Object, name: str, bone: str, head: Vector, tail: Vector, radius: float,
         look: bpy.types.Material) -> bpy.types.Object:
    """A capsule that a bone moves, with its ends around head and tail."""
    vertices, faces = ragdoll.capsule(head, tail, radius)
    made = stage.mesh_object(scene, f"{name} Skin", [tuple(vertex) for vertex in vertices], faces)
    made.data.polygons.foreach_set("use_smooth", [True] * len(faces))
    made.data.materials.append(look)
    stage.paint(made, bone, [1.0] * len(vertices))
    made.parent = rig
    made.modifiers.new("Armature", "ARMATURE").object = rig
    return made
