"""tumble.blend: the ragdoll of ragdoll.blend with a belly and a bottom of soft flesh, which jiggle down the stairs.

Its bones meet the steps by their capsules, the flesh by its skin: the steps are obstacles of the one and colliders of
the other. Flesh is grown on the bone of the hips and touches all other bones (*Touch Soft Bodies*). It begins clear of
them and in even faces: made by pushing an ellipsoid in it had edges of 5 mm, which *Largest Deformation* halved steps
for while nothing was hit. Where it hits the steps at frame 24, steps are as short as 1.3 ms.
"""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
from mathutils import Vector

from . import jelly, ragdoll, stage

END = 60
SHEET = (8, 16, 22, 25, 29, 33, 44, 60)  #: frames of the contact sheet
#: (middle, radii) [m] of flesh on the hips, standing on z = 0 and facing -Y
FLESH = {"Belly": (Vector((0.0, -0.11, 0.99)), Vector((0.19, 0.16, 0.17))),
         "Bottom": (Vector((0.0, 0.11, 0.97)), Vector((0.18, 0.14, 0.14)))}
EVEN = 0.045  #: how long edges of their skin are [m]
CLEAR = 0.02  #: how far it begins from bones that it does not hang on [m]
GROWN = 0.11  #: how far from the hips' axis flesh is grown on them [m]; their capsule is 0.115 thick
EYE = Vector((5.0, -6.5, 1.5))  #: where the camera is from what it follows [m]
#: about where the hips are: by frame [m]
FOLLOWED = {1: (0.0, -0.2, 2.85), 8: (0.0, -0.3, 2.80), 16: (0.0, -1.1, 2.20), 22: (0.0, -1.8, 1.20),
            25: (0.0, -2.1, 0.85), 29: (0.0, -2.4, 0.70), 33: (0.0, -2.6, 0.50), 44: (0.0, -2.8, 0.40)}
MODULUS, DAMPING = 2.0e4, 3.0e-3  #: [Pa], and of stiffness [s]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 560, 400, ambient=0.35)
    rig = ragdoll.armature(scene)
    skin = ragdoll.skin(scene, rig)
    steps = ragdoll.stairs(scene)
    ragdoll.stumble(rig)
    bpy.context.view_layer.objects.active = rig
    rig.conjac.mechanism.contact_friction = ragdoll.FRICTION
    rig.conjac.mechanism.self_collisions = False  # the scene's numbers were measured without
    bpy.ops.conjac.ragdoll(smallest=0.0)
    bpy.ops.conjac.drive_then_let_go(frame=ragdoll.LET_GO)
    settings = rig.conjac
    settings.method, settings.integrator, settings.solver.stage_solver = "vanilla", "sdirk2", "quick"
    settings.mechanism.obstacles, settings.step = steps, 1.0 / 48.0
    settings.mechanism.touch_soft = True
    for step in steps.objects:
        jelly.collider(step, ragdoll.FRICTION)
    for name, (middle, radii) in FLESH.items():
        flesh(scene, rig, name, middle, radii, skin.data.materials[1])
    stage.backdrop(scene, 5.0, 0.0, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (3.0, -3.6, 4.2), (0, -0.8, 0.8), 420.0, 1.6, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (-5.0, 2.0, 5.0), (0, -1.2, 1.2), 600.0, 1.6, (0.80, 0.90, 1.0))
    first, *_ = FOLLOWED.values()
    stage.camera(scene, tuple(Vector(first) + EYE), first, 78.0)
    stage.key(scene.camera, "location", {frame: tuple(Vector(at) + EYE) for frame, at in FOLLOWED.items()})


def flesh(scene: bpy.types.Scene, rig: bpy.types.Object, name: str, middle: Vector, radii: Vector,
          look: bpy.types.Material) -> None:
    """An ellipsoid that is grown on the hips and meets the steps."""
    made = jelly.ball(scene, name, 1.0, (0.0, 0.0, 0.0), look)
    own = cleared(np.array([vertex.co for vertex in made.data.vertices]) * radii, np.array(middle))
    made.data.vertices.foreach_set("co", own.ravel())
    made.data.update()
    own = evened(made)
    made.location = rig.location
    jelly.soft(made, "tetgen", 0.12, MODULUS, friction=ragdoll.FRICTION, damping=DAMPING)
    made.conjac.contact.by_mesh = True  # its tetrahedra have corners that it lacks: seen faces overlapped by mm
    low, high, *_ = ragdoll.SPINE["hips"]
    away = np.hypot(own[:, 0] - low[0], own[:, 1] - low[1])
    stage.paint(made, "Grown", ((away < GROWN) & (own[:, 2] > low[2]) & (own[:, 2] < high[2])).astype(float).tolist())
    one = made.conjac.attachments.add()
    one.object, one.part, one.group = rig, "hips", "Grown"


def evened(made: bpy.types.Object) -> np.ndarray:
    """Faces all about as large; where its vertices are then, (n, 3) [m].

    Short edges make short steps: those of an ellipsoid that was pushed in go down to 5 mm.
    """
    remesh = made.modifiers.new("Even", "REMESH")
    remesh.mode, remesh.voxel_size = "VOXEL", EVEN
    bpy.context.view_layer.objects.active = made
    bpy.ops.object.modifier_apply(modifier=remesh.name)
    shell = bmesh.new()
    shell.from_mesh(made.data)
    bmesh.ops.remove_doubles(shell, verts=shell.verts, dist=0.5 * EVEN)
    bmesh.ops.triangulate(shell, faces=shell.faces)
    shell.to_mesh(made.data)
    shell.free()
    made.data.polygons.foreach_set("use_smooth", [True] * len(made.data.polygons))
    return np.array([vertex.co for vertex in made.data.vertices])


def cleared(ways: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Places of an ellipsoid's vertices, (n, 3) [m], each as far out on its way from the middle as no other bone is,
    nor the other side of the body."""
    front = np.sign(middle[1]) * ways[:, 1] < 0.0
    ways[front] *= np.minimum(1.0, (abs(middle[1]) - CLEAR) / np.abs(ways[front, 1]))[:, None]
    for name, (head, tail, _, radius) in ragdoll.bones().items():
        if name == "hips":
            continue
        low, along = np.array(head), np.array(tail) - np.array(head)
        for _ in range(60):
            at = middle + ways
            share = np.clip((at - low) @ along / (along @ along), 0.0, 1.0)
            near = np.linalg.norm(at - low - share[:, None] * along, axis=1) < radius + CLEAR
            if not near.any():
                break
            ways = np.where(near[:, None], 0.97 * ways, ways)
    return middle + ways
