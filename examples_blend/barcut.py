"""barcut.blend: the paper's BARCUT. A bar is stretched between its ends and cut twice while it moves.

49 × 10 × 10 cells of 1 cm (50 × 11 × 11 = 6050 nodes) and two dynamic nodes, one on each side of the first cut. A knife
goes through the middle in two strokes; the second cut frees the piece with the right node, which falls, and leaves the
right end without any: quasistatic from then on. The paper tells neither sizes nor times: these are ours.
"""

from __future__ import annotations

import bpy

from . import stage
from .grid_box import checker, grid_box

CELLS = (49, 10, 10)
EDGE = 0.01  #: [m]
LENGTH, SIDE = CELLS[0] * EDGE, CELLS[1] * EDGE
END = 84
SHEET = (1, 20, 27, 38, 39, 44, 60, 61, 62, 64, 66, 84)  #: frames of the contact sheet
FLOOR = -0.36
PULL = 0.08  #: [m], how far the right end is drawn away

STROKES = (26, 38)  #: frames at which the knife has cut half of the way, and all of it
SECOND = 60  #: frame of the second cut, along an Empty
HANDLES = (0.17, 0.31)  #: places of the dynamic nodes along X [m], at rest


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 640, 400)
    bar = grid_box(scene, "Bar", CELLS, EDGE, (0.0, -SIDE / 2, -SIDE / 2), checker)
    bar.data.materials.append(stage.surface("Light", (0.62, 0.40, 0.12), 0.4))
    bar.data.materials.append(stage.surface("Dark", (0.30, 0.15, 0.04), 0.4))
    pull(scene, bar)
    for x in HANDLES:
        handle(scene, bar, x)
    knife(scene, bar)
    second_cut(scene, bar)
    settings(bar)
    stage.backdrop(scene, 0.6, FLOOR, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-0.1, -1.0, 0.9), (0.25, 0.0, -0.05), 24.0, 0.5, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.9, 0.6, 0.5), (0.25, 0.0, -0.05), 9.0, 0.4, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.08, -1.5, 0.38), (0.28, 0.0, -0.075), 60.0)


def pull(scene: bpy.types.Scene, bar: bpy.types.Object) -> None:
    """Both end faces are held; a hook draws the right one away."""
    at_left = [1.0 if vertex.co.x < EDGE / 2 else 0.0 for vertex in bar.data.vertices]
    at_right = [1.0 if vertex.co.x > LENGTH - EDGE / 2 else 0.0 for vertex in bar.data.vertices]
    stage.paint(bar, "Right", at_right)
    stage.paint(bar, "Pin", [max(pair) for pair in zip(at_left, at_right)])
    hand = bpy.data.objects.new("Pull", None)
    hand.empty_display_type, hand.empty_display_size = "CUBE", SIDE / 2
    scene.collection.objects.link(hand)
    hook = bar.modifiers.new("Pull", "HOOK")
    hook.object, hook.vertex_group, hook.falloff_type = hand, "Right", "NONE"
    stage.key(hand, "location", {1: (0.0, 0.0, 0.0), 18: (PULL, 0.0, 0.0)})


def handle(scene: bpy.types.Scene, bar: bpy.types.Object, x: float) -> None:
    """An Empty that picks the nearest node inside as a dynamic node."""
    empty = bpy.data.objects.new("Dynamic", None)
    empty.empty_display_type, empty.empty_display_size = "SPHERE", 0.012
    empty.location = (x, 0.0, 0.0)
    scene.collection.objects.link(empty)
    bar.conjac.handles.add().object = empty


def knife(scene: bpy.types.Scene, bar: bpy.types.Object) -> None:
    """A blade, slightly slanted, that comes down in two strokes; after each it has cut as far as it reaches."""
    blade = stage.mesh_object(scene, "Knife", [(-0.02, -0.12, 0.0), (-0.02, 0.12, 0.0), (0.03, 0.12, 0.3),
                                               (0.03, -0.12, 0.3)], [(0, 1, 2, 3)])
    blade.data.materials.append(stage.surface("Steel", (0.55, 0.57, 0.60), 0.25))
    blade.hide_render = True
    middle = (LENGTH + PULL) / 2
    places = {1: 0.2, STROKES[0] - 6: 0.12, STROKES[0]: -0.03, STROKES[1] - 5: -0.03, STROKES[1]: -0.2, 48: 0.3}
    stage.key(blade, "location", {frame: (middle, 0.0, z) for frame, z in places.items()})
    for frame in STROKES:
        cut = bar.conjac.cuts.add()
        cut.frame, cut.object = frame, blade


def second_cut(scene: bpy.types.Scene, bar: bpy.types.Object) -> None:
    """The XY plane of an Empty."""
    empty = bpy.data.objects.new("Second Cut", None)
    empty.empty_display_type, empty.empty_display_size = "ARROWS", 0.08
    empty.location, empty.rotation_euler = (LENGTH + PULL - 0.10, 0.0, 0.0), (0.0, 1.35, 0.0)
    scene.collection.objects.link(empty)
    cut = bar.conjac.cuts.add()
    cut.frame, cut.object = SECOND, empty


def settings(bar: bpy.types.Object) -> None:
    """ν = 0.4 as in the paper's Table 1, and three times its E, so that a bar of this size does not sag to a rope."""
    soft = bar.conjac
    soft.enabled = True
    soft.method = "conjac"
    soft.mesher, soft.edge_length = "grid", EDGE
    soft.youngs_modulus, soft.poisson_ratio, soft.density = 3.0e4, 0.4, 1000.0
    soft.step = 1.0 / 120.0
    soft.keep_spin = True  # of the piece that falls
    soft.inside_material = stage.surface("Flesh", (0.55, 0.07, 0.05), 0.5)
