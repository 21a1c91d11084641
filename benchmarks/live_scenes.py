"""Measure frames per second of larger scenes in Play Live, through the add-on with its defaults.

    python -m benchmarks.live_scenes

A ragdoll that is released on stairs, KLANN's legs, the two scenes of the gallery without *Sharp Edges* that bake
slowest, and a cloth of 64 × 64 cells that falls on a ball. Each plays for SECONDS of the clock from its first frame on.
A frame counts when the add-on has shown it; the window displays a pace below 1 as ×0.6, and a scene of the gallery that
does not reach its frames must show it. A scene that has not started within LIMIT seconds has no result.

Blender's cloth moves the same sheet in the same run: its modifier without self-collision, which is its default, and its
node cloth if CONJAC_BPY53 names a Python that has it, as in `peers_cloth`. Compared are simulated seconds of the same
fall per second of the clock, without the first frame: our longest step is a frame of the scene, a twenty-fourth of a
second, and so is theirs. Play Live waits for the clock and is never faster than 1, so ours is stepped as the window's
worker does, without waiting, before and after theirs. Rapier's soft bodies are in `peers`.

Limits: soft bodies in contact with cloth, ropes or mechanisms are moved by the bake's own solver, which solves the
contact potential to its minimum. Cloth alone is moved by projective dynamics, with self-collision, which the node cloth
does not have. A fifth of a step goes into measuring elements, a fifth into planes of colliders, a seventh into solves,
a seventh into the factor (some 1,200 diagonals change in a step, too many to update it), a tenth into self-contact.
Tried: starting from the last acceleration and a stopping tolerance, which changed nothing, as eight iterations leave
larger errors; and two threads, as kernels are too short to wake one. Mechanisms are limited by their step, a
seventy-second of a second at most, and in contact by its cost.
"""

from __future__ import annotations

import contextlib
import importlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report

EXAMPLES = Path(__file__).resolve().parents[1] / "examples_blend"
SECONDS = 6.0
LIMIT = 75.0  #: seconds in which the first frame has to come
CELLS = 64
FRAMES, FPS = 40, 24.0  #: of Blender's cloth
MASS, RADIUS = 0.8, 0.002  #: of the sheet [kg], distance at which node cloth collides [m]
STEPS = 15  #: constraint steps of node cloth, its default
WORST = ("tumble", "ducks")  #: of the gallery, by seconds a frame in `contact_scenes`


def main() -> int:
    """Plays them and prints the JSON line."""
    from examples_blend import addon

    extension = addon.load()
    extension.register()
    with contextlib.redirect_stdout(sys.stderr):
        found = {name: played(opened(name)) for name in ("ragdoll", "klann", *WORST)}
        cloth = found["cloth"] = played(draped)
        ours = [stepped_cloth()]
        theirs = {"modifier": blenders_cloth()} | node_cloth()
        ours.append(stepped_cloth())
        cloth |= {f"{name} pace": pace for name, pace in theirs.items()} | {"stepped paces": ours}
    report.emit("live_scenes", [
        *(report.claim(name, found[name]["frames"], "a second", ">= 60") for name in ("ragdoll", "klann")),
        *(report.claim(name, found[name]["frames"], "a second", ">= 24") for name in WORST),
        *(report.claim(f"{name}_says_so", float(found[name]["frames"] >= 24.0 or "×" in found[name]["says"]),
                       "of slower time", ">= 1") for name in WORST),
        *(report.claim(f"cloth_{name}", sum(ours) / len(ours) / pace, f"times Blender's {name}", ">= 1")
          for name, pace in theirs.items()),
    ], found)
    extension.unregister()
    return 0


def opened(name: str) -> Callable[[], Any]:
    """Return a function that opens an example and returns the object that is played."""
    def make() -> Any:
        import bpy

        members: Any = importlib.import_module("conjac.conjac_addon.members")
        bpy.ops.wm.open_mainfile(filepath=str(EXAMPLES / f"{name}.blend"))
        objects = bpy.context.scene.objects
        return next((one for one in objects if members.is_mechanism(one)),
                    next(iter(one for one in objects if members.is_soft_body(one)), None))
    return make


