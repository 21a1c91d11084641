"""puppet.blend: a figure of jelly on five strings, which a bar above lifts, tilts and shakes."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np

from . import stage
from .grown import grown
from .ropes import strand

END = 96
SHEET = (1, 12, 24, 36, 48, 60, 78, 96)  #: frames of the contact sheet
BAR = 0.42  #: height of the bar [m]
FRONT = -0.06  #: where strings of the feet hang from the bar, along Y [m]
#: balls of the figure: place and radius [m]
BALLS = (((0.0, 0.0, 0.0), 0.034), ((0.0, 0.0, 0.035), 0.030), ((0.0, 0.0, 0.088), 0.032),
         *(((side * x, 0.0, z), r) for side in (-1.0, 1.0) for x, z, r in (
             (0.036, 0.040, 0.015), (0.055, 0.034, 0.013), (0.074, 0.028, 0.013), (0.092, 0.024, 0.016),
             (0.018, -0.036, 0.017), (0.022, -0.058, 0.016), (0.024, -0.080, 0.016), (0.026, -0.100, 0.019))))
HELD = 0.016  #: of the figure around the end of a string, as thick as a hand [m]
GAP = 0.0025  #: how far off the skin strings end, so that they may touch it [m]
#: where strings are tied: nearest place on the figure, and along the bar [m]
TIES = {"Head": ((0.0, 0.0, 0.118), 0.0), "Left Hand": ((-0.092, 0.0, 0.038), -0.12),
        "Right Hand": ((0.092, 0.0, 0.038), 0.12), "Left Foot": ((-0.026, -0.020, -0.090), -0.06),
        "Right Foot": ((0.026, -0.020, -0.090), 0.06)}


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 400, 460)
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, BAR))
    bar = bpy.context.object
    bar.name, bar.scale = "Bar", (0.28, 0.016, 0.016)
    bar.data.materials.append(stage.surface("Wood", (0.40, 0.22, 0.08), 0.6))
    frames = {1: 0.0, 10: 0.0, 22: 22.0, 34: -22.0, 46: 18.0, 58: 0.0}
    stage.key(bar, "rotation_euler", {frame: (0.0, radians(angle), 0.0) for frame, angle in frames.items()})
    stage.key(bar, "location", {58: (0.0, 0.0, BAR), 66: (0.0, 0.0, BAR - 0.05), 72: (0.0, 0.0, BAR + 0.03),
                                80: (0.0, 0.0, BAR)})
    doll = figure()
    for name, (at, along) in TIES.items():
        # each string is as long as what it spans, and its upper end goes with the bar
        top, low = np.array([along, 0.0, BAR - 0.008]), off_the_skin(doll, at)
        if "Foot" in name:
            top[1] = FRONT
        share = np.linspace(0.0, 1.0, 25)[:, None]
        string = strand(scene, f"String {name}", (1.0 - share) * top + share * low, 0.003, (0.85, 0.82, 0.75), (0,))
        string.conjac.linear_density, string.conjac.rope_bending_stiffness = 0.005, 1.0e-6
        string.conjac.contact.itself = False
        string.parent = bar
        string.matrix_parent_inverse = bar.matrix_basis.inverted()
        bpy.context.view_layer.update()
        stage.choose(doll, string)
        bpy.ops.conjac.add_constraint(kind="ball")
        tie = doll.conjac.constraints[len(doll.conjac.constraints) - 1]
        tie.place.location, tie.radius, tie.collide = low, HELD, True
    stage.backdrop(scene, 0.45, -0.16, (0.20, 0.08, 0.10))
    stage.light(scene, "Key", (-0.40, -0.60, 0.60), (0.0, 0.0, 0.1), 12.0, 0.30, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.50, 0.25, 0.50), (0.0, 0.0, 0.1), 8.0, 0.20, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.05, -1.15, 0.22), (0.0, 0.0, 0.15), 60.0)


def off_the_skin(doll: bpy.types.Object, near: tuple[float, float, float]) -> np.ndarray:
    """A place that is `GAP` off the skin [m], (3,)."""
    found, place, normal, _ = doll.closest_point_on_mesh(near)
    assert found
    return np.array(place + GAP * normal)


def figure() -> bpy.types.Object:
    """Balls that grow together, as a soft body."""
    look = stage.surface("Puppet", (0.70, 0.35, 0.10), 0.4, subsurface=0.006)
    doll = grown("Puppet", BALLS, 0.005, 4, look)
    soft = doll.conjac
    soft.edge_length, soft.youngs_modulus = 0.014, 8.0e4
    stage.choose(doll)
    bpy.ops.conjac.add_soft_body()
    soft.use_ground = False
    return doll
