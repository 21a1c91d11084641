"""Scenes of `benchmarks.lively`: the visible energy of each, and the reference solution.

    python -m benchmarks.lively_scenes NAME … [--check | --nudged N]
                                            writes benchmarks/scenes/references/lively_NAME.json

A reference takes minutes, so it is stored, with the scene's hash, the commit and the machine; `stored_truth` refuses
that of another scene. --check uses twice the step and stores the result as well, which estimates the reference's error.
--nudged uses the N-th of the starts that differ by a micrometre and stores that as well: where such a difference
matters, one run is chance, and the mean of all is the reference. A pendulum and a chain conserve their energy and need
no reference.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import machine
from benchmarks.scenes import dragon, dropped, ears, plucked
from benchmarks.scenes.reference import FOLDER, digest
from benchmarks.scenes.scene import Scene, in_balance
from solver.simulate import advance
from solver.state import State
from solver.world.nodes import Nodes

GENTLE = 0.35  #: of the dragon's pull
FROM, TO = 0.6, 1.0  #: seconds after it is let go over which what is left is a mean
NUDGE = 1.0e-6  #: [m], root mean square along each axis, by which nodes of a nudged start stand off
TIGHT: dict[str, Any] = {"kind": "qlb", "params": {"tolerance": 1e-6}}

FeatureContacts = Callable[[Nodes, State], Any]


@dataclass(frozen=True)
class Watched:
    """A scene with a soft body whose visible motion is measured at each step, and how much of it is left at the end."""

    scene: Scene
    integrator: str  #: of the truth
    step: float  #: of the truth [s]
    look: Callable[[Scene], FeatureContacts]
    measure: Callable[[np.ndarray, float], float]  #: from what is seen, and when it is let go as a share of the time
    seen: str
    wobble: Callable[[np.ndarray], float] | None = None  #: what else is told of what is seen [J]
    starts: int = 1  #: over which a new body's settings are a mean: more than one where a nudge changes what is kept

    @property
    def seconds(self) -> float:
        return self.scene.release_time + self.scene.seconds

    def nudged(self, number: int) -> Watched:
        """Return it let go from nodes that stand off by NUDGE, of 1 and more each number its own way, of 0 not at all.

        Raises ValueError where it is not let go from anywhere.
        """
        if number == 0:
            return self
        pulled = self.scene.pulled
        if pulled is None:
            raise ValueError("a scene that begins at rest cannot be nudged")
        off = NUDGE * np.random.default_rng(number).standard_normal(pulled.shape)
        return replace(self, scene=replace(self.scene, pulled=pulled + off))

    def measured(self, seen: np.ndarray) -> float:
        return self.measure(seen, self.scene.release_time / self.seconds)


def energy(scene: Scene) -> FeatureContacts:
    world = scene.world("vanilla")
    x = world.coordinates.positions(world.initial_state().q, scene.release_time)
    rest = x if scene.gravity == plucked.NO_GRAVITY else in_balance(world, x, time=scene.release_time)
    visible = plucked.Visible(world, rest)
    return lambda _, state: visible.of(state)


def late(energies: np.ndarray, release_time: float) -> float:
    """Return the mean energy between FROM and TO [s] after release [J].

    energies: at equal steps until a second after it [J]. release_time: time of release as a fraction of all.
    """
    times = np.linspace(-release_time / (1.0 - release_time), 1.0, len(energies))
    return float(energies[(times >= FROM - 1e-9) & (times <= TO + 1e-9)].mean())


def half_life(energies: np.ndarray, release_time: float) -> float:
    """Seconds in which visible energy halves, from a line through its logarithm from 0.1 s after release on."""
    times = np.linspace(-release_time / (1.0 - release_time), 1.0, len(energies))
    part = (times >= 0.1) & (energies > 0.0)
    slope = float(np.polyfit(times[part], np.log2(energies[part]), 1)[0])
    return -1.0 / slope if slope < 0.0 else np.inf


#: by name; each is made when it is asked for
WATCHED: dict[str, Callable[[], Watched]] = {
    "bar": lambda: Watched(plucked.scene(), "trapezoidal", 1 / 1920, energy, late, "visible energy, 0.6 to 1 s"),
    "hetero": lambda: Watched(plucked.layered(), "trapezoidal", 1 / 480, energy, late, "visible energy, 0.6 to 1 s"),
    # the trapezoidal rule does not settle there at 1/480 s
    "dragon": lambda: Watched(dragon.scene(GENTLE), "sdirk2", 1 / 240, energy, late,
                              "visible energy, 0.6 to 1 s", starts=8),
    "ears": lambda: Watched(ears.scene(), "trapezoidal", 1 / 960, energy, late, "visible energy, 0.6 to 1 s"),
    "cube": lambda: Watched(dropped.scene(), "sdirk2", 1 / 960, lambda _: dropped.seen,
                            lambda seen, _: dropped.bounce(seen[:, 0]), "height of the bounce", dropped.wobble),
}


def path_of(name: str) -> Path:
    return FOLDER / f"lively_{name}.json"


def stored_truth(name: str, watched: Watched) -> dict[str, Any]:
    """The truth of this very scene as it was written. Raises ValueError where there is none."""
    path = path_of(name)
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if stored.get("scene") != digest(watched.scene):
        raise ValueError(f"{name} has no truth: run `python -m benchmarks.lively_scenes {name}`")
    return stored


def mean_truth(truth: dict[str, Any]) -> float:
    """Return what the truth keeps, the mean over its nudged starts where there are some."""
    return float(np.mean([truth["value"], *truth.get("nudged", {}).values()]))


def found(watched: Watched, h: float) -> dict[str, Any]:
    """Return what the truth finds in steps of h, half-life where energies are seen, and wobble where that is."""
    world = watched.scene.world("vanilla", integrator=watched.integrator, stage_solver=TIGHT)
    look, state = watched.look(watched.scene), watched.scene.start(world)
    seen = [look(world, state)]
    for _ in range(round(watched.seconds / h)):
        state = advance(world, state, h, 1)
        seen.append(look(world, state))
    lived = (half_life(np.array(seen), watched.scene.release_time / watched.seconds) if watched.measure is late
             else np.nan)
    wobbles = {} if watched.wobble is None else {"wobble": watched.wobble(np.array(seen))}
    return {"value": watched.measured(np.array(seen)), "half_life": lived if np.isfinite(lived) else None} | wobbles


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", nargs="+", choices=WATCHED)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--nudged", type=int, default=0, help="which of the nudged starts")
    chosen = parser.parse_args()
    threads.configure(1)
    for name in chosen.name:
        watched, began = WATCHED[name](), time.thread_time()
        h = watched.step * (1 + chosen.check)
        facts = machine()
        row = found(watched.nudged(chosen.nudged), h) | {"integrator": watched.integrator,
               "steps_a_second": round(1 / h), "solved_to": TIGHT["params"]["tolerance"],
               "cpu_seconds": round(time.thread_time() - began), "cpu": facts["cpu"], "commit": facts["commit"]}
        record = {"scene": digest(watched.scene), "seen": watched.seen} | row
        if chosen.nudged:
            record = stored_truth(name, watched)
            record["nudged"] = record.get("nudged", {}) | {str(chosen.nudged): row["value"]}
        elif chosen.check:
            record = stored_truth(name, watched) | {"check": row}
        path_of(name).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print(name, row, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
