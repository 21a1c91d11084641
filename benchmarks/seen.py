"""Measure the penetration of bodies into what they land on, as Blender draws it, and its cost, with default settings.

    python -m benchmarks.seen

A ball of 40 cm, of 162, 642 and 2,562 vertices, lands on the edge of a box that stands on its edge, and one of 162 on a
tilted block. Edges and vertices of each mesh are tested in every frame of a second. Times of the same bakes with
contact of tetrahedra, the earlier default of a new body, are given as well.

The ball of 2,562 vertices has a mesh finer than its tetrahedra and collides by fewer faces around it (*Simplify*), as
new bodies do. `seen_price` compares whole bakes. It was 1.13 while new balls of this size had edges of 35 mm; they have
53 mm now, and for 24 frames with 642 vertices, which took 9.4 s of processor time by tetrahedra and 11.3 s by the mesh,
5.1 s and 7.7 s remain: both are cheaper, and as many faces of the mesh touch as before. Transferring positions to
vertices and forces back by kernels took that ball from 1.52 to between 1.32 and 1.37. The rest is the search for more
pairs, and factors: a vertex acts on four nodes, so that pairs join nodes without a common tetrahedron and need new
patterns, which faces of tetrahedra on a static collider do not. Fewer faces (half a hundredth instead of three
thousandths) cost as much and stand out farther; more (two thousandths) left 3.1 thousandths of depth.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.drawn import chosen, positions

FRAMES = 24
SIZE = 0.4  #: of the ball [m]
STEPS = 40  #: places on each edge
LANDINGS = {"edge 162": (3, 45.0, 0.0), "edge 642": (4, 45.0, 0.0), "edge 2562": (5, 45.0, 0.0),
            "tilted 162": (3, 15.0, 10.0)}


def main() -> int:
    """Bakes the landings both ways and prints the JSON line."""
    from examples_blend import addon

    extension = addon.load()
    extension.register()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        landed(Path(folder) / "first", *LANDINGS["edge 162"], True)  # loads what later ones need
        found = {name: [landed(Path(folder) / f"{name} {given}", *how, given) for given in (True, False)]
                 for name, how in LANDINGS.items()}
    depths = {name: [one[0] for one in both] for name, both in found.items()}
    ratios = {name: both[0][1] / both[1][1] for name, both in found.items()}
    report.emit("seen", [
        report.claim("seen_depth", max(both[0] for both in depths.values()), "per mille of the size", "<= 1"),
        report.claim("seen_depth_as_fine", max(depths[name][0] for name in depths if "2562" not in name),
                     "per mille of the size", "<= 1"),
        report.claim("seen_price", max(ratios.values()), "times", "<= 1.15"),
    ], {"frames": FRAMES, "per mille": {name: both[0] for name, both in depths.items()},
        "per mille by tetrahedra": {name: both[1] for name, both in depths.items()}, "times": ratios})
    extension.unregister()
    return 0


def landed(folder: Path, fineness: int, turn: float, lean: float, by_default: bool) -> tuple[float, float]:
    """How deep either mesh is seen in the other at most [per mille of the ball's size], and the bake's time [s]."""
    import bpy

    folder.mkdir()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, 24
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    turned = (math.radians(lean), math.radians(turn), 0)
    bpy.ops.mesh.primitive_cube_add(size=0.6, location=(0, 0, 0.3), rotation=turned)
    box = bpy.context.object
    bpy.ops.conjac.add_collider()
    top = float(positions(box, 1)[:, 2].max())
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=fineness, radius=SIZE / 2, location=(0.005, 0, top + 0.25))
    ball = bpy.context.object
    chosen(ball)
    bpy.ops.conjac.add_soft_body()
    if not by_default:
        ball.conjac.contact.by_mesh = False
    session: Any = importlib.import_module("conjac.conjac_addon.bake.foreground")
    began = time.perf_counter()
    if session.bake_object(ball, True, lambda *words: None):
        raise RuntimeError(f"{folder.name} was not baked")
    spent = time.perf_counter() - began
    return 1e3 / SIZE * max(depth(ball, box, frame) for frame in range(2, FRAMES + 1)), spent


def depth(one: Any, other: Any, frame: int) -> float:
    """How far the edges of either mesh stand in the other at a frame [m]."""
    x, y = positions(one, frame), positions(other, frame)
    return max(inside(x, one.data, y, other.data), inside(y, other.data, x, one.data))


def inside(x: np.ndarray, mesh: Any, around: np.ndarray, solid: Any) -> float:
    """How far points of the edges of a mesh are inside of a closed one, by its triangles [m]. x, around: where vertices
    are drawn."""
    from mathutils import Vector
    from mathutils.bvhtree import BVHTree

    ends = np.array([edge.vertices[:] for edge in mesh.edges])
    fraction = np.linspace(0.0, 1.0, STEPS + 1)[:, None, None]
    points = ((1.0 - fraction) * x[ends[:, 0]] + fraction * x[ends[:, 1]]).reshape(-1, 3)
    low, high = around.min(axis=0), around.max(axis=0)
    solid.calc_loop_triangles()
    tree = BVHTree.FromPolygons(around.tolist(), [each.vertices[:] for each in solid.loop_triangles])
    deepest = 0.0
    for point in points[((points > low) & (points < high)).all(axis=1)]:
        at, normal, _, _ = tree.find_nearest(Vector(point))
        deepest = max(deepest, (at - Vector(point)).dot(normal))
    return deepest


if __name__ == "__main__":
    sys.exit(main())
