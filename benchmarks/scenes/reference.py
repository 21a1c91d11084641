"""Reference solution with negligible numerical damping: SDIRK2 in small steps, each solved by Newton to 1e-6.

    python -m benchmarks.scenes.reference dragon --h 1e-3 [--for 150] [--keep FOLDER]

It takes from minutes to an hour, so its curve is kept in benchmarks/scenes/references/NAME.json with the hash of the
scene it belongs to; `reference` refuses one of another scene. --for stops after so many seconds, and the same command
with the same --keep goes on. A second run with a larger h is kept as a check of convergence.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.scenes.motion import TimeIsUp, rest_energy, run
from benchmarks.scenes.scene import Scene

FOLDER = Path(__file__).resolve().parent / "references"
SOLVER = {"kind": "qlb", "params": {"tolerance": 1e-6}}  #: the same root as Newton's, with fewer factorizations
SAMPLES = 100  #: of the kept curve, a second


def of(name: str) -> Scene:
    """The scene of a file of this folder."""
    found: Scene = import_module(f"benchmarks.scenes.{name}").scene()
    return found


def digest(scene: Scene) -> str:
    """Return the digest of all that a reference depends on. Positions, from an iteration, count to a micrometre."""
    lengths = [scene.nodes, scene.nodes if scene.pulled is None else scene.pulled,
               np.zeros(0) if scene.motion is None else scene.motion]
    parts = [np.round(array, 6).tobytes() for array in lengths]
    parts += [scene.tets.tobytes(), np.asarray(scene.pinned).tobytes()]
    moduli = None if scene.element_young is None else scene.element_young.tobytes().hex()
    text = repr((scene.young, scene.poisson, scene.seconds, scene.release_time, scene.fibers, moduli))
    if (scene.gravity, scene.ground) != (Scene.gravity, None):
        text += repr((scene.gravity, scene.ground))
    return hashlib.sha256(b"".join(parts) + text.encode()).hexdigest()[:16]


def reference(name: str, scene: Scene) -> dict[str, Any] | None:
    """The kept curve of this very scene, or None."""
    path = FOLDER / f"{name}.json"
    if not path.exists():
        return None
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return stored if stored["scene"] == digest(scene) else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name")
    parser.add_argument("--h", type=float, default=2e-4)
    parser.add_argument("--for", type=float, default=np.inf, dest="limit", metavar="SECONDS")
    parser.add_argument("--keep", type=Path, default=FOLDER.parents[2] / "out" / "references")
    chosen = parser.parse_args()
    until = time.perf_counter() + chosen.limit
    threads.configure(None)
    scene = of(chosen.name)
    world = scene.world("vanilla", integrator="sdirk2", stage_solver=SOLVER)
    part = chosen.keep / f"{chosen.name}-{chosen.h:g}-{digest(scene)}.npz"
    try:
        motion = run(scene, world, chosen.h, rest_energy(scene), part=part, until=until)
    except TimeIsUp:
        return 75
    if not motion.whole:
        print(f"h = {chosen.h:g} is too long a step", file=sys.stderr)
        return 1
    known = reference(chosen.name, scene)
    row = {"h": chosen.h, "liveliness": motion.liveliness, "half_life": motion.half_life}
    checks = [] if known is None else [one for one in known["checks"] if one["h"] != chosen.h]
    checks = sorted([*checks, row], key=lambda one: one["h"])
    if known is None or chosen.h <= known["h"]:
        every = max(1, round(1.0 / SAMPLES / chosen.h))
        known = {"scene": digest(scene), **row, "solved_to": 1e-6, "sampled_every": every * chosen.h,
                 "kinetic": [float(f"{k:.5g}") for k in motion.kinetic[::every]],
                 "energy": [float(f"{e:.5g}") for e in motion.energy[::every]]}
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{chosen.name}.json").write_text(json.dumps(known | {"checks": checks}, indent=1) + "\n",
                                                encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
