"""Measure the overhead of a bake over the solver's steps: 250 frames of the dragon by the command-line handler.

    python -m benchmarks.bake_overhead

A fresh process imports bpy, opens the .blend, calls the handler and ends; a clock in the worker tells when the first
step began and how long all steps took. Everything else is overhead: reading the scene, starting the worker, loading
tetrahedra and compiled kernels, writing frames and the file that plays them. Warm: tetrahedra and kernels are there.
One step a frame, so that the steps do not hide it. Needs the dragon (benchmarks/meshes.py).
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import meshes, report

ROOT = Path(__file__).resolve().parent.parent
DRAGON = "surfaces/dragon.obj"
WORK = ROOT / "build" / "bake_overhead"
FRAMES = 250
LENGTH = 0.15  #: [m]
FPS = 96  #: frames as close as the steps
EDGE_LENGTH = 0.0040  #: [m], about ten thousand nodes
STARTS = 3  #: runs whose time to the first step is taken; the median counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--prepare", type=Path, metavar="BLEND", help="(used by itself) make the .blend")
    parser.add_argument("--bake", type=Path, nargs=argparse.REMAINDER, help="(used by itself) .blend and arguments")
    chosen = parser.parse_args()
    if chosen.prepare:
        return prepare(chosen.prepare)
    if chosen.bake:
        return bake(chosen.bake[0], [str(word) for word in chosen.bake[1:]])
    if not meshes.is_there(DRAGON):
        return 4
    measure()
    return 0


def measure() -> None:
    """Runs the bakes and prints the JSON line."""
    WORK.mkdir(parents=True, exist_ok=True)  # tetrahedra of an earlier run are used again
    blend = WORK / "dragon.blend"
    run("--prepare", str(blend))
    run("--bake", str(blend), "--frames", "1-2")  # makes the tetrahedra and compiles the kernels

    whole = timed_bake(blend)
    starts = [whole] + [timed_bake(blend, "--frames", "1-2") for _ in range(STARTS - 1)]
    first = [one["first_step_s"] for one in starts]
    report.emit("bake_overhead", [
        report.claim("first_step_s", statistics.median(first), "s", "<= 3"),
        report.claim("per_frame_ms", whole["overhead_s"] / FRAMES * 1e3, "ms", "<= 15"),
    ], {"frames": FRAMES, "steps_per_frame": 1, "first_step_s": first, "stepping_s": whole["stepping_s"],
        "total_s": whole["total_s"], "vertices": whole["vertices"], "format": "pc2"})


def timed_bake(blend: Path, *arguments: str) -> dict[str, Any]:
    """One bake in a fresh process, from nothing but the tetrahedra [s]."""
    for cache in WORK.glob("conjac_cache/*/cache"):
        shutil.rmtree(cache)
    times = WORK / "times.json"
    times.unlink(missing_ok=True)
    began = time.time()
    output = run("--bake", str(blend), *arguments, times=times)
    total = time.time() - began
    steps = json.loads(times.read_text(encoding="utf-8"))
    first = steps["first"] - began
    return {"first_step_s": first, "stepping_s": steps["seconds"], "total_s": total,
            "overhead_s": total - first - steps["seconds"], "vertices": int(output.rpartition("VERTICES ")[2])}


def run(*arguments: str, times: Path | None = None) -> str:
    """This script in a fresh process; what it printed. Raises CalledProcessError."""
    env = os.environ | {"CONJAC_STEP_TIMES": str(times or os.devnull)}
    ran = subprocess.run([sys.executable, "-m", "benchmarks.bake_overhead", *arguments], cwd=ROOT, env=env,
                         stdout=subprocess.PIPE, text=True)
    if ran.returncode:
        print(ran.stdout[-3000:], file=sys.stderr)
        ran.check_returncode()
    return ran.stdout.strip()


def bake(blend: Path, arguments: list[str]) -> int:
    """In the fresh process: what `blender -b BLEND -c conjac bake ...` does, with the clock in the worker."""
    import bpy

    from examples_blend import addon

    extension = addon.load()
    extension.register()
    session: Any = importlib.import_module("conjac.conjac_addon.bake.session")
    assert session.SOLVER == "solver"  # a module that waits for its first use runs now, and says its own name no more
    session.SOLVER = "benchmarks.timed_solver"
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    code: int = importlib.import_module("conjac.conjac_addon.bake.cli").run(["bake", "--format", "pc2", *arguments])
    print("VERTICES", len(bpy.data.objects["Dragon"].data.vertices), flush=True)
    extension.unregister()
    return code


def prepare(blend: Path) -> int:
    """In a process of its own: the dragon, 15 cm long, pinned at its feet, with four dynamic nodes."""
    import bpy
    import numpy as np

    from examples_blend import addon, stage

    extension = addon.load()
    extension.register()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.obj_import(filepath=str(meshes.find(DRAGON)))
    body = bpy.context.selected_objects[0]
    body.name = "Dragon"
    flat = np.empty(3 * len(body.data.vertices), np.float32)
    body.data.vertices.foreach_get("co", flat)
    points = flat.reshape(-1, 3) @ np.array(body.matrix_world.to_3x3(), np.float32).T
    points *= LENGTH / np.ptp(points, axis=0).max()
    body.matrix_world.identity()
    body.data.vertices.foreach_set("co", points.astype(np.float32).ravel())
    body.data.update()

    low, high = points[:, 2].min(), points[:, 2].max()
    stage.paint(body, "Pin", (points[:, 2] < low + 0.08 * (high - low)).astype(float).tolist())
    tips = [points[:, 0].argmin(), points[:, 0].argmax(), points[:, 2].argmax(), points[:, 1].argmax()]
    near = [np.linalg.norm(points - points[tip], axis=1) < 0.006 for tip in tips]
    stage.paint(body, "Dynamic", np.any(near, axis=0).astype(float).tolist())

    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, FPS
    soft = body.conjac
    soft.enabled, soft.step, soft.beta = True, 1.0 / FPS, 1.0
    soft.youngs_modulus, soft.poisson_ratio, soft.edge_length = 3.0e4, 0.45, EDGE_LENGTH
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    extension.unregister()
    return 0


if __name__ == "__main__":
    sys.exit(main())
