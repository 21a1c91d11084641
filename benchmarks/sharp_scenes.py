"""Measure EDGE, WIRE, NAILS, JAWS, PUSH, THROW and FRICTION of Table 2.1 and three scenes of our own as artists bake
them: cost of a step, by stages.

    python -m benchmarks.sharp_scenes [NAME …]

The scenes of `examples_blend`, built in Blender and gathered by the extension, stepped here on one thread. Columns as
in the dissertation's table: most faces, largest share of vertices that slide, median and longest step in thread
milliseconds, shares of collision detection, remeshing, filling of matrices and the program; the rest is mostly
self-collision of cloth, which the dissertation leaves to the program. If a step is cut or halved, its parts count as
one. NAILS and FRICTION are two cloths each, solved at once. TOWEL, on a bone that it moves, and CLOAK, on a running
figure with a soft belly, are stepped with everything in their bakes, and so is TABLECLOTH while the objects on it move;
all of it is in their milliseconds. EDGE and WIRE in the other variants, without self-collision, are in
`sharp_variants`, LO-RES in `sharp_cloth`.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import bpy

from benchmarks.report import claim, emit
from benchmarks.sharp_cloth import stages_clocked
from benchmarks.table_2_1 import PAPER
from examples_blend import addon, build
from solver.build.world import build as build_world
from solver.job.load import load
from solver.simulate import Halved, Timeline, advance
from solver.world.eol_cloth import EolCloth
from solver.world.world import World

NAMES = ("edge", "wire", "nails", "jaws", "push", "throw", "friction", "tablecloth", "towel", "cloak")


def world_of(name: str, folder: Path) -> tuple[World, Timeline]:
    """That of an example, and its timeline."""
    build.build(name, folder)
    gather = importlib.import_module("conjac.conjac_addon.gather")
    members = importlib.import_module("conjac.conjac_addon.members")
    first = next(one for one in bpy.context.scene.objects if one.type == "MESH" and one.conjac.sharp_edges)
    gather.write_job(members.owner(first), bpy.context.scene, folder / name)
    job = load(folder / name)
    return build_world(job, lambda *_: None)[0], Timeline.of(job.scene.time)


def measured(part: EolCloth, world: World, timeline: Timeline) -> dict[str, Any]:
    """A row of the table: of a cloth of that world, by itself where it meets nothing in there."""
    whole = world if part.steps.needs_reactions else part
    spent = dict.fromkeys(("detect", "remesh", "fill", "program"), 0.0)
    times, faces, fraction, state = list[float](), 0, 0.0, whole.initial_state()
    halved = Halved()
    count = round((timeline.end - timeline.start) / timeline.fps / timeline.step)
    with stages_clocked(part.steps, spent):
        for k in range(count):
            state = replace(state, time=k * timeline.step)  # counted, as a bake does
            began = time.thread_time()
            state = advance(whole, state, timeline.step, 1, halved=halved, largest=timeline.largest_deformation)
            times.append(time.thread_time() - began)
            own = world.split_state(state)[world.parts.index(part)] if part.steps.needs_reactions else state
            cloth = part.cloth(own)
            faces = max(faces, len(cloth.mesh.faces))
            fraction = max(fraction, float(((cloth.mesh.on >= 0) & ~cloth.free).mean()))
    took = sum(times)
    return {"faces": faces, "sliding_%": round(100 * fraction, 1), "ms": round(1e3 * statistics.median(times), 1),
            "longest_ms": round(1e3 * max(times)), **{f"{key}_%": round(100 * value / took, 1)
                                                      for key, value in spent.items()}, "steps": count,
            "halved": len(halved), "substeps": part.steps.step_log.substeps,
            "factorizations": part.steps.step_log.factored}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], default=[])
    chosen = parser.parse_args()
    extension = addon.load()
    extension.register()
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.names or NAMES:
            world, timeline = world_of(name, Path(folder))
            cloths = [part for part in world.parts if isinstance(part, EolCloth)]
            threads.configure(1)
            for part in cloths:
                row, theirs = measured(part, world, timeline), PAPER.get(f"{name.upper()} (EOL)", (None, None))
                called = name.upper() if len(cloths) == 1 else f"{name.upper()}, {part.name.split()[0].lower()}"
                rows[called] = {**row, "paper_faces": theirs[0], "paper_ms": theirs[1]}
    extension.unregister()
    emit("sharp_scenes", [claim("edge_scene_ms", row["ms"], "ms", "<= 40", PAPER["EDGE (EOL)"][1])
                          for name, row in rows.items() if name == "EDGE"], {"steps": rows})


if __name__ == "__main__":
    main()