def draped() -> Any:
    """A cloth above a ball, both added by the operators."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5, location=(0.0, 0.0, 0.5))
    bpy.ops.conjac.add_collider()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=CELLS, y_subdivisions=CELLS, size=2.0, location=(0.0, 0.0, 1.1))
    bpy.ops.conjac.add_cloth()
    return bpy.context.object


def played(make: Callable[[], Any]) -> dict[str, Any]:
    """Frames a second that were shown, simulated seconds in one, and what the window said of it."""
    import bpy

    session: Any = importlib.import_module("conjac.conjac_addon.live.session")
    one = session.Played(make(), bpy.context.scene)
    requested, came, times, last = time.monotonic(), [], [], None
    while not came or time.monotonic() - came[0] < SECONDS:
        if not one.tick():
            return {"frames": 0.0, "pace": 0.0, "says": one.ended}
        if one.frame is not None and one.frame is not last:
            last = one.frame
            bpy.context.view_layer.update()
            came.append(time.monotonic())
            times.append(float(last["time"]))
        elif not came and time.monotonic() - requested > LIMIT:
            break
        time.sleep(5e-4)
    says = one.sentence()
    one.stop()
    if last is None:
        return {"frames": 0.0, "pace": 0.0, "says": says}
    passed = time.monotonic() - came[0]
    return {"frames": (len(came) - 1) / passed, "pace": (times[-1] - times[0]) / passed, "begins": came[0] - requested,
            "step_ms": 1e3 * float(last["step"]), "cost": float(last["cost"]), "says": says}


def stepped_cloth() -> float:
    """Seconds that the sheet's longest steps simulate in one, on as many threads as the window's worker has."""
    import bpy

    jobs, bumps, prefs = (importlib.import_module(f"conjac.conjac_addon.{name}")
                          for name in ("live.job", "live.bumps", "prefs"))
    cloth = draped()
    with tempfile.TemporaryDirectory(prefix="conjac-live-scenes-") as folder:
        for _ in jobs.read(cloth, bpy.context.scene, Path(folder), []):
            pass
        bumps.Bumps(cloth, bpy.context.scene, Path(folder), 1.0)
        ran = subprocess.run([sys.executable, "-c", FALL, folder, str(prefs.threads() or 1), str(FRAMES)],
                             cwd=Path(__file__).resolve().parents[1], capture_output=True, text=True, check=True)
    return FRAMES / FPS / float(ran.stdout)


#: seconds of the clock that so many of the longest steps after the first one take of what is played, its colliders at
#: rest
FALL = """
import sys, time
from pathlib import Path
from solver import threads
threads.configure(int(sys.argv[2]))
import numpy as np
from solver.job.load import load
from solver.live.bumps import Bump, shapes_of
from solver.live.engines.interface import Inputs
from solver.live.run import engine_of
folder = Path(sys.argv[1])
engine = engine_of("", folder, lambda *words: None)
bumps = tuple(Bump(shape, np.eye(4), k) for k, shape in enumerate(shapes_of(folder)))
inputs, longest = Inputs(np.array(load(folder).scene.gravity, float), bumps=bumps), len(engine.efforts) - 1
engine.step(longest, inputs)
began = time.perf_counter()
for _ in range(int(sys.argv[3])):
    engine.step(longest, inputs)
    engine.positions
print(time.perf_counter() - began)
"""


def blenders_cloth() -> float:
    """Seconds that the cloth modifier of the Blender that runs this simulates in one, on the same scene."""
    import bpy

    cloth = draped()
    bpy.ops.conjac.remove()
    ball = next(one for one in bpy.context.scene.objects if one is not cloth)
    ball.modifiers.new("Collision", "COLLISION")
    cloth.modifiers.new("Cloth", "CLOTH")
    scene = bpy.context.scene
    scene.frame_set(1)
    began = time.monotonic()
    for frame in range(2, FRAMES + 2):
        scene.frame_set(frame)
    return FRAMES / FPS / (time.monotonic() - began)


def node_cloth() -> dict[str, float]:
    """Seconds that Blender's node cloth simulates in one, on the same scene; nothing where no Python has it."""
    import bpy

    from benchmarks import peers_cloth

    if not peers_cloth.python().exists():
        return {}
    cloth = draped()
    ball = next(one for one in bpy.context.scene.objects if one is not cloth)
    given = {}
    for obj, names in ((cloth, ("vertices", "triangles")), (ball, ("box", "sides"))):
        mesh = obj.data
        mesh.calc_loop_triangles()
        given[names[0]] = np.array([obj.matrix_world @ one.co for one in mesh.vertices])
        given[names[1]] = np.array([one.vertices for one in mesh.loop_triangles])
    with tempfile.TemporaryDirectory(prefix="conjac-live-scenes-") as folder:
        found = peers_cloth.answer(Path(folder), STEPS, frames=FRAMES + 1, mass=MASS, radius=RADIUS, **given)
    return {} if found is None else {"nodes": FRAMES / FPS / (1e-3 * float(found["wall_ms"][1:].sum()))}


if __name__ == "__main__":
    sys.exit(main())
