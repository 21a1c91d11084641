"""What contact of surfaces costs: a folded mat of 20,000 faces that lies on itself, stepped with contact and without.

    python -m benchmarks.contact

Vanilla FEM, Backward Euler by NEWTON-D, one thread. The mat starts folded, its halves nearer to each other than
surfaces push, and is stepped through the first tenths of a second: the solver's own thread time of all steps, with
contact over without, and how much of it goes into pairs, distances and bounds of steps.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from solver.build.world import build
from solver.contact.laws.barrier import Barrier
from solver.job.load import load
from solver.meshing.grid import box_tets
from solver.world.nodes import Nodes

CELLS, SIZE, GAP = (140, 34, 1), (1.4, 0.34, 0.01), 0.002
H, STEPS = 1 / 96, 3


def folded() -> tuple[Any, Any]:
    """Nodes and tets of a mat that is folded in the middle, its halves a gap apart."""
    nodes, tets = box_tets(CELLS, SIZE)
    radius = 0.5 * GAP + 0.5 * SIZE[2] + 0.03
    straight = 0.5 * (SIZE[0] - np.pi * radius)
    along, across, above = nodes.T
    turn = np.clip((along - straight) / radius, 0.0, np.pi)
    # above the outer side of the lower half; the halves come nearer to each other towards their ends
    beyond = np.maximum(along - straight - np.pi * radius, 0.0)
    lower = np.minimum(along, straight)
    r = radius + (0.5 * SIZE[2] - above)
    x = lower + r * np.sin(turn) - beyond
    z = -r * np.cos(turn)
    lean = (radius - 0.5 * (GAP + SIZE[2])) / straight
    z += np.where(turn < 0.5 * np.pi, 1.0, -1.0) * lean * (straight - np.minimum(lower, x).clip(0.0))
    return np.stack([x, across, z], axis=1), tets


def world(folder: Path, contact: bool) -> Nodes:
    """The mat as the one part of a world."""
    nodes, tets = folded()
    if np.linalg.det(nodes[tets[0, 1:]] - nodes[tets[0, :1]]) < 0.0:
        tets = tets[:, [0, 1, 3, 2]]
    (folder / "arrays").mkdir(parents=True)
    np.save(folder / "arrays" / "nodes.npy", nodes)
    np.save(folder / "arrays" / "tets.npy", tets)
    body = {"name": "Mat", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 1e5}}}
    scene: dict[str, Any] = {"version": 1, "name": "mat", "bodies": [body], "gravity": [0.0, 0.0, 0.0],
                             "method": {"kind": "vanilla"}, "integrator": {"kind": "backward_euler"},
                             "time": {"start": 1, "end": 25, "fps": 24, "step": H}}
    if contact:
        scene["contact"] = {"law": {"kind": "barrier", "params": {"distance": 2.0 * GAP}}}
    (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
    part = build(load(folder), lambda *_: None)[0].parts[0]
    assert isinstance(part, Nodes)
    return part


def clocked(spent: list[float], function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose thread time goes to the list's one number."""
    def call(*arguments: Any) -> Any:
        began = time.thread_time()
        try:
            return function(*arguments)
        finally:
            spent[0] += time.thread_time() - began
    return call


def stepped(part: Nodes) -> dict[str, Any]:
    """Thread milliseconds a step, of these in contact, and pairs that push at the end."""
    state, spent = part.initial_state(), [0.0]
    pushed = state.u.reshape(-1, 3)
    upper = part.coordinates.place(state.q, 0.0)[part.coordinates.free, 2] > 0.0
    pushed[upper, 2] -= 0.2
    laws = [law for law in part.contacts if isinstance(law, Barrier)]
    for law in laws:
        for name in ("measure", "fill", "largest_step", "sliding"):
            setattr(law, name, clocked(spent, getattr(law, name)))
    began = time.thread_time()
    for _ in range(STEPS):
        state = part.step(state, H)
    whole = time.thread_time() - began
    x = part.coordinates.place(state.q, state.time)
    return {"ms": round(1e3 * whole / STEPS, 1), "contact_ms": round(1e3 * spent[0] / STEPS, 1),
            "pairs": sum(len(law.touching(x).nodes) for law in laws), "factors": part.linear.factored}


def main() -> None:
    threads.configure(1)
    rows = {}
    with tempfile.TemporaryDirectory(prefix="conjac-contact-") as name:
        for contact in (False, True):
            part = world(Path(name) / str(contact), contact)
            rows["with" if contact else "without"] = stepped(part)
            print(rows, file=sys.stderr, flush=True)
    ratio = rows["with"]["ms"] / rows["without"]["ms"]
    emit("contact", [claim("self_contact", ratio, "", "<= 3")],
         {**rows, "faces": 4 * (CELLS[0] * CELLS[1] + CELLS[1] + CELLS[0]), "steps": STEPS})


if __name__ == "__main__":
    main()
