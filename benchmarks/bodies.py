"""Measure the cost of scenes with many ConJac bodies: time and memory as functions of their number.

    python -m benchmarks.bodies

Equal bars of 2,000 nodes with eight dynamic nodes each, held at one end, side by side in one job: each number of them
in a process of its own, through the very world that a bake builds. The time is the processor's, of all threads.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from benchmarks.step import own_peak, spread
from solver.build.world import build
from solver.job.load import load
from solver.meshing.grid import box_tets

COUNTS = (1, 2, 4, 8, 16)
CELLS, SIZE, DYNAMIC, H, STEPS = (9, 9, 19), (0.1, 0.1, 0.2), 8, 1 / 96, 12


def write(folder: Path, count: int) -> None:
    """A job of so many bars."""
    nodes, tets = box_tets(CELLS, SIZE)
    (folder / "arrays").mkdir(parents=True)
    arrays = {"tets": tets, "pinned": np.flatnonzero(nodes[:, 2] == 0.0).astype(np.int32),
              "dynamic": spread(nodes, DYNAMIC).astype(np.int32)}
    bodies = []
    for k in range(count):
        arrays[f"nodes{k}"] = nodes + [0.3 * k, 0.0, 0.0]
        bodies.append({"name": f"Bar {k}", "tets": {"nodes": f"arrays/nodes{k}.npy", "tets": "arrays/tets.npy"},
                       "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 3e4}},
                       "pin": {"nodes": "arrays/pinned.npy"}, "dynamic": {"nodes": "arrays/dynamic.npy"}})
    for name, array in arrays.items():
        np.save(folder / "arrays" / f"{name}.npy", array)
    scene = {"version": 1, "name": "bars", "bodies": bodies, "gravity": [5.0, 0.0, -9.81],
             "time": {"start": 1, "end": 25, "fps": 24, "step": H}}
    (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")


def one(count: int) -> dict[str, Any]:
    """Steps of a scene of so many bars: milliseconds of the processor, and what the process holds at its peak."""
    with tempfile.TemporaryDirectory(prefix="conjac-bodies-") as name:
        folder = Path(name) / "job"
        write(folder, count)
        before = own_peak()
        world, prepared, _ = build(load(folder), lambda *_: None)
        state, spent = world.initial_state(), []
        for _ in range(STEPS):
            began = time.process_time()
            state = world.step(state, H)
            spent.append(1e3 * (time.process_time() - began))
    return {"bodies": count, "nodes": sum(len(one.volume.nodes) for one in prepared),
            "ms": round(float(np.median(spent[2:])), 2), "mb": round(own_peak() - before, 1),
            "furthest": float(np.abs(state.u).max())}


def main() -> None:
    threads.configure(None)
    if "--one" in sys.argv:
        print(json.dumps(one(int(sys.argv[-1]))))
        return
    rows = []
    for count in COUNTS:
        ran = subprocess.run([sys.executable, "-m", "benchmarks.bodies", "--one", str(count)], stdout=subprocess.PIPE,
                             text=True, check=True, cwd=Path(__file__).resolve().parents[1])
        rows.append(json.loads(ran.stdout.splitlines()[-1]))
        print(rows[-1], file=sys.stderr, flush=True)
    size = np.log([row["bodies"] for row in rows])
    time_grows, memory_grows = (float(np.polyfit(size, np.log([row[key] for row in rows]), 1)[0])
                                for key in ("ms", "mb"))
    emit("bodies", [claim("bodies_exponent", time_grows, "", "<= 1.1"),
                    claim("bodies_memory_exponent", memory_grows, "", "<= 1.1")], {"rows": rows})


if __name__ == "__main__":
    main()
