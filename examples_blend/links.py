"""links.blend: a chain of 1000 links that is a spring. It lies in folds, hangs by its upper end and is let go.

Links turn on hinges about the world's Y. A damped spring joins points of neighbours beside each hinge, on the outer
side where the chain bends, and rests as placed, so that the folds pull together again. The chain falls open to twice
what it can hang by and bounces back; above, where folds carry more, they stand wider apart than below.
"""

from __future__ import annotations

from math import cos, pi, sin

import bpy
from mathutils import Vector

from . import stage

FOLDS, STRAIGHT, TURN = 25, 32, 8  #: links of each fold, and of each turn between two
LINKS = FOLDS * (STRAIGHT + TURN)
LENGTH, THICK = 0.01, 0.006  #: [m], thickness on each side
DENSITY = 300.0
BESIDE = 0.02  #: how far beside the middles the springs are held [m]
STIFFNESS, DAMPING = 1.0e5, 3.5e3  #: [N/m, N s/m]
END = 96
SHEET = (1, 9, 13, 19, 28, 37, 47, 56)
HEIGHT = 2.60


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 240, 600, ambient=0.3)
    rig = chain(scene)
    links(scene, rig)
    stage.backdrop(scene, 1.8, -0.3, (0.42, 0.44, 0.48))
    stage.light(scene, "Key", (1.6, -2.6, 3.2), (0.0, 0, 1.4), 150.0, 0.8, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (-1.8, 1.0, 2.6), (0.0, 0, 1.4), 70.0, 0.6, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.5, -6.5, 1.4), (0.0, 0.0, 1.24), 76.0)


def joints() -> list[Vector]:
    """Return where links meet, from the top down, in the XZ plane: folds and half circles between them [m]."""
    ways = [0.0] * (STRAIGHT // 2)  # angle of each link to X; it hangs by the middle of the first fold
    for fold in range(FOLDS):
        side = 1.0 if fold % 2 else -1.0  # to the right and to the left, downwards both
        ways += [ways[-1] + side * pi * k / (TURN + 1) for k in range(1, TURN + 1)]
        ways += [ways[-TURN - 1] + side * pi] * (STRAIGHT if fold < FOLDS - 1 else STRAIGHT // 2)
    found = [Vector((0.0, 0.0, 0.0))]
    for way in ways:
        found.append(found[-1] + LENGTH * Vector((cos(way), 0.0, sin(way))))
    return found


def chain(scene: bpy.types.Scene) -> bpy.types.Object:
    """An armature of links that hangs on a hinge in the world, with a spring at every hinge."""
    places = joints()
    data = bpy.data.armatures.new("Links")
    rig = bpy.data.objects.new("Links", data)
    rig.location = (0.0, 0.0, HEIGHT)
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    before = None
    for k in range(LINKS):
        bone = data.edit_bones.new(f"Link {k + 1}")
        bone.head, bone.tail = places[k], places[k + 1]
        bone.align_roll((0.0, 1.0, 0.0))  # its Z is the hinge
        if before is not None:
            bone.parent, bone.use_connect = before, True
        before = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    settings = rig.conjac
    settings.enabled, settings.mechanism.use_skin, settings.mechanism.density = True, False, DENSITY
    settings.step = 1.0 / 240.0
    for k, bone in enumerate(rig.pose.bones):
        part = bone.conjac
        part.shape, part.radius, part.joint, part.axis = "box", THICK, "revolute", "Z"
        if k:
            hold(rig, rig.pose.bones[k - 1], bone)
    rig.hide_render = True
    return rig


def hold(rig: bpy.types.Object, first: bpy.types.PoseBone, second: bpy.types.PoseBone) -> None:
    """A spring beside the hinge of two links, on the side where they bend apart."""
    ways = [bone.bone.matrix_local.to_3x3() for bone in (first, second)]
    bends = ways[0].col[1].cross(ways[1].col[1]).dot(ways[0].col[2])  # about the hinge, to the left
    spring = rig.conjac.mechanism.springs.add()
    spring.name, spring.first, spring.second = f"{first.name} – {second.name}", first.name, second.name
    spring.first_point = spring.second_point = (BESIDE if bends > 0.0 else -BESIDE, 0.0, 0.0)
    spring.stiffness, spring.damping = STIFFNESS, DAMPING


def links(scene: bpy.types.Scene, rig: bpy.types.Object) -> None:
    """A bar for each bone, in one mesh that the bones move, in two colours by turns of folds."""
    vertices, faces, of = [], [], []
    for bone in rig.pose.bones:
        first, axes = len(vertices), bone.bone.matrix_local
        corners = [(x, y, z) for y in (0.0, LENGTH) for x in (-THICK, THICK) for z in (-4.0 * THICK, 4.0 * THICK)]
        vertices += [tuple(axes @ Vector(corner)) for corner in corners]
        faces += [tuple(first + i for i in face) for face in ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6),
                                                              (0, 2, 6, 4), (1, 5, 7, 3))]
        of.append(range(first, first + 8))
    body = stage.mesh_object(scene, "Bars", vertices, faces)
    for name, colour in (("Copper", (0.62, 0.30, 0.10)), ("Teal", (0.03, 0.28, 0.36))):
        body.data.materials.append(stage.surface(name, colour, 0.4))
    # five folds of a colour: the eye follows how far each of them has gone
    body.data.polygons.foreach_set("material_index", [i // 6 // (LINKS // 5) % 2 for i in range(len(faces))])
    for bone, own in zip(rig.pose.bones, of):
        body.vertex_groups.new(name=bone.name).add(list(own), 1.0, "REPLACE")
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
