"""suzanne.blend: a 15 cm rubber monkey head, held at the back and shaken; ears, brow and chin are lively."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np

from . import stage

WIDTH = 0.15  #: ear to ear [m]
END = 72
SHEET = (1, 11, 16, 19, 22, 34, 39, 72)  #: frames of the contact sheet
FLOOR = -0.085  #: [m] below the head's centre

#: where a dynamic node is painted, in Suzanne's own units (she is 2.65 wide), and how wide the patch is
SPOTS = {
    "left ear": ((1.24, 0.40, 0.30), 0.20),
    "right ear": ((-1.24, 0.40, 0.30), 0.20),
    "brow": ((0.0, -0.60, 0.49), 0.28),
    "chin": ((0.0, -0.64, -0.88), 0.22),
}
PINNED_BEHIND = 0.45  #: the back of the head: own units along Y (she looks along −Y), between the ears
PINNED_WITHIN = 0.50  #: own units from the axis between the ears

#: turn about Z and nod about X [degrees], and sideways and upward motion [m]
REST = (0.0, 0.0, 0.0, 0.0)
SHAKE = {
    1: REST, 9: REST,
    13: (44.0, 5.0, 0.022, 0.004), 18: (-46.0, -4.0, -0.024, 0.0), 23: (46.0, 5.0, 0.024, 0.004),
    28: (-44.0, -4.0, -0.022, 0.0), 33: (36.0, 4.0, 0.016, 0.004), 37: REST, END: REST,
}


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 480, 420)
    head = monkey(scene)
    shake(head)
    settings(head)
    halo(head)
    stage.backdrop(scene, 0.30, FLOOR, (0.055, 0.12, 0.20))
    stage.light(scene, "Key", (-0.35, -0.50, 0.50), (0.0, 0.0, 0.0), 9.0, 0.30, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.45, 0.25, 0.35), (0.0, 0.0, 0.0), 7.0, 0.20, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.13, -0.52, 0.09), (0.0, 0.0, 0.002), 82.0)


def monkey(scene: bpy.types.Scene) -> bpy.types.Object:
    """Suzanne subdivided once, WIDTH wide, with painted groups; Blender's own smoothing comes after the simulation."""
    bpy.ops.mesh.primitive_monkey_add(size=2.0)
    head = bpy.context.object
    head.name = head.data.name = "Suzanne"
    head.modifiers.new("Once", "SUBSURF").levels = 1
    bpy.ops.object.modifier_apply(modifier="Once")

    # weights in her own units, then to metres
    own = positions(head.data)
    scale = WIDTH / np.ptp(own[:, 0])
    eye = is_eye(head.data)
    stage.paint(head, "Dynamic", np.where(eye, 0.0, dynamic_weights(own)).tolist())
    stage.paint(head, "Pin", pin_weights(own).tolist())
    head.data.vertices.foreach_set("co", (own * scale).astype(np.float32).ravel())
    head.data.polygons.foreach_set("use_smooth", [True] * len(head.data.polygons))
    head.data.update()
    head.data.materials.append(stage.surface("Rubber", (0.60, 0.055, 0.018), 0.35, subsurface=0.004))
    head.data.materials.append(stage.surface("Eyes", (0.75, 0.70, 0.60), 0.15))
    shades = [int(eye[polygon.vertices[0]]) for polygon in head.data.polygons]
    head.data.polygons.foreach_set("material_index", shades)
    head.modifiers.new("Smooth", "SUBSURF").render_levels = 1
    return head


def positions(mesh: bpy.types.Mesh) -> np.ndarray:
    """(n, 3) vertex positions in object space."""
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(float)


def is_eye(mesh: bpy.types.Mesh) -> np.ndarray:
    """(n,) whether a vertex belongs to one of the small loose parts: the eyeballs."""
    edges = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", edges)
    first, second = edges.reshape(-1, 2).T
    part = np.arange(len(mesh.vertices))
    while True:  # every vertex takes the lowest number among its neighbours until nothing changes
        lowest = part.copy()
        np.minimum.at(lowest, first, part[second])
        np.minimum.at(lowest, second, part[first])
        if np.array_equal(lowest, part):
            return part != np.bincount(part).argmax()
        part = lowest


def dynamic_weights(own: np.ndarray) -> np.ndarray:
    """One round patch a spot, 1 in its middle, fading to 0 at its rim."""
    weights = np.zeros(len(own))
    for centre, radius in SPOTS.values():
        distance = np.linalg.norm(own - np.array(centre), axis=1)
        weights = np.maximum(weights, np.clip(2.0 * (1.0 - distance / radius), 0.0, 1.0))
    return weights


def pin_weights(own: np.ndarray) -> np.ndarray:
    """The back of the head, fading in over a fifth of a unit."""
    middle = np.hypot(own[:, 0], own[:, 2] - 0.2) < PINNED_WITHIN
    return np.where(middle, np.clip((own[:, 1] - PINNED_BEHIND) / 0.2 + 0.5, 0.0, 1.0), 0.0)


def shake(head: bpy.types.Object) -> None:
    """Keyframes the object: the pinned part goes along, the rest must follow."""
    turns = {frame: (radians(nod), 0.0, radians(turn)) for frame, (turn, nod, _, _) in SHAKE.items()}
    stage.key(head, "rotation_euler", turns)
    stage.key(head, "location", {frame: (side, 0.0, up) for frame, (_, _, side, up) in SHAKE.items()})


def halo(head: bpy.types.Object) -> None:
    """A rigid ring on a rod, held where the head is held: its bead points where a rigid head would look."""
    radius, height = 0.042, 0.068
    metal = stage.surface("Metal", (0.85, 0.72, 0.40), 0.25)
    metal.node_tree.nodes["Principled BSDF"].inputs["Metallic"].default_value = 1.0
    bpy.ops.mesh.primitive_torus_add(major_radius=radius, minor_radius=0.0016, location=(0.0, 0.0, height))
    parts = [bpy.context.object]
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.0055, location=(0.0, -radius, height))
    parts.append(bpy.context.object)
    bpy.ops.mesh.primitive_cylinder_add(radius=0.0016, depth=height - 0.01, location=(0.0, radius, height / 2 + 0.005))
    parts.append(bpy.context.object)
    for part, name in zip(parts, ("Halo", "Bead", "Rod")):
        part.name = part.data.name = name
        part.data.materials.append(metal)
        part.data.polygons.foreach_set("use_smooth", [True] * len(part.data.polygons))
        part.parent = head


def settings(head: bpy.types.Object) -> None:
    """E = 3e4 Pa, ν = 0.45, h = 1/120 s; four dynamic nodes by paint."""
    soft = head.conjac
    soft.enabled = True
    soft.method = "conjac"
    soft.youngs_modulus, soft.poisson_ratio, soft.density = 3.0e4, 0.45, 1000.0
    soft.step = 1.0 / 120.0
