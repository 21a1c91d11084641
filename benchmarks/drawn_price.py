"""Price of bakes of the gallery where what is drawn touches, as for a new body, over those by tetrahedra alone.

    python -m benchmarks.drawn_price

Five scenes of the gallery in which soft bodies touch each other, colliders or bones are baked to their end, twice each,
one after the other: with *Collide by Mesh* and *Simplify* as *Add Soft Body* sets them for these meshes, and with both
off. Processor seconds of all steps count, of all threads together, so what else the machine does matters little.

`drawn_price`: of all scenes together. `drawn_price_worst`: of the scene whose price rises most.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from benchmarks import report
from benchmarks.contact_scenes import watched
from examples_blend import addon
from examples_blend.build import FOLDER

SCENES = ("bowl", "rollers", "belly", "stack", "key")


def main() -> None:
    """Bake the scenes both ways and print the JSON line."""
    extension = addon.load()
    extension.register()
    seconds: dict[str, list[float]] = {}
    by_mesh: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        for name in SCENES:
            both = [baked(name, Path(folder) / f"{name} {drawn}", drawn) for drawn in (False, True)]
            seconds[name], by_mesh[name] = [one for one, _ in both], both[1][1]
            print(name, seconds[name], by_mesh[name], file=sys.stderr)
    tets, mesh = np.array(list(seconds.values())).T
    report.emit("drawn_price", [
        report.claim("drawn_price", mesh.sum() / tets.sum(), "times", "<= 1.15"),
        report.claim("drawn_price_worst", float((mesh / tets).max()), "times", "<= 1.15"),
    ], {"processor s by tetrahedra and as drawn": seconds, "bodies that collide by mesh": by_mesh})
    extension.unregister()


def baked(name: str, folder: Path, drawn: bool) -> tuple[float, list[str]]:
    """Return the processor seconds of all steps of a scene, and which bodies collide by their meshes."""
    cli: Any = importlib.import_module("conjac.conjac_addon.bake.cli")
    found: list[str] = []

    def run() -> int:
        bpy.ops.wm.open_mainfile(filepath=str(FOLDER / f"{name}.blend"))
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"))
        for one in bpy.context.scene.objects:
            if one.type == "MESH" and one.conjac.kind == "soft_body":
                set_contact(one, drawn)
                found.extend([one.name] if one.conjac.contact.by_mesh else [])
        bpy.ops.wm.save_mainfile()
        code: int = cli.run(["bake"])
        return code

    told = watched(name, folder, run)
    return float(told["processor_s"]), found


def set_contact(body: Any, drawn: bool) -> None:
    """Set by what a body collides: as a new one does, or by its tetrahedra."""
    contact = body.conjac.contact
    contact.by_mesh = False
    contact.property_unset("simplify")
    if drawn:
        by_mesh: Any = importlib.import_module("conjac.conjac_addon.operators.by_mesh")
        first: Any = importlib.import_module("conjac.conjac_addon.operators.first_settings")
        usual, _ = first.filled_box([*body.dimensions], 0.0)
        mesh = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        by_mesh.suit(body, mesh, body.conjac.edge_length or usual, usual)


if __name__ == "__main__":
    main()
