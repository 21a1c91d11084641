"""How many frames a second come where larger scenes are played live, through the add-on with every default on.

    python -m benchmarks.live_scenes

A ragdoll that is let go on stairs, KLANN's legs, the two scenes of the gallery without *Sharp Edges* that bake slowest,
and a cloth of 64 × 64 cells that falls on a ball. Each is played for SECONDS of the clock from its first frame on. A
frame counts when the add-on has shown it; a pace below 1 is what the window says as ×0.6. Blender's own cloth modifier
moves the same cloth in the same run, without self-collision, which is its default.

What limits them: soft bodies that touch cloth, ropes or mechanisms are moved by the bake's own solver, whose contact
potential is solved to its end; the gallery's two slowest take seconds a frame so, and the window says how much slower
time runs. Cloth by itself is moved by projective dynamics. Mechanisms are bounded by their step, which is a sixtieth of
a second at most.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import report

EXAMPLES = Path(__file__).resolve().parents[1] / "examples_blend"
SECONDS = 6.0
LIMIT = 240.0  #: seconds in which the first frame has to come
CELLS = 64
FRAMES = 40  #: of Blender's cloth
WORST = ("tumble", "ducks")  #: of the gallery, by seconds a frame in `contact_scenes`


def main() -> int:
    """Plays them and prints the JSON line."""
    from examples_blend import addon

    extension = addon.load()
    extension.register()
    with contextlib.redirect_stdout(sys.stderr):
        found = {name: played(opened(name)) for name in ("ragdoll", "klann", *WORST)}
        found["cloth"] = played(draped)
        found["cloth"]["blender"] = blenders_cloth()
    report.emit("live_scenes", [
        *(report.claim(name, found[name]["frames"], "a second", ">= 60") for name in ("ragdoll", "klann")),
        *(report.claim(name, found[name]["frames"], "a second", ">= 24") for name in WORST),
        report.claim("cloth", found["cloth"]["frames"] / found["cloth"]["blender"], "of Blender's cloth", ">= 1"),
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


def played(make: Callable[[], Any]) -> dict[str, float]:
    """Frames a second that were shown, simulated seconds in one, and what the slowest of them was saved on."""
    import bpy

    session: Any = importlib.import_module("conjac.conjac_addon.live.session")
    one = session.Played(make(), bpy.context.scene)
    asked, came, times, last = time.monotonic(), [], [], None
    while not came or came[-1] - came[0] < SECONDS:
        if not one.tick():
            raise RuntimeError(one.ended)
        if one.frame is not None and one.frame is not last:
            last = one.frame
            bpy.context.view_layer.update()
            came.append(time.monotonic())
            times.append(float(last["time"]))
        elif time.monotonic() - asked > LIMIT:
            raise RuntimeError(one.sentence())
        time.sleep(5e-4)
    one.stop()
    passed = came[-1] - came[0]
    return {"frames": (len(came) - 1) / passed, "pace": (times[-1] - times[0]) / passed, "begins": came[0] - asked,
            "step_ms": 1e3 * float(last["step"]), "cost": float(last["cost"])}


def blenders_cloth() -> float:
    """Frames a second of the cloth modifier of the Blender that runs this, on the same scene."""
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
    return FRAMES / (time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main())
