"""Motion of a scene: energies and time of a run, stability, liveliness and half-life."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.scenes.scene import Scene, in_balance
from solver.errors import StepFailed
from solver.state import State
from solver.world.nodes import Nodes

FIRST, LAST = 0.1, 1.0  #: seconds after release over which liveliness is a mean
GROWN = 1.0  #: a run is stable while it has at most this much of the energy it was let go with


@dataclass(frozen=True)
class Motion:
    """A run, from when it is let go."""

    times: np.ndarray  #: seconds after release, (k,)
    kinetic: np.ndarray  #: [J]
    energy: np.ndarray  #: kinetic and potential above that of rest [J]
    ms: float  #: median of a step
    whole: bool  #: it reached its end

    @property
    def is_stable(self) -> bool:
        """It came to its end and never had more energy than it was let go with."""
        return self.whole and bool((self.energy <= GROWN * self.energy[0]).all())

    @property
    def liveliness(self) -> float:
        """Mean kinetic energy from 0.1 to 1 s after release [J]."""
        part = (self.times >= FIRST - 1e-9) & (self.times <= LAST + 1e-9)
        return float(self.kinetic[part].mean())

    @property
    def half_life(self) -> float:
        """Seconds in which the swing's energy halves, from a line through its logarithm after 0.1 s."""
        part = (self.times >= FIRST - 1e-9) & (self.energy > 1e-6 * self.energy[0])
        if part.sum() < 3:
            return 0.0
        slope = np.polyfit(self.times[part], np.log2(self.energy[part]), 1)[0]
        return float(-1.0 / slope) if slope < 0.0 else np.inf


def energies(world: Nodes, state: State, rest: float) -> tuple[float, float]:
    """Kinetic energy, and all of it above that of rest [J]."""
    v = world.velocity(state)
    kinetic = 0.5 * float(world.mass @ np.einsum("na,na->n", v, v))
    x = world.coordinates.positions(state.q, state.time)
    return kinetic, kinetic + world.evaluate(x, state.time)[1] - rest


def rest_energy(scene: Scene) -> float:
    """Potential energy in balance, after all prescribed motion [J]."""
    world = scene.world("vanilla")
    x = in_balance(world, world.coordinates.positions(world.initial_state().q, scene.release_time),
                   time=scene.release_time)
    return world.evaluate(x, scene.release_time)[1]


class TimeIsUp(Exception):
    """A run took longer than it may; its part so far is kept."""


def run(scene: Scene, world: Nodes, h: float, rest: float, *, to_the_end: bool = True, part: Path | None = None,
        until: float = np.inf) -> Motion:
    """From the start to `seconds` after release. to_the_end: go on where it is unstable already.

    Raises TimeIsUp at `until`, of time.perf_counter, having written to the file `part` where the next call goes on;
    not before one step is done.
    """
    state, done, rows = scene.start(world), 0, []
    if part is not None and part.exists():
        with np.load(part) as stored:
            done, rows = int(stored["done"]), stored["rows"].tolist()
            state = State(done * h, stored["q"], stored["u"], {})
    before, spent, whole = round(scene.release_time / h), [], True
    steps = before + round(scene.seconds / h)
    while True:
        if len(rows) <= done - before:
            rows.append(energies(world, state, rest))
        if rows and not to_the_end and rows[-1][1] > GROWN * rows[0][1]:
            whole = False
            break
        if done == steps:
            break
        if part is not None and spent and time.perf_counter() > until:
            part.parent.mkdir(parents=True, exist_ok=True)
            np.savez(part, done=done, rows=np.array(rows).reshape(-1, 2), q=state.q, u=state.u)
            raise TimeIsUp
        began = time.perf_counter()
        try:
            state = replace(world.step(state, h), time=(done + 1) * h)
        except StepFailed:
            whole = False
            break
        spent.append(time.perf_counter() - began)
        done += 1
    if part is not None:
        part.unlink(missing_ok=True)
    kinetic, energy = np.array(rows).reshape(-1, 2).T
    return Motion(h * np.arange(len(rows)), kinetic, energy, 1e3 * float(np.median(spent or [0.0])), whole)
