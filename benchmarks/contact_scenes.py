"""Bake scenes of soft bodies in contact as artists do, to the end, and measure cost, distances and intersections.

    python -m benchmarks.contact_scenes NAME

The .blend of `examples_blend` is baked by Blender's command-line handler, with all cores. `least_mm` is the smallest
distance of skins of tetrahedra, colliders and bones in any frame, `crossing_frames` the number of frames in which any
of them intersect, by the exact test of ipctk. `seen_mm` and `seen_crossing_frames` are the same for the objects as they
play: the former for all objects in contact whose skin of tetrahedra is their own mesh; the latter for soft bodies and
colliders only, without bones. Cut bodies have neither. `ms` and `processor_ms` are for a step, by the clock and by all
threads together; the parts of a halved step count as one. Bakes stay in build/contact_scenes, where `python -m
examples_blend.bake NAME --gallery --out build/contact_scenes/NAME` finds and renders them. `rollers_conjac` is ROLLERS
with a ball of ConJac instead, with the spots that a bake finds.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from benchmarks.report import claim, emit
from benchmarks.run import PARTS
from examples_blend import addon, bake, jelly

WORK = Path(__file__).resolve().parent.parent / "build" / "contact_scenes"


def baked(name: str, folder: Path) -> dict[str, Any]:
    """Bakes a scene from nothing; what `watched_solver` tells, and seconds of all of it. Raises RuntimeError where it
    does not come to its end."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    watched = folder / "told.json"
    os.environ["CONJAC_WATCHED"] = str(watched)
    session: Any = importlib.import_module("conjac.conjac_addon.bake.session")
    assert session.SOLVER == "solver"  # a module that waits for its first use runs now, and says its own name no more
    session.SOLVER = "benchmarks.watched_solver"
    began = time.perf_counter()
    scene, _, method = name.partition("_")
    code = bake.bake(scene, folder, method or None)
    seconds = time.perf_counter() - began
    if code:
        raise RuntimeError(f"{name}.blend was not baked to its end: exit code {code}")
    return {"bake_s": seconds, **json.loads(watched.read_text(encoding="utf-8"))}


def seen_clearance(scene: bpy.types.Scene) -> float | None:
    """How near what plays comes [m]; None where it has not the corners of its tetrahedra."""
    try:
        return jelly.reported_clearance(scene)
    except ValueError:
        return None


def seen_crossing(scene: bpy.types.Scene) -> int:
    """In how many frames faces of soft bodies go through each other, a collider or, where they collide with
    themselves, themselves as they play."""
    mesh = importlib.import_module("conjac.solver.contact.find.mesh")
    found = [one for one in scene.objects if one.type == "MESH" and one.conjac.kind in ("soft_body", "collider")]
    triangles, groups, first = [], [], 0
    for k, one in enumerate(found):
        one.data.calc_loop_triangles()
        triangles.append(first + np.array([triangle.vertices for triangle in one.data.loop_triangles]))
        alone = 0 if one.conjac.kind == "collider" else -1 if one.conjac.contact.itself else k + 1
        groups.append(np.full(len(one.data.vertices), alone))
        first += len(one.data.vertices)

    def positions(frame: int) -> np.ndarray:
        return np.concatenate([jelly.played(one.name, frame) for one in found])

    surfaces = mesh.Surfaces(positions(scene.frame_start), np.concatenate(triangles), np.concatenate(groups))
    return sum(surfaces.intersection(positions(frame)) is not None
               for frame in range(scene.frame_start, scene.frame_end + 1))


def measured(name: str) -> dict[str, Any]:
    """A row of the table."""
    row, scene = baked(name, WORK / name), bpy.context.scene
    whole = not any(one.conjac.cuts for one in scene.objects if one.type == "MESH")
    seen = seen_clearance(scene) if whole else None
    return {"frames": row["frames"], "steps": row["steps"], "bake_s": round(row["bake_s"], 1),
            "ms": round(1e3 * row["stepping_s"] / row["steps"], 1),
            "processor_ms": round(1e3 * row["processor_s"] / row["steps"], 1),
            "halved": row["halved"], "shortest_ms": round(1e3 * row["shortest_s"], 2), "calmed": row["calmed"],
            "linearised": row["linearised"], "most_pairs": row["most_pairs"],
            "least_mm": round(1e3 * row["clearance"], 4), "crossing_frames": len(row["crossing"]),
            "seen_mm": None if seen is None else round(1e3 * seen, 4),
            "seen_crossing_frames": seen_crossing(scene) if whole else None}


def row_of_named(benchmark: str, sentence: str, measure: Callable[[str], dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    """Return the scene that the command line names, one of a benchmark's parts, and what is measured of it in a Blender
    with the extension on."""
    parser = argparse.ArgumentParser(description=sentence)
    parser.add_argument("name", choices=PARTS[benchmark])
    name = parser.parse_args().name
    extension = addon.load()
    extension.register()
    row = measure(name)
    extension.unregister()
    return name, row


def main() -> None:
    name, row = row_of_named("contact_scenes", __doc__.partition("\n")[0], measured)
    crossing = row["crossing_frames"] + (row["seen_crossing_frames"] or 0)
    emit(f"contact_scenes.{name}", [claim(f"{name}_least_mm", row["least_mm"], "mm", "> 0"),
                                    claim(f"{name}_crossing", crossing, "frames", "<= 0")], {"scene": {name: row}})


if __name__ == "__main__":
    main()
