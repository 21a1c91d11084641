"""drop.blend: a soft toy with two ears is dropped askew onto a floor with friction, tips over and comes to rest."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np

from . import stage

END = 48
SHEET = (1, 5, 7, 9, 12, 16, 24, 48)  #: frames of the contact sheet
TURN, HEIGHT = (24.0, -38.0, 20.0), 0.105  #: how it is held [degrees] and how high its middle is [m]

#: balls that grow together: place and radius [m]; the last ones of each ear are its tip
BALLS = {
    "body": (((0.0, 0.0, 0.0), 0.036), ((0.0, 0.0, -0.018), 0.036)),
    "head": (((0.0, -0.010, 0.046), 0.028),),
    "left ear": (((0.014, -0.008, 0.074), 0.011), ((0.019, -0.006, 0.090), 0.011), ((0.025, -0.004, 0.106), 0.010)),
    "right ear": (((-0.014, -0.008, 0.074), 0.011), ((-0.019, -0.006, 0.090), 0.011), ((-0.025, -0.004, 0.106), 0.010)),
    "feet": (((0.020, -0.030, -0.040), 0.015), ((-0.020, -0.030, -0.040), 0.015)),
    "hands": (((0.034, -0.018, 0.010), 0.012), ((-0.034, -0.018, 0.010), 0.012)),
    "tail": (((0.0, 0.044, -0.030), 0.012),),
}
#: where a dynamic node is painted, and how wide the patch is [m]
SPOTS = (((0.027, -0.004, 0.112), 0.012), ((-0.027, -0.004, 0.112), 0.012), ((0.0, -0.036, 0.046), 0.012),
         ((0.022, -0.042, -0.044), 0.012), ((-0.022, -0.042, -0.044), 0.012), ((0.0, 0.054, -0.030), 0.012),
         ((0.045, -0.020, 0.008), 0.010), ((-0.045, -0.020, 0.008), 0.010))


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 380)
    toy = rabbit(scene)
    toy.location, toy.rotation_euler = (0.0, 0.0, HEIGHT), tuple(radians(angle) for angle in TURN)
    settings(toy)
    stage.backdrop(scene, 0.30, 0.0, (0.10, 0.16, 0.11))
    stage.light(scene, "Key", (-0.35, -0.50, 0.55), (0.0, 0.0, 0.04), 9.0, 0.30, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.45, 0.25, 0.40), (0.0, 0.0, 0.04), 6.0, 0.20, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.10, -0.62, 0.16), (0.0, 0.0, 0.065), 60.0)


def rabbit(scene: bpy.types.Scene, made_of: dict[str, tuple] = BALLS, fine: float = 0.0045) -> bpy.types.Object:
    """Balls joined by a voxel remesh and smoothed, painted where it should be lively. fine: of the voxels [m]."""
    parts = []
    for balls in made_of.values():
        for place, radius in balls:
            bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=radius, location=place)
            parts.append(bpy.context.object)
    toy = parts[0]
    with bpy.context.temp_override(active_object=toy, selected_editable_objects=parts):
        bpy.ops.object.join()
    toy.name = toy.data.name = "Rabbit"
    bpy.context.view_layer.objects.active = toy
    with bpy.context.temp_override(active_object=toy, object=toy, selected_objects=[toy],
                                   selected_editable_objects=[toy]):
        bpy.ops.object.origin_set(type="ORIGIN_CURSOR")
    remesh = toy.modifiers.new("Together", "REMESH")
    remesh.mode, remesh.voxel_size = "VOXEL", fine
    bpy.ops.object.modifier_apply(modifier="Together")
    smooth = toy.modifiers.new("Smooth", "SMOOTH")
    smooth.factor, smooth.iterations = 0.5, 6
    bpy.ops.object.modifier_apply(modifier="Smooth")

    flat = np.empty(3 * len(toy.data.vertices), np.float32)
    toy.data.vertices.foreach_get("co", flat)
    own = flat.reshape(-1, 3).astype(float)
    weights = np.zeros(len(own))
    for centre, radius in SPOTS:
        away = np.linalg.norm(own - np.array(centre), axis=1)
        weights = np.maximum(weights, np.clip(2.0 * (1.0 - away / max(radius, 1.5 * away.min())), 0.0, 1.0))
    stage.paint(toy, "Dynamic", weights.tolist())
    toy.data.polygons.foreach_set("use_smooth", [True] * len(toy.data.polygons))
    toy.data.materials.append(stage.surface("Rubber", (0.62, 0.30, 0.08), 0.4, subsurface=0.004))
    return toy


def settings(toy: bpy.types.Object) -> None:
    """The paper's rubber: E = 4e4 Pa, ν = 0.45; μ = 0.3; h = 1/240 s."""
    soft = toy.conjac
    soft.enabled = True
    soft.method = "conjac"
    soft.youngs_modulus, soft.poisson_ratio, soft.density = 4.0e4, 0.45, 1000.0
    soft.step = 1.0 / 240.0
    soft.use_ground, soft.ground_stiffness = True, 100.0
    soft.friction, soft.friction_coefficient = "coulomb", 0.3
