"""Measure how much the bounce of a new body depends on the drop height and on the time step.

    python -m benchmarks.landings cube

The mesh of a part is made a soft body by the add-on's operator, raised to eight heights, and baked by its operator,
with default settings; "grid" has the mesher *Grid* with four cells a side as well. It lands on the ground, on an
obstacle there, or on a body of its kind that lies on the ground. The bounce is the height that its centre regains
within twelve frames after its lowest position, relative to its fall.

`bounce_spread`: the largest bounce minus the smallest, relative to the mean. `bounce_mean`: the deviation of the mean
from that of some of the heights in steps of 1/768 s. `bounce_off_own_truth`: the largest deviation of the bounce from
one of those heights from that in steps of 1/768 s from the same height. A body that tips over while it lands has
different bounces from different heights, and only this measure separates these from artefacts of the step.

Steps are cut where a body lands on the ground, or on a static object. Where two bodies meet they are not: two grid
cubes that meet in flight part with equal speed within .03 wherever in a step they meet, with .61 of their speed in
steps of 1/48 s and .69 in steps of 1/384 s (`tests/scenes/test_landings.py`).

A body that lies on the ground and is pushed by another one counts as landing too. Cubes of three cells an edge that
land on a lying one regain .532 of their fall in steps of 1/768 s, and at 1/48 s, from three heights, .541 to .555.
Without that rule they regain .565 to .589, if it excludes bodies that others push at both ends of a step .567 to .593,
and if these may change their velocities by three times as much .551 to .567.

Suzanne misses `bounce_spread`, and not because of the step: she tips over while she lands, and from 55 cm on bounces
off another side. In steps of 1/768 s too she regains .40 of her fall from one of these heights and .22 from the other,
as in whole steps (.40 and .21), so `bounce_off_own_truth` meets its goal, at other heights too
(`tests/addon/test_bounces.py`). Cutting steps changes her bounces by .001: it resolves a flat side that touches all at
once.

The L-shaped bar is at its goal, on either side of it depending on the viscosity of sliding bodies
(`solver/world/sliding_damping.py`): it lands on one foot and slides while it tips.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from benchmarks.half_life_band import Surface, block, boxes, lathed
from benchmarks.report import claim, emit
from examples_blend import addon

HEIGHTS = [0.505 + 0.0125 * k for k in range(8)]  #: of its lowest point above what it lands on [m]
KNOWN = HEIGHTS[1], HEIGHTS[5]  #: of which bounces in small steps are known
FRAMES, AFTER, TRUE = 24, 12, 1 / 768
EDGE = 0.4  #: edge of the obstacle [m]


def cube() -> Surface:
    return boxes(block(5, 5, 5), 0.06)


def ball() -> Surface:
    turns = np.pi * np.arange(0.5, 12) / 12
    return lathed([(0.15 * np.sin(t), -0.15 * np.cos(t)) for t in turns], 24, False)


def ring() -> Surface:
    return lathed([(0.2 + 0.07 * np.cos(t), 0.07 * np.sin(t)) for t in 2.0 * np.pi * np.arange(12) / 12], 24, True)


def ell() -> Surface:
    return boxes([*{*block(6, 2, 2), *block(2, 2, 5)}], 0.06)


def suzanne() -> Surface:
    bpy.ops.mesh.primitive_monkey_add(size=0.4)
    mesh = bpy.context.object.data
    surface = [tuple(v.co) for v in mesh.vertices], [tuple(p.vertices) for p in mesh.polygons]
    bpy.data.objects.remove(bpy.context.object)
    return surface


#: the mesh, its mesher where it is another than a new body's, and what it lands on
SHAPES: dict[str, tuple[Callable[[], Surface], dict[str, Any], str]] = {
    "cube": (cube, {}, "ground"), "ball": (ball, {}, "ground"), "torus": (ring, {}, "ground"),
    "suzanne": (suzanne, {}, "ground"), "ell": (ell, {}, "ground"), "obstacle": (cube, {}, "obstacle"),
    "meeting": (cube, {}, "body"), "grid": (cube, {"mesher": "grid", "edge_length": 0.075}, "ground"),
}


def added(name: str, surface: Surface, lowest: float) -> bpy.types.Object:
    """Add a mesh as the active object and return it. lowest: height of its lowest point [m]."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(surface[0], [], surface[1])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location.z = lowest - min(point[2] for point in surface[0])
    for one in bpy.context.scene.objects:
        one.select_set(one == obj)
    bpy.context.view_layer.objects.active = obj
    bpy.context.view_layer.update()
    return obj


