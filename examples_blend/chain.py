"""chain.blend: the dissertation's CHAIN. Two chains fall from level; the bearings of one have twice the radius.

Links hang on hinges that rub, their axes at 45 degrees to gravity. Friction grows with the bearing's radius and with
the load, so a chain comes to rest from the root down, and the one with 2 R sooner. Sizes as in `benchmarks/scenes`.
"""

from __future__ import annotations

import bpy

from . import stage

LINKS, LENGTH, THICK = 10, 0.1, 0.01  #: [m], thickness on each side
RADIUS, PIN, FRICTION = 0.008, 0.03, 0.6  #: of the bearings [m], and their coefficient
END = 96
SHEET = (1, 6, 10, 16, 24, 36, 60, 96)
HEIGHT = 1.35


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 640, 400, ambient=0.3)
    for name, x, radius, colour in (("Chain R", -0.75, RADIUS, (0.62, 0.36, 0.16)),
                                    ("Chain 2R", 0.5, 2.0 * RADIUS, (0.05, 0.30, 0.36))):
        rig = chain(scene, name, x, radius)
        links(scene, rig, radius, colour)
    stage.backdrop(scene, 1.8, 0.0, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (1.2, -2.4, 2.6), (0.0, 0, 1.0), 110.0, 0.8, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (-1.8, 1.0, 2.2), (0.0, 0, 1.0), 70.0, 0.6, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.15, -3.5, 1.0), (0.15, 0.0, 0.88), 40.0)


def chain(scene: bpy.types.Scene, name: str, x: float, radius: float) -> bpy.types.Object:
    """An armature of links along X that hangs on a hinge in the world."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    rig.location = (x, 0.0, HEIGHT)
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for k in range(LINKS):
        bone = data.edit_bones.new(f"Link {k + 1}")
        bone.head, bone.tail = (k * LENGTH, 0, 0), ((k + 1) * LENGTH, 0, 0)
        if k:
            bone.parent, bone.use_connect = data.edit_bones[k - 1], True
        bone.align_roll((0, 1, 1))  # its Z lies across the chain: the hinge
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.conjac.enabled, rig.conjac.mechanism.joint_friction = True, "bisp"
    rig.conjac.mechanism.use_skin = False
    rig.conjac.step, rig.conjac.beta = 1.0 / 240.0, 1.0
    for bone in rig.pose.bones:
        part = bone.conjac
        part.shape, part.radius, part.joint, part.axis = "box", THICK, "revolute", "Z"
        part.friction, part.bearing_radius, part.bearing_length = FRICTION, radius, PIN
    rig.hide_render = True
    return rig


def links(scene: bpy.types.Scene, rig: bpy.types.Object, radius: float,
          colour: tuple[float, float, float]) -> None:
    """A bar for each bone and a pin as thick as its bearing at each hinge, in one mesh that the bones move."""
    vertices, faces, of = [], [], []
    for k in range(LINKS):
        wide = 0.8 * THICK if k % 2 else 1.2 * THICK  # neighbours inside each other
        for x0, x1, half, high in ((k * LENGTH - 0.01, (k + 1) * LENGTH + 0.01, wide, wide),
                                   (k * LENGTH - radius, k * LENGTH + radius, PIN, radius)):
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
