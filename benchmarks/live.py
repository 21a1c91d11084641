"""Measure cost and pace of a body in Play Live, through the add-on with its defaults.

    python -m benchmarks.live

Suzanne, subdivided to 31,000 vertices, falls onto the ground and is pulled at an ear. A redraw is the add-on's work for
a new frame: it reads the shared memory, transforms the positions to the object, writes them where the modifier reads
them, and tags the object. Blender's own evaluation is given separately. A step is given in processor time.
"""

from __future__ import annotations

import contextlib
import importlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report

SECONDS = 12.0
VERTICES = 20_000  #: that a redraw is told for


def main() -> int:
    """Plays it and prints the JSON line."""
    from examples_blend import addon

    extension = addon.load()
    extension.register()
    with contextlib.redirect_stdout(sys.stderr):
        measured = played()
    redraw = 1e3 * measured["redraw"] * VERTICES / measured["vertices"]
    report.emit("live", [
        report.claim("redraw", redraw, "ms", "<= 4"),
        report.claim("step", 1e3 * measured["step"], "ms", "<= 16"),
        report.claim("frames", measured["frames"], "a second", ">= 30"),
        report.claim("begins", measured["begins"], "s", "<= 15"),
    ], measured)
    extension.unregister()
    return 0


def played() -> dict[str, Any]:
    """Medians [s], frames a second that came, seconds from adding her to her first frame, how fast time passed."""
    import bpy

    session: Any = importlib.import_module("conjac.conjac_addon.live.session")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    began = time.perf_counter()
    bpy.ops.mesh.primitive_monkey_add(location=(0.0, 0.0, 1.5))
    suzanne = bpy.context.object
    divide = suzanne.modifiers.new("Divide", "SUBSURF")
    divide.levels = 3
    bpy.ops.object.modifier_apply(modifier="Divide")
    bpy.ops.conjac.add_soft_body()
    one = session.Played(suzanne, bpy.context.scene)
    draws, evaluations, came, efforts, last, begins, grab = [], [], [], [0, 0, 0], None, 0.0, 0
    while not came or came[-1] - came[0] < SECONDS:
        before, frame = time.perf_counter(), one.frame
        if not one.tick():
            raise RuntimeError(one.ended)
        after = time.perf_counter()
        if one.frame is not None and one.frame is not frame:
            bpy.context.view_layer.update()
            draws.append(after - before)
            evaluations.append(time.perf_counter() - after)
            came.append(time.perf_counter())
            begins, last = begins or came[0] - began, one.frame
            efforts[int(last["effort"])] += 1
            if len(came) == 60:
                ear = np.array([1.3, 0.0, 1.7])
                grab = one.take(ear)
                one.pull(grab, ear + [0.6, 0.0, 0.3])
        time.sleep(1e-3)
    frames = (len(came) - 1) / (came[-1] - came[0])
    simulated = float(last["time"])
    one.stop()
    return {"vertices": len(suzanne.data.vertices), "redraw": float(np.median(draws)),
            "evaluation": float(np.median(evaluations)), "frames": frames, "begins": begins,
            "pace": simulated / (came[-1] - came[0]), "frames_by_effort": efforts, "step": step_time()}


def step_time() -> float:
    """Processor time of a step with one iteration [s], the median, of Suzanne in her cells on the ground."""
    import bpy

    jobs: Any = importlib.import_module("conjac.conjac_addon.live.job")
    with tempfile.TemporaryDirectory() as folder:
        for _ in jobs.read(bpy.context.object, bpy.context.scene, Path(folder), []):
            pass
        ran = subprocess.run([sys.executable, "-c", STEPS, folder], cwd=Path(__file__).resolve().parents[1],
                             capture_output=True, text=True, check=True)
    return float(ran.stdout)


#: in a process as the worker is one: BLAS on one thread
STEPS = """
import sys, time
from pathlib import Path
from solver import threads
threads.configure(1)
import numpy as np
from solver.live.engines.interface import Inputs
from solver.live.run import engine_of
engine = engine_of("modes", Path(sys.argv[1]), lambda *words: None)
inputs, times = Inputs(np.array([0.0, 0.0, -9.81])), []
for _ in range(180):
    began = time.process_time()
    engine.step(1, inputs)
    engine.positions
    times.append(time.process_time() - began)
print(float(np.median(times)))
"""


if __name__ == "__main__":
    sys.exit(main())
