"""Measure how far bodies are drawn below the ground on which they land, through the add-on with its defaults.

    python -m benchmarks.on_ground shapes|smooth|bunny|dragon

Shapes of 40 cm, a smooth monkey, and the scanned bunny or dragon at that size fall by 25 cm onto the ground of a new
body. Every frame of a second counts. The height of the lowest vertex above the ground in the last frame is given as
well. Meshes that take minutes are separate parts, so that each has a row as soon as it is measured.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import meshes, report
from benchmarks.drawn import chosen, positions

FRAMES = 24
SIZE, HEIGHT = 0.4, 0.25  #: of the largest extent, and of the way down [m]


def main(part: str) -> int:
    """Bake the shapes of a part and print the JSON line."""
    from examples_blend import addon

    extension = addon.load()
    extension.register()
    below, above = {}, {}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        for name, make in SHAPES[part].items():
            heights = lowest(Path(folder) / name, make)
            below[name], above[name] = -1e3 / SIZE * min(0.0, *heights), 1e3 / SIZE * heights[-1]
            print(name, below[name], above[name], file=sys.stderr)
    report.emit(f"on_ground.{part}", [
        report.claim("ground_depth", max(below.values()), "per mille of the size", "<= 1"),
    ], {"frames": FRAMES, "below per mille": below, "last frame per mille": above})
    extension.unregister()
    return 0


def lowest(folder: Path, make: Callable[[], None]) -> list[float]:
    """How high the lowest vertex is drawn above the ground in each frame [m]."""
    import bpy

    folder.mkdir()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, 24
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    make()
    body = bpy.context.object
    body.scale = [SIZE / max(body.dimensions)] * 3
    chosen(body)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    low = float(positions(body, 1)[:, 2].min())
    body.location.z += HEIGHT - low
    bpy.context.view_layer.update()
    bpy.ops.conjac.add_soft_body()
    session: Any = importlib.import_module("conjac.conjac_addon.bake.foreground")
    if session.bake_object(body, True, lambda *words: None):
        raise RuntimeError(f"{folder.name} was not baked")
    job = next(folder.rglob("scene.json"))
    ground = json.loads(job.read_text())["ground"]
    at, up = np.array(ground["point"]), np.array(ground["normal"])
    return [float(((positions(body, frame) - at) @ up).min()) for frame in range(1, FRAMES + 1)]


def _added(name: str, **how: Any) -> Callable[[], None]:
    def make() -> None:
        import bpy

        getattr(bpy.ops.mesh, f"primitive_{name}_add")(**how)

    return make


def _smooth_monkey() -> None:
    import bpy

    bpy.ops.mesh.primitive_monkey_add()
    smooth = bpy.context.object.modifiers.new("Smooth", "SUBSURF")
    smooth.levels = 2
    bpy.ops.object.modifier_apply(modifier=smooth.name)


def _scan(name: str) -> Callable[[], None]:
    def make() -> None:
        import bpy

        bpy.ops.wm.obj_import(filepath=str(meshes.find(name)), forward_axis="Y", up_axis="Z")
        bpy.context.view_layer.objects.active = bpy.context.selected_objects[0]

    return make


SHAPES: dict[str, dict[str, Callable[[], None]]] = {
    "shapes": {"ball of 162": _added("ico_sphere", subdivisions=3), "ball of 642": _added("ico_sphere", subdivisions=4),
               "ball of 2562": _added("ico_sphere", subdivisions=5),
               "cone": _added("cone", vertices=32, rotation=(0.3, 0.2, 0)), "torus": _added("torus"),
               "cube": _added("cube", rotation=(0.5, 0.4, 0)), "monkey": _added("monkey")},
    "smooth": {"smooth monkey": _smooth_monkey}, "bunny": {"bunny": _scan("surfaces/bunny.obj")},
    "dragon": {"dragon": _scan("surfaces/dragon.obj")}}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "shapes"))
