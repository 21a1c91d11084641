"""Measure a step of constraints: ropes of 100 to 10,000 links that swing with a load.

    python -m benchmarks.constraints [most links]

A level rope of 1 m and 100 g is held at one end, with 1 kg at the other one; Vanilla FEM, Backward Euler by NEWTON-D at
1/96 s, as Add Rope sets it, one thread. Thread milliseconds a step, medians over a second that follows the first one,
factors a step, and how far links are off their length at the end of it. The exponent is that of the time between 1,000
and 10,000 links.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from solver.build.world import build
from solver.job.load import load
from solver.world.nodes import Nodes

LINKS = (100, 1_000, 10_000)
H, WARM, STEPS = 1 / 96, 96, 96  #: steps before those that are measured, and these


def world(folder: Path, positions: Any, edges: Any, loads: Any) -> Nodes:
    """A rope that is held at its first point, as the one part of a world. positions: (n, 3) [m]. edges: (k, 2). loads:
    at its points, (n,) [kg]."""
    (folder / "arrays").mkdir(parents=True)
    weights = np.zeros(len(positions))
    weights[0] = 1.0
    arrays = {"v": positions, "t": np.zeros((0, 3), np.int32), "e": np.asarray(edges, np.int32), "l": loads,
              "w": weights}
    for name, value in arrays.items():
        np.save(folder / "arrays" / f"{name}.npy", value)
    body = {"name": "Rope", "rope": {"edges": "arrays/e.npy", "loads": "arrays/l.npy"}, "method": {"kind": "vanilla"},
            "surface": {"vertices": "arrays/v.npy", "triangles": "arrays/t.npy"}, "pin": {"weights": "arrays/w.npy"}}
    document = {"version": 1, "name": "ropes", "bodies": [body], "integrator": {"kind": "backward_euler"},
                "time": {"start": 1, "end": 97, "fps": 24, "step": H}}
    (folder / "scene.json").write_text(json.dumps(document), encoding="utf-8")
    part = build(load(folder), lambda *_: None)[0].parts[0]
    assert isinstance(part, Nodes)
    return part


def swinging(folder: Path, links: int) -> dict[str, float]:
    """One rope with a load."""
    positions = np.zeros((links + 1, 3))
    positions[:, 0] = np.linspace(0.0, 1.0, links + 1)
    edges = np.stack([np.arange(links), np.arange(1, links + 1)], axis=1)
    loads = np.zeros(links + 1)
    loads[-1] = 1.0
    part = world(folder, positions, edges, loads)
    row = measured(part, WARM, STEPS)
    state = row.pop("state")
    x = np.concatenate([positions[:1], state.q.reshape(-1, 3)])
    off = np.abs(np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1) - 1.0 / links)
    return {**row, "off_m": float(f"{off.max():.2g}")}


def measured(part: Nodes, warm: int, steps: int) -> dict[str, Any]:
    """Thread milliseconds of a step, the median of so many after those before them, factors a step, and the state."""
    state = part.initial_state()
    for _ in range(warm):
        state = part.step(state, H)
    times, factored = [], part.factored
    for _ in range(steps):
        began = time.thread_time()
        state = part.step(state, H)
        times.append(time.thread_time() - began)
    return {"ms": round(1e3 * statistics.median(times), 2), "factors": round((part.factored - factored) / steps, 2),
            "state": state}


def main() -> None:
    threads.configure(1)
    most = int(sys.argv[1]) if len(sys.argv) > 1 else LINKS[-1]
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="conjac-ropes-") as name:
        for links in (one for one in LINKS if one <= most):
            rows[str(links)] = swinging(Path(name) / str(links), links)
            print({links: rows[str(links)]}, file=sys.stderr, flush=True)
        claims = []
        if most >= LINKS[1]:
            claims.append(claim("rope_1000", rows["1000"]["ms"], "ms", "<= 3"))
        if most >= LINKS[2]:
            exponent = math.log10(rows["10000"]["ms"] / rows["1000"]["ms"])
            claims += [claim("rope_exponent", round(exponent, 2), "", "<= 1.1"),
                       claim("rope_off_length", max(rows[str(links)]["off_m"] for links in LINKS), "m", "<= 1e-8")]
    emit("constraints", claims, {"steps": rows, "step": H})


if __name__ == "__main__":
    main()
