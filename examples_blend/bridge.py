"""bridge.blend: a ragdoll falls on a rope bridge, whose planks are welded to its ropes, and the bridge swings with it.

The four ropes and the strings between them are one net with knots; planks lie on the lower two.
"""

from __future__ import annotations

from math import radians

import bpy
import numpy as np

from . import jelly, ragdoll, stage
from .ropes import rope

END = 44
SHEET = (1, 6, 10, 14, 18, 24, 32, 44)  #: frames of the contact sheet
SPAN, HIGH, SAG = 3.6, 1.5, 0.22  #: between the posts, height of the lower ropes there, and how deep they hang [m]
SIDE, RAIL = 0.42, 0.75  #: of lower ropes from the middle, and how high the upper ones are above them [m]
LINKS = 96  #: of each rope, six from plank to plank
PLANKS, BREADTH, THICK = 15, 0.15, 0.05  #: number, along the bridge, and how thick [m]
ROPE, AIR = 0.03, 0.004  #: thickness of ropes, and between them and planks at the start [m]
DROP = 0.30  #: how high the ragdoll's feet are above the planks at the start [m]


def sagging(x: np.ndarray | float) -> np.ndarray | float:
    """Height of the lower ropes along the bridge [m]."""
    return HIGH - SAG * (1.0 - (2.0 * x / SPAN) ** 2)


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 520, 400, ambient=0.35)
    wood = stage.surface("Wood", (0.36, 0.20, 0.09), 0.7)
    for side in (-1.0, 1.0):
        for x in (-0.5 * SPAN, 0.5 * SPAN):
            bpy.ops.mesh.primitive_cylinder_add(radius=0.05, depth=HIGH + RAIL + 0.15,
                                                location=(x, side * SIDE, 0.5 * (HIGH + RAIL + 0.15)))
            bpy.context.object.data.materials.append(wood)
    ropes, boards = net(scene), planks(scene)
    stage.choose(ropes, boards)
    bpy.ops.conjac.add_weld()
    ropes.conjac.welds[0].distance, ropes.conjac.welds[0].stiffness = 0.5 * ROPE + 2.0 * AIR, 1.0e8
    rig = figure(scene)
    for one in (ropes, boards):
        one.conjac.contact.friction = 0.6
    rig.conjac.mechanism.touch_soft = True
    stage.backdrop(scene, 4.0, 0.0, (0.28, 0.34, 0.40))
    stage.light(scene, "Key", (-3.0, -4.5, 5.0), (0.0, 0.0, 1.5), 700.0, 2.0, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (4.0, 3.0, 4.5), (0.0, 0.0, 1.5), 450.0, 1.6, (0.80, 0.90, 1.0))
    stage.camera(scene, (2.2, -6.8, 2.9), (0.0, 0.0, 1.55), 42.0)


def net(scene: bpy.types.Scene) -> bpy.types.Object:
    """Four ropes along the bridge, pinned at their ends, and strings from the upper to the lower ones."""
    x = np.linspace(-0.5 * SPAN, 0.5 * SPAN, LINKS + 1)
    places, edges, pinned = [], [], []
    first = {}
    for side in (-1.0, 1.0):
        for up in (0.0, RAIL):
            start = first[side, up] = len(places)
            places += [(along, side * SIDE, height + up) for along, height in zip(x, sagging(x))]
            edges += [(start + k, start + k + 1) for k in range(LINKS)]
            pinned += [start, start + LINKS]
        for k in range(9, LINKS - 8, 12):  # between planks
            last, above = first[side, 0.0] + k, first[side, RAIL] + k
            low, high = np.array(places[last]), np.array(places[above])
            for share in np.linspace(0.0, 1.0, 9)[1:-1]:
                places.append(tuple((1.0 - share) * low + share * high))
                edges.append((last, len(places) - 1))
                last = len(places) - 1
            edges.append((last, above))
    made = rope(scene, "Ropes", np.array(places), edges, ROPE, stage.surface("Hemp", (0.62, 0.50, 0.32), 0.9), pinned)
    made.conjac.linear_density, made.conjac.rope_bending_stiffness = 0.5, 2.0e-2
    made.conjac.contact.itself = False
    return made


def planks(scene: bpy.types.Scene) -> bpy.types.Object:
    """Boards across the lower ropes, all in one soft body that hardly bends."""
    vertices, faces = [], []
    for x in np.linspace(-0.5 * SPAN, 0.5 * SPAN, PLANKS + 2)[1:-1]:
        # it leans as the ropes do below it
        way = np.array([1.0, 8.0 * SAG * x / SPAN**2])
        way /= np.linalg.norm(way)
        up = np.array([-way[1], way[0]])
        start, cuts = len(vertices), np.linspace(-SIDE - 0.08, SIDE + 0.08, 9)
        corners = [np.array([x, sagging(x)]) + share * BREADTH * way + (0.5 * ROPE + AIR + high) * up
                   for share, high in ((-0.5, 0.0), (0.0, 0.0), (0.5, 0.0), (0.5, THICK), (0.0, THICK), (-0.5, THICK))]
        vertices += [(corner[0], y, corner[1]) for y in cuts for corner in corners]
        for k in range(len(cuts) - 1):
            here = start + 6 * k
            faces += [(here + i, here + (i + 1) % 6, here + 6 + (i + 1) % 6, here + 6 + i) for i in range(6)]
        last = start + 6 * (len(cuts) - 1)
        faces += [(start + 5, start + 4, start + 1, start), (start + 4, start + 3, start + 2, start + 1),
                  (last, last + 1, last + 4, last + 5), (last + 1, last + 2, last + 3, last + 4)]
    made = stage.mesh_object(scene, "Planks", vertices, faces)
    made.data.materials.append(stage.surface("Planks", (0.45, 0.27, 0.12), 0.7))
    soft = made.conjac
    soft.mesher, soft.edge_length, soft.youngs_modulus, soft.density = "tetgen", 0.2, 2.0e7, 500.0
    stage.choose(made)
    bpy.ops.conjac.add_soft_body()
    soft.use_ground = False
    return made


def figure(scene: bpy.types.Scene) -> bpy.types.Object:
    """The mannequin above the bridge, leaning, limp from the start."""
    rig = ragdoll.armature(scene)
    ragdoll.skin(scene, rig)
    rig.location = (-0.1, 0.0, float(sagging(-0.1)) + 0.5 * ROPE + THICK + DROP)
    rig.rotation_euler = (radians(12.0), radians(-14.0), radians(70.0))
    bpy.context.view_layer.objects.active = rig
    rig.conjac.mechanism.contact_friction, rig.conjac.mechanism.self_collisions = 0.6, False
    bpy.ops.conjac.ragdoll(smallest=0.0)
    for bone in rig.pose.bones:
        bone.conjac.shape = "box"  # eight corners each, where capsules have hundreds
    return rig


def lowest(scene: bpy.types.Scene) -> float:
    """Return how far the ragdoll's lowest vertex of the skin is above the floor in any frame [m]."""
    return min(float(jelly.played("Skin", frame)[:, 2].min()) for frame in range(1, scene.frame_end + 1))
