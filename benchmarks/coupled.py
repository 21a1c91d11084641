"""Compare the cost of a step of SDIRK2 on TWIST: ConJac's stages solved to their root, and Vanilla's.

    python -m benchmarks.coupled

Both solve each stage to the same tolerance, 1e-6, by QLB, of which ConJac takes no more than that; TWIST as in
`benchmarks.scenes.twist` with eight dynamic nodes, from its start until a second after the end is back. Milliseconds
are the thread's own, of one thread, in turns of one step each. A run that does not come to its end yields no ratio;
the details say where each ended.

Beside that the solid arm of MUSCLE with Vanilla FEM, SDIRK2 at 1/50 s to 1e-6 until it is bent: by QLB, which keeps
the flesh's factor from stage to stage, over Newton, Direct, which makes one in each iteration.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

from benchmarks.report import claim, emit
from benchmarks.scenes.muscle import solid
from benchmarks.scenes.twist import RELEASE, scene
from solver.errors import StepFailed
from solver.state import State
from solver.world.nodes import Nodes

BENT = (0.02, 1.2)  #: a step, and until when [s]
STEPS, NODES, SECONDS, CLAIMED = (0.02, 0.01, 0.005), 8, 1.0, 0.01


class Run:
    """One world on its way, with the time that its steps took."""

    def __init__(self, method: str) -> None:
        solver: dict[str, Any] = {"kind": "qlb", "params": {"tolerance": 1e-6}}
        self.world: Nodes = scene().world(method, NODES, integrator="sdirk2", stage_solver=solver)
        self.state: State | None = self.world.initial_state()
        self.spent, self.why = 0.0, ""

    def step(self, h: float) -> None:
        if self.state is None:
            return
        began = time.thread_time()
        try:
            self.state = self.world.step(self.state, h)
        except StepFailed as failure:
            self.why = f"{self.state.time:.3f} s: {failure}"
            self.state = None
        self.spent += time.thread_time() - began


def compare(h: float) -> dict[str, Any]:
    """Milliseconds a step of both, and where each ended."""
    for method in ("vanilla", "conjac"):  # kernels are compiled before anything is timed
        Run(method).step(h)
    vanilla, conjac = Run("vanilla"), Run("conjac")
    steps = round((RELEASE + SECONDS) / h)
    for _ in range(steps):
        vanilla.step(h)
        conjac.step(h)
    row: dict[str, Any] = {"h": h, "steps": steps, "conjac_factors": conjac.world.linear.factored,
                            "vanilla_factors": vanilla.world.linear.factored}
    for name, run in (("vanilla", vanilla), ("conjac", conjac)):
        row |= {f"{name}_ms": round(1e3 * run.spent / steps, 2)} if run.state else {f"{name}_failed": run.why}
    if vanilla.state and conjac.state:
        row["ratio"] = round(conjac.spent / vanilla.spent, 3)
    print(row, file=sys.stderr, flush=True)
    return row


def on_bones() -> dict[str, Any]:
    """Milliseconds a step of flesh on bones and factors of both, and how far apart the elbow is at the end [rad]."""
    kinds = ("newton_d", "qlb")
    worlds = [solid().world("vanilla", step=BENT[0], besides={
        "integrator": {"kind": "sdirk2"}, "stage_solver": {"kind": kind, "params": {"tolerance": 1e-6}}})
        for kind in kinds]
    states, spent, steps = [world.initial_state() for world in worlds], [0.0, 0.0], round(BENT[1] / BENT[0])
    for count in range(steps + 1):
        for k, world in enumerate(worlds):
            began = time.thread_time()
            states[k] = world.step(states[k], BENT[0])
            spent[k] += (time.thread_time() - began) * (count > 0)  # kernels are compiled before anything is timed
    row = {f"{kind}_ms": round(1e3 * ms / steps, 2) for kind, ms in zip(kinds, spent)}
    row |= {f"{kind}_factors": world.parts[0].linear.factored for kind, world in zip(kinds, worlds)}
    return row | {"steps": steps, "apart_rad": abs(float(states[0].q[-1] - states[1].q[-1])),
                   "ratio": round(spent[1] / spent[0], 3)}


def main() -> None:
    threads.configure(1)
    rows = [compare(h) for h in STEPS]
    ended = sum("ratio" in row for row in rows)
    claims = [claim("conjac_sdirk2_ends", ended, "step sizes", f">= {len(STEPS)}")]
    claims += [claim("conjac_over_vanilla_sdirk2", row["ratio"], "", "<= 1.5") for row in rows
               if row["h"] == CLAIMED and "ratio" in row]
    bent = on_bones()
    print(bent, file=sys.stderr, flush=True)
    claims.append(claim("kept_over_anew_on_bones", bent["ratio"], "", "<= 0.6"))
    emit("coupled", claims, {"rows": rows, "on_bones": bent})


if __name__ == "__main__":
    main()
