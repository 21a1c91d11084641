"""chain.blend: the dissertation's CHAIN. Two chains swing from level; the bearings of one have twice the radius.

Links hang on hinges that rub. Friction torque grows with the bearing's radius and with the load, so the chains come to
rest from the root down, and the one with 2 R sooner.
"""

from __future__ import annotations

import bpy

from . import stage

LINKS, LENGTH, THICK = 8, 0.16, 0.022  #: [m]
RADIUS, FRICTION = 0.006, 0.4  #: of the bearings [m], and their coefficient
END = 192
SHEET = (1, 8, 16, 30, 60, 100, 140, 190)
HEIGHT = 1.6


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 640, 400, ambient=0.3)
    for name, y, factor, colour in (("Chain R", 0.3, 1.0, (0.62, 0.36, 0.16)), ("Chain 2R", -0.3, 2.0,
                                                                                 (0.05, 0.30, 0.36))):
        rig = chain(scene, name, y, factor * RADIUS)
        links(scene, rig, colour)
    stage.backdrop(scene, 1.8, 0.0, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (1.5, -2.6, 3.0), (0.2, 0, 1.0), 160.0, 0.8, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (-2.0, 1.0, 2.4), (0.2, 0, 1.0), 90.0, 0.6, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.7, -4.2, 1.5), (0.2, 0.0, 0.95), 46.0)


def chain(scene: bpy.types.Scene, name: str, y: float, radius: float) -> bpy.types.Object:
    """An armature of links along X that hangs on a hinge in the world."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    rig.location = (0.0, y, HEIGHT)
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for k in range(LINKS):
        bone = data.edit_bones.new(f"Link {k + 1}")
        bone.head, bone.tail = (k * LENGTH, 0, 0), ((k + 1) * LENGTH, 0, 0)
        if k:
            bone.parent, bone.use_connect = data.edit_bones[k - 1], True
        bone.align_roll((0, 1, 0))  # its Z lies across the chain: the hinge
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.conjac.enabled, rig.conjac.mechanism.joint_friction = True, "bisp"
    rig.conjac.mechanism.use_skin = False
    rig.conjac.step, rig.conjac.integrator = 1.0 / 240.0, "sdirk2"
    for bone in rig.pose.bones:
        part = bone.conjac
        part.shape, part.radius, part.joint, part.axis = "box", THICK, "revolute", "Z"
        part.friction, part.bearing_radius, part.bearing_length = FRICTION, radius, 0.04
    rig.hide_render = True
    return rig


def links(scene: bpy.types.Scene, rig: bpy.types.Object, colour: tuple[float, float, float]) -> None:
    """A bar for each bone and a pin at each hinge, in one mesh that the bones move."""
    vertices, faces, of = [], [], []
    for k in range(LINKS):
        wide = 0.8 * THICK if k % 2 else 1.15 * THICK  # neighbours inside each other
        for x0, x1, half, high in ((k * LENGTH - 0.01, (k + 1) * LENGTH + 0.01, wide, 0.6 * THICK),
                                   (k * LENGTH - 0.012, k * LENGTH + 0.012, 1.9 * THICK, 0.012)):
            first = len(vertices)
            vertices += [(x, y, z) for x in (x0, x1) for y in (-half, half) for z in (-high, high)]
            faces += [tuple(first + i for i in face) for face in ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1),
                                                                  (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))]
            of += [k] * 8
    body = stage.mesh_object(scene, f"{rig.name} Links", vertices, faces)
    body.data.materials.append(stage.surface(rig.name, colour, 0.4))
    for k in range(LINKS):
        body.vertex_groups.new(name=f"Link {k + 1}").add([i for i, one in enumerate(of) if one == k], 1.0, "REPLACE")
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
