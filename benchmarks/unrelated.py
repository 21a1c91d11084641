"""Measure the cost of objects outside a bake: a jelly alone, and with fifty unrelated objects with modifiers.

    python -m benchmarks.unrelated [--objects N] [--frames N]

Both are gathered in one process, in turns, as in a window; processor time of the whole process, in which Blender
evaluates on several threads. Objects that do not move are evaluated before the clock starts.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import report

ROUNDS = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--objects", type=int, default=50)
    parser.add_argument("--frames", type=int, default=100)
    chosen = parser.parse_args()
    try:
        import bpy
    except ImportError:
        print("unrelated needs Blender's module bpy, which is not here", file=sys.stderr)
        return 4
    from examples_blend import addon

    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.load().register()
    alone, beside = [], []
    for _ in range(ROUNDS):
        alone.append(bake_seconds(bpy, 0, chosen.frames))
        beside.append(bake_seconds(bpy, chosen.objects, chosen.frames))
    report.emit("unrelated", [
        report.claim("unrelated_cost", statistics.median(beside) / statistics.median(alone), "", "<= 1.1"),
    ], {"objects": chosen.objects, "frames": chosen.frames, "alone_s": alone, "beside_s": beside})
    return 0


def bake_seconds(bpy: Any, objects: int, frames: int) -> float:
    """Processor seconds of a bake by the add-on's operator, Blender's and the worker's."""
    from conjac.conjac_addon.bake.foreground import bake_object

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    folder = Path(tempfile.mkdtemp())
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "unrelated.blend"))
    for number in range(objects):
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=20, y_subdivisions=20, location=(3.0 * number, 9.0, 0.0))
        other = bpy.context.object
        other.modifiers.new("Wave", "WAVE")
        other.modifiers.new("Subdivision", "SUBSURF").levels = 2
        other.modifiers.new("Displace", "DISPLACE")
    bpy.ops.mesh.primitive_cube_add(size=0.25, location=(0.0, 0.0, 0.3))
    jelly = bpy.context.object
    bpy.ops.conjac.add_soft_body()
    jelly.conjac.mesher, jelly.conjac.edge_length = "grid", 0.0625
    bpy.context.view_layer.update()
    before = sum(os.times()[:4])
    code = bake_object(jelly, True, lambda *_: None)
    seconds = sum(os.times()[:4]) - before
    shutil.rmtree(folder)
    if code:
        raise RuntimeError(f"the bake ended with exit code {code}")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
