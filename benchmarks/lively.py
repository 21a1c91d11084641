"""What is kept of the motion that an artist can see, and what it costs: method, integrator and step against truth.

Two scenes so far. TWIST's bar plucked (`scenes.plucked`): visible energy from 0.6 to 1 s after it is let go, as a share
of the truth, the trapezoidal rule with solved stages at 1/2000 s. A jelly cube of one metre dropped by 0.6 m on a
ground: how high its middle comes after the first landing, as a share of what SDIRK2 with solved stages finds at
1/960 s; E is 7e4 Pa, the ground's stiffness that of a new soft body. Cost is the thread's own processor seconds
for a second of motion, one thread, the median of five runs where these are short. Draws docs/lively_bar.png and
docs/lively_cube.png.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from benchmarks.scenes import plucked
from benchmarks.scenes.scene import Scene, farthest
from solver.errors import StepFailed
from solver.meshing.grid import box_tets
from solver.simulate import advance
from solver.state import State
from solver.world.nodes import Nodes

DOCS = Path(__file__).resolve().parents[1] / "docs"
STEPS = (1 / 24, 1 / 48, 1 / 96, 1 / 192)
SIZE, CELLS, DROP = 1.0, 6, 0.6  #: of the cube: [m], along an edge, [m]
RUNS, LONG = 5, 1.0  #: of each setting, whose median counts; no more runs after so long [s]
SECONDS = 1.0  #: of the bar; the cube is followed for twice as long
TIGHT: dict[str, Any] = {"kind": "qlb", "params": {"tolerance": 1e-6}}
DEFAULT = "Vanilla, SDIRK2, Quick"  #: of a new soft body, at DEFAULT_STEP
DEFAULT_STEP = 1 / 48
TOLD = ("Vanilla, Semi-Implicit Euler", "ConJac, SDIRK2, Quick")  #: other settings whose steps the plots name


@dataclass(frozen=True)
class Setting:
    """One choice of an artist's."""

    method: str
    integrator: str
    stage_solver: dict[str, Any] | None = None
    beta: float | None = None


SETTINGS = {
    "Vanilla, Semi-Implicit Euler": Setting("vanilla", "semi_implicit", beta=1.0),
    "Vanilla, Semi-Implicit SDIRK2": Setting("vanilla", "ssdirk2"),
    DEFAULT: Setting("vanilla", "sdirk2", {"kind": "quick"}),
    "Vanilla, SDIRK2 solved": Setting("vanilla", "sdirk2", TIGHT),
    "ConJac, Semi-Implicit Euler": Setting("conjac", "semi_implicit", beta=0.5),
    "ConJac, SDIRK2, Quick": Setting("conjac", "sdirk2", {"kind": "quick"}),
}


def cube() -> Scene:
    nodes, tets = box_tets((CELLS,) * 3, (SIZE,) * 3)
    nodes = nodes + [0.0, 0.0, DROP]
    corner = int(np.argmin(nodes.sum(axis=1)))
    stiffness = 1000.0 * 9.81 * (np.sqrt(3.0) * SIZE / 20.0) ** 2 / 0.005
    return Scene(nodes, tets, np.zeros(0, dtype=np.int32),
                 lambda count: farthest(nodes, np.arange(len(nodes)), [corner], count), (8,),
                 1000.0 * (2.5 * SIZE / 0.3) ** 2, 0.4,
                 ground={"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness": stiffness})


def ran(scene: Scene, setting: Setting, h: float, seconds: float,
        look: Callable[[Nodes, State], float]) -> tuple[np.ndarray, float]:
    """What `look` sees at each step, and processor seconds a second. Raises StepFailed."""
    params = {} if setting.beta is None else {"beta": setting.beta}
    world = scene.world(setting.method, 8, integrator=setting.integrator, stage_solver=setting.stage_solver, **params)
    advance(world, scene.start(world), h, 1)  # kernels are compiled before anything is timed
    costs: list[float] = []
    while len(costs) < RUNS and sum(costs) < LONG:
        world.forget_past()
        state, spent = scene.start(world), 0.0
        seen = [look(world, state)]
        for _ in range(round(seconds / h)):
            began = time.thread_time()
            state = advance(world, state, h, 1)
            spent += time.thread_time() - began
            seen.append(look(world, state))
        costs.append(spent / seconds)
    return np.array(seen), float(np.median(costs))


