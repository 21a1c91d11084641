"""tumble.blend: the ragdoll of ragdoll.blend with a belly and a bottom of soft flesh, which jiggle down the stairs.

Its bones meet the steps by their capsules, the flesh by its skin: the steps are obstacles of the one and colliders of
the other. What of the flesh is inside of the hips' capsule is grown on that bone. *Touch Soft Bodies* is off, so other
bones go through flesh; tried on, with flesh that began clear of them, 25 of 60 frames took a quarter of an hour on a
busy machine. Where the belly hits the steps at frame 23 steps are halved four times, with and without.
"""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

from . import jelly, ragdoll, stage

END = 60
SHEET = (8, 16, 22, 27, 33, 40, 48, 60)  #: frames of the contact sheet
#: (middle, radii) [m] of flesh on the hips, standing on z = 0 and facing -Y
FLESH = {"Belly": (Vector((0.0, -0.11, 1.10)), Vector((0.19, 0.17, 0.17))),
         "Bottom": (Vector((0.0, 0.11, 0.97)), Vector((0.18, 0.14, 0.14)))}
GROWN = 0.085  #: how far from the hips' axis flesh is grown on them [m]; their capsule is 0.115 thick
MODULUS, DAMPING = 1.2e4, 2.0e-3  #: [Pa], and of stiffness [s]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 560, 400, ambient=0.35)
    rig = ragdoll.armature(scene)
    skin = ragdoll.skin(scene, rig)
    steps = ragdoll.stairs(scene)
    ragdoll.stumble(rig)
    bpy.context.view_layer.objects.active = rig
    rig.conjac.mechanism.contact_friction = ragdoll.FRICTION
    bpy.ops.conjac.ragdoll(smallest=0.0)
    bpy.ops.conjac.drive_then_let_go(frame=ragdoll.LET_GO)
    settings = rig.conjac
    settings.method, settings.integrator, settings.solver.stage_solver = "vanilla", "sdirk2", "quick"
    settings.mechanism.obstacles, settings.step = steps, 1.0 / 48.0
    for step in steps.objects:
        jelly.collider(step, ragdoll.FRICTION)
    for name, (middle, radii) in FLESH.items():
        flesh(scene, rig, name, middle, radii, steps, skin.data.materials[1])
    stage.backdrop(scene, 5.0, 0.0, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (3.0, -3.6, 4.2), (0, -0.8, 0.8), 420.0, 1.6, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (-5.0, 2.0, 5.0), (0, -1.2, 1.2), 600.0, 1.6, (0.80, 0.90, 1.0))
    stage.camera(scene, (5.0, -8.0, 3.3), (0.0, -1.45, 1.50), 42.0)


def flesh(scene: bpy.types.Scene, rig: bpy.types.Object, name: str, middle: Vector, radii: Vector,
          steps: bpy.types.Collection, look: bpy.types.Material) -> None:
    """An ellipsoid that is grown on the hips and meets the steps."""
    made = jelly.ball(scene, name, 1.0, (0.0, 0.0, 0.0), look)
    own = np.array([vertex.co for vertex in made.data.vertices]) * radii + np.array(middle)
    made.data.vertices.foreach_set("co", own.ravel())
    made.data.update()
    made.location = rig.location
    jelly.soft(made, "tetgen", 0.12, MODULUS, friction=ragdoll.FRICTION, damping=DAMPING)
    made.conjac.contact.collides_with, made.conjac.contact.collection = "collection", steps
    low, high, *_ = ragdoll.SPINE["hips"]
    away = np.hypot(own[:, 0] - low[0], own[:, 1] - low[1])
    stage.paint(made, "Grown", ((away < GROWN) & (own[:, 2] > low[2]) & (own[:, 2] < high[2])).astype(float).tolist())
    one = made.conjac.attachments.add()
    one.object, one.part, one.group = rig, "hips", "Grown"
