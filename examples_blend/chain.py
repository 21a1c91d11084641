"""chain.blend: the dissertation's CHAIN. Two chains fall from level; the bearings of one have twice the radius.

Links hang on hinges that rub, their axes at 45 degrees to gravity. Friction grows with the bearing's radius and with
the load: with 2 R the hinges stop one after the other from the root down, on their first way down. With R the chain
swings back before it does. Sizes as in `benchmarks/scenes`.
"""

from __future__ import annotations

from math import cos, pi, sin

import bpy
from mathutils import Vector

from . import stage

LINKS, LENGTH, THICK = 10, 0.1, 0.01  #: [m], thickness on each side
RADIUS, PIN, FRICTION = 0.008, 0.03, 0.6  #: of the bearings [m], and their coefficient
END = 96
SHEET = (1, 8, 14, 19, 24, 31, 42, 62)
HEIGHT = 1.35
HINGE = Vector((0.0, 1.0, 1.0)).normalized()  #: axis of every hinge


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 640, 360, ambient=0.3)
    for name, x, radius, colour in (("Chain R", -0.60, RADIUS, (0.62, 0.30, 0.10)),
                                    ("Chain 2R", 0.48, 2.0 * RADIUS, (0.03, 0.28, 0.36))):
        rig = chain(scene, name, x, radius)
        links(scene, rig, radius, colour)
    stage.backdrop(scene, 1.8, 0.0, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (1.2, -2.4, 2.6), (0.0, 0, 1.0), 110.0, 0.8, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (-1.8, 1.0, 2.2), (0.0, 0, 1.0), 70.0, 0.6, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.20, -3.5, 1.3), (0.20, 0.0, 0.88), 45.0)


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
    vertices, faces, of, pins = [], [], [], []
    for k in range(LINKS):
        wide = 0.8 * THICK if k % 2 else 1.2 * THICK  # neighbours inside each other
        for prism, is_pin in ((bar(k, wide), False), (pin(k, radius), True)):
            first = len(vertices)
            vertices += prism[0]
            faces += [tuple(first + i for i in face) for face in prism[1]]
            pins += [is_pin] * len(prism[1])
            of += [k] * len(prism[0])
    body = stage.mesh_object(scene, f"{rig.name} Links", [tuple(v) for v in vertices], faces)
    body.data.materials.append(stage.surface(rig.name, colour, 0.4))
    body.data.materials.append(stage.surface(f"{rig.name} Pins", (0.85, 0.82, 0.75), 0.3))
    body.data.polygons.foreach_set("material_index", [int(is_pin) for is_pin in pins])
    for k in range(LINKS):
        body.vertex_groups.new(name=f"Link {k + 1}").add([i for i, one in enumerate(of) if one == k], 1.0, "REPLACE")
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig


def prism(ring: list[Vector], along: Vector) -> tuple[list[Vector], list[tuple[int, ...]]]:
    """Vertices and faces of what a ring of points sweeps."""
    count = len(ring)
    sides = [(i, (i + 1) % count, count + (i + 1) % count, count + i) for i in range(count)]
    return [*ring, *(point + along for point in ring)], [
        *sides, tuple(reversed(range(count))), tuple(range(count, 2 * count))]


def bar(k: int, half: float) -> tuple[list[Vector], list[tuple[int, ...]]]:
    """Link k at rest, its sides along and across the hinges."""
    start, up = Vector((k * LENGTH - 0.01, 0.0, 0.0)), HINGE.cross(Vector((1.0, 0.0, 0.0)))
    corners = [start + half * (a * HINGE + b * up) for a, b in ((1, -1), (1, 1), (-1, 1), (-1, -1))]
    return prism(corners, Vector((LENGTH + 0.02, 0.0, 0.0)))


def pin(k: int, radius: float, sides: int = 24) -> tuple[list[Vector], list[tuple[int, ...]]]:
    """The pin of hinge k, as thick as its bearing and twice as long, so that it is seen."""
    start, up = Vector((k * LENGTH, 0.0, 0.0)) - PIN * HINGE, HINGE.cross(Vector((1.0, 0.0, 0.0)))
    turns = [2.0 * pi * i / sides for i in range(sides)]
    return prism([start + radius * (cos(turn) * Vector((1.0, 0.0, 0.0)) - sin(turn) * up) for turn in turns],
                 2.0 * PIN * HINGE)