def late(energies: np.ndarray) -> float:
    """Their mean from 0.6 to 1 s."""
    times = np.linspace(0.0, SECONDS, len(energies))
    return float(energies[(times >= 0.6)].mean())


def bounce(heights: np.ndarray) -> float:
    """How far the middle comes up again after it was lowest first [m]."""
    first = heights[: len(heights) // 2]
    low = int(np.argmin(first))
    return float(heights[low:].max() - heights[low])


def middle(world: Nodes, state: State) -> float:
    x = world.coordinates.place(state.q, state.time)
    return float(world.mass @ x[:, 2] / world.mass.sum())


def rows(name: str, scene: Scene, seconds: float, look: Callable[[Nodes, State], float],
         measure: Callable[[np.ndarray], float], truth: tuple[Setting, float]) -> list[dict[str, Any]]:
    """What each setting keeps of the truth at each step, and its cost."""
    true = measure(ran(scene, *truth, seconds, look)[0])
    print(f"{name}: the truth is {true:.4g}", file=sys.stderr, flush=True)
    out = []
    for label, setting in SETTINGS.items():
        for h in STEPS:
            row: dict[str, Any] = {"setting": label, "steps a second": round(1 / h)}
            try:
                seen, cost = ran(scene, setting, h, seconds, look)
                row |= {"kept": round(measure(seen) / true, 3), "cpu s/s": float(f"{cost:.3g}")}
            except StepFailed as failure:
                row["failed"] = str(failure)
            print(name, row, file=sys.stderr, flush=True)
            out.append(row)
    return out


def draw(name: str, what: str, found: list[dict[str, Any]]) -> None:
    """Cost against what is kept, one line a setting, each step a point."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    for label in SETTINGS:
        points = [(row["cpu s/s"], row["kept"], row["steps a second"]) for row in found
                  if row["setting"] == label and "kept" in row]
        if points:
            costs, kept, _ = zip(*points)
            axes.plot(costs, kept, "o-", label=label, linewidth=2.5 if label == DEFAULT else 1.2)
            for cost, share, steps in points if label in (DEFAULT, *TOLD) else ():
                axes.annotate(f"1/{steps}", (cost, share), fontsize=7, xytext=(0, 5 if label == DEFAULT else -11),
                              textcoords="offset points", ha="center")
    axes.set_xscale("log")
    axes.set_xlabel("processor seconds for a second of motion")
    axes.set_ylabel(what)
    axes.set_ylim(-0.05, 1.25)
    axes.axhline(1.0, color="0.8", zorder=0)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    figure.legend(fontsize=8, loc="outside lower center", ncols=2)
    figure.savefig(DOCS / f"lively_{name}.png", dpi=110)


def main() -> None:
    threads.configure(1)
    bar = plucked.scene()
    visible = plucked.Visible(bar.world("vanilla"))
    found = {
        "bar": rows("bar", bar, SECONDS, lambda world, state: visible.of(state), late,
                    (Setting("vanilla", "trapezoidal", TIGHT), 1 / 2000)),
        "cube": rows("cube", cube(), 2 * SECONDS, middle, bounce, (Setting("vanilla", "sdirk2", TIGHT), 1 / 960))}
    default = [row for scene in found.values() for row in scene
               if row["setting"] == DEFAULT and row["steps a second"] == round(1 / DEFAULT_STEP)]
    cheapest = {name: min(row["cpu s/s"] for row in scene if row["steps a second"] == round(1 / DEFAULT_STEP)
                          and "kept" in row) for name, scene in found.items()}
    claims = [claim("visible_default", min(row.get("kept", 0.0) for row in default), "of the truth", ">= 0.5"),
              claim("default_over_cheapest", max(row["cpu s/s"] / least for row, least
                                                 in zip(default, cheapest.values())), "", "<= 1.3")]
    emit("lively", claims, {name: {f"{row['setting']}, 1/{row['steps a second']} s": row for row in scene}
                             for name, scene in found.items()})
    draw("bar", "visible energy kept, 0.6 to 1 s", found["bar"])
    draw("cube", "height of the bounce kept", found["cube"])


if __name__ == "__main__":
    main()