def bounce(name: str, height: float, folder: Path, step: float | None = None) -> float:
    """Return the height of a bounce relative to the fall. Raises RuntimeError where the scene is not baked.

    name: key of SHAPES. height: of the drop [m]. step: [s]; that of a new body where left out.
    """
    make, settings, below = SHAPES[name]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, 24
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}_{height:.4f}_{step or 0:.5f}.blend"))
    surface, top = make(), 0.0
    if below == "obstacle":
        added("Box", boxes([(0, 0, 0)], EDGE), 0.0).location = -0.05, -0.05, 0.0
        bpy.ops.conjac.add_collider()
        top = EDGE
    elif below == "body":
        lying = added("Lying", surface, 0.0)
        bpy.ops.conjac.add_soft_body()
        top = float(np.ptp([point[2] for point in surface[0]]))
        if step:
            lying.conjac.step = step
    obj = added(name, surface, top + height)
    bpy.ops.conjac.add_soft_body()
    for key, value in settings.items():
        setattr(obj.conjac, key, value)
    if step:
        obj.conjac.step = step
    with quiet():
        if bpy.ops.conjac.bake() != {"FINISHED"}:
            raise RuntimeError(f"{name} from {height} m is not baked")
    middles = np.array([middle(obj, frame) for frame in range(1, FRAMES + 1)])
    ways = np.diff(middles)
    lowest = int(np.argmax((ways[:-1] < 0) & (ways[1:] > 0))) + 1
    return float((middles[lowest:lowest + AFTER].max() - (middles[0] - height)) / height)


def middle(obj: bpy.types.Object, frame: int) -> float:
    """Return the mean height of an object's vertices at a frame, in world space [m]."""
    bpy.context.scene.frame_set(frame)
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    positions = np.empty(3 * len(shown.data.vertices), np.float32)
    shown.data.vertices.foreach_get("co", positions)
    return float((positions.reshape(-1, 3).mean(axis=0, dtype=float) @ np.array(shown.matrix_world)[:3, :3].T)[2]
                 + shown.matrix_world[2][3])


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Return a context that suppresses the output of a bake on standard output, where the result is printed."""
    sys.stdout.flush()
    out, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(out, 1)
        os.close(out)
        os.close(nowhere)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=SHAPES)
    name = parser.parse_args().part
    addon.load().register()
    with tempfile.TemporaryDirectory(prefix="conjac-landings-") as folder:
        found = [bounce(name, height, Path(folder)) for height in HEIGHTS]
        known = [bounce(name, height, Path(folder), TRUE) for height in KNOWN]
    mean = float(np.mean(found))
    off = max(abs(found[HEIGHTS.index(height)] / truth - 1.0) for height, truth in zip(KNOWN, known))
    emit(f"landings.{name}", [
        claim("bounce_spread", (max(found) - min(found)) / mean, "of the mean", "<= 0.1"),
        claim("bounce_mean", abs(mean / float(np.mean(known)) - 1.0), "of small steps'", "<= 0.05"),
        claim("bounce_off_own_truth", off, "of small steps' from the same height", "<= 0.1"),
    ], {"bounces": np.round(found, 3).tolist(), "in small steps": np.round(known, 3).tolist()})


if __name__ == "__main__":
    main()
