"""Measure the cost of exact contact and playback in scenes of the gallery: no intersections, painted vertices in place.

    python -m benchmarks.gallery_price

The add-on gathers scenes of the gallery, which are baked to some frames beyond their first contact, in this process, on
one thread, with and without these features. Without them, bodies touch by their tetrahedra (*Collide by Mesh* and
*Simplify* off), cloth by one diagonal of each quad, and frames are written as the tetrahedra move the mesh, neither
corrected to painted positions nor moved out of the ground. Both run in turns, and the median of each counts, by
processor time of whole bakes: build, steps and frames. `gallery_price` is the ratio of the sums over all scenes.

Bowl and stack touch by tetrahedra whose skin is drawn. With *Collide by Mesh* as well, which changes nothing visible,
they took 1.6 and 1.8 times as long.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest import mock

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

from benchmarks import report
from solver import simulate

ROUNDS = 3
#: scenes and how many frames of each: jellies, cloth, nets, pins; what is in contact for most of them
SCENES = {"bowl": 16, "stack": 16, "belly": 16, "crane": 24, "shirt": 6, "suzanne": 24, "rollers": 24, "drop": 24}
FIELDS = ("touches_by_mesh", "simplify")  #: of a body in scene.json
DRAWN = ("build_pinned_vertices", "build_above_ground")  #: makers of what corrects frames


def main() -> int:
    """Bake the scenes and print the JSON line."""
    from examples_blend import addon

    threads.configure(1)
    extension = addon.load()
    extension.register()
    spent: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        for name, frames in SCENES.items():
            spent[name] = measured(name, frames, Path(folder) / name)
            print(name, spent[name], file=sys.stderr, flush=True)
    extension.unregister()
    sums = {case: sum(one[case] for one in spent.values()) for case in ("with", "without")}
    report.emit("gallery_price", [report.claim("gallery_price", sums["with"] / sums["without"], "times", "<= 1.15")],
                {"processor s": spent, "frames": SCENES,
                 "times": {name: one["with"] / one["without"] for name, one in spent.items()}})
    return 0


def measured(name: str, frames: int, folder: Path) -> dict[str, float]:
    """Return the median processor time of the bake of a scene in each way [s]."""
    gathered(name, frames, folder / "with")
    shutil.copytree(folder / "with", folder / "without")
    without_fields(folder / "without" / "scene.json")
    ways = {case: folder / case for case in ("with", "without")}
    for job in ways.values():
        baked(job, 2, True)  # fills the volume, which all rounds use, and compiles
    times: dict[str, list[float]] = {case: [] for case in ways}
    for turn in range(ROUNDS):
        for case in sorted(ways, reverse=bool(turn % 2)):
            times[case].append(baked(ways[case], frames, case != "without"))
    return {case: statistics.median(some) for case, some in times.items()}


def gathered(name: str, frames: int, folder: Path) -> None:
    """Write the job of an example by the add-on, to so many frames."""
    import bpy

    from examples_blend.build import FOLDER

    def part(of: str) -> Any:
        return importlib.import_module(f"conjac.conjac_addon.{of}")

    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / f"{name}.blend"))
    scene = bpy.context.scene
    scene.frame_end = scene.frame_start + frames - 1
    bodies = [one for one in scene.objects if part("members").is_soft_body(one)]
    for one in bodies:
        one.conjac.use_scene_range = True
    part("gather").write_job(part("members").owner(bodies[0]), scene, folder, lambda text: None)


def without_fields(path: Path) -> None:
    """Take out of a scene.json by what bodies touch, and both diagonals of quads."""
    document = json.loads(path.read_text(encoding="utf-8"))
    for body in document["bodies"]:
        for field in FIELDS:
            body.pop(field, None)
        body.get("cloth", {}).pop("quads", None)
    path.write_text(json.dumps(document), encoding="utf-8")


def baked(job: Path, frames: int, is_corrected: bool) -> float:
    """Return the processor time of a bake to so many frames [s]. is_corrected: whether frames are as they are drawn."""
    from solver.build import soft_bodies

    shutil.rmtree(job / "cache", ignore_errors=True)
    first = json.loads((job / "scene.json").read_text(encoding="utf-8"))["time"]["start"]
    with contextlib.ExitStack() as stack:
        for maker in () if is_corrected else DRAWN:
            stack.enter_context(mock.patch.object(soft_bodies, maker, lambda *_: None))
        began = time.process_time()
        simulate.bake(job, Silent(), frames=(first, first + frames - 1), threads=1)
        return time.process_time() - began


class Silent:
    """A reporter that writes nothing."""

    def log(self, text: str) -> None: ...
    def stage(self, stage: str, body: str | None, progress: float | None, text: str) -> None: ...
    def start(self, first: int, last: int, steps_per_frame: int) -> None: ...
    def frame(self, frame: int, ms: float, left_s: float) -> None: ...


if __name__ == "__main__":
    sys.exit(main())
