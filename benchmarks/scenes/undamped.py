"""Solution without numerical damping: central differences, with steps that the stiffest element permits.

    python -m benchmarks.scenes.undamped dragon [--seconds 1] [--for 600] [--keep FOLDER]

Where the energy sits in single elements, as in the dragon's after its violent release, SDIRK2 loses it at any step that
can be waited for: at h = 8e-4 a fifth within 0.1 s. Central differences lose none, and tell by the energy whether a
step is too long: a millisecond is taken in at least 100 steps, and anew in twice as many where the energy is not kept.
The curve goes to benchmarks/scenes/references/NAME.json as SDIRK2's does. --for stops after so many seconds, and the
same command with the same --keep goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.scenes.motion import FIRST, rest_energy
from benchmarks.scenes.reference import FOLDER, digest, of
from solver.world.nodes import Nodes

BLOCK, STEPS = 1.0e-3, 100  #: seconds that are accepted or taken anew, and the fewest steps in it
MOST_HALVINGS, CALM = 4, 4  #: of the step, and blocks after which it is doubled again
ENERGY_CHANGE = 3.0e-4  #: of the first energy: so much it may change in a block, to and fro
EVERY = 10  #: blocks from sample to sample of the kept curve


class Undamped:
    """A run that is let go from rest and goes on from where its file ends."""

    def __init__(self, world: Nodes, x: np.ndarray, rest: float, part: Path) -> None:
        """x: where it is let go, (n, 3) [m]. rest: potential energy in balance [J]. part: a file of its own."""
        self.world, self.rest, self.part = world, rest, part
        self.mass = world.mass[:, None]
        self.give = np.zeros_like(self.mass)  #: 1/m, none of nodes that are held
        self.give[world.coordinates.free] = 1.0 / self.mass[world.coordinates.free]
        self.x, self.v, self.halvings, self.calm = x.copy(), np.zeros_like(x), 0, 0
        self.rows = [(0.0, 0.0, world.evaluate(x, 0.0)[1] - rest)]  #: time, kinetic and all energy
        if part.exists():
            with np.load(part) as stored:
                self.x, self.v, self.halvings = stored["x"], stored["v"], int(stored["level"])
                self.rows = [tuple(row) for row in stored["rows"].tolist()]

    def keep(self) -> None:
        self.part.parent.mkdir(parents=True, exist_ok=True)
        np.savez(self.part, x=self.x, v=self.v, level=self.halvings, rows=np.array(self.rows))

    def block(self) -> None:
        """The next millisecond. Raises FloatingPointError where no step keeps the energy."""
        first = self.rows[0][2]
        while True:
            x, v, energy = self._tried(STEPS * 2**self.halvings)
            kinetic = 0.5 * float((self.mass * v * v).sum())
            if abs(kinetic + energy - self.rows[-1][2]) < ENERGY_CHANGE * first:
                break
            self.halvings, self.calm = self.halvings + 1, 0
            if self.halvings > MOST_HALVINGS:
                raise FloatingPointError("no step keeps the energy")
        self.x, self.v, self.calm = x, v, self.calm + 1
        self.rows.append((len(self.rows) * BLOCK, kinetic, kinetic + energy))
        if self.calm >= CALM and self.halvings:
            self.halvings, self.calm = self.halvings - 1, 0

    def _tried(self, steps: int) -> tuple[np.ndarray, np.ndarray, float]:
        """Positions, velocities and potential energy above rest, after so many steps."""
        h, x, v = BLOCK / steps, self.x.copy(), self.v.copy()
        force, energy = self.world.evaluate(x, 0.0)
        for _ in range(steps):
            v += 0.5 * h * force * self.give
            x += h * v
            force, energy = self.world.evaluate(x, 0.0)
            v += 0.5 * h * force * self.give
            if not np.isfinite(energy):
                break
        return x, v, energy - self.rest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--for", type=float, default=np.inf, dest="limit", metavar="SECONDS")
    parser.add_argument("--keep", type=Path, default=FOLDER.parents[2] / "out" / "references")
    chosen = parser.parse_args()
    until = time.perf_counter() + chosen.limit
    threads.configure(None)
    scene = of(chosen.name)
    start = scene.nodes if scene.pulled is None else scene.pulled
    run = Undamped(scene.world("vanilla"), start, rest_energy(scene), chosen.keep / f"{chosen.name}-undamped.npz")
    while len(run.rows) <= round(chosen.seconds / BLOCK):
        run.block()
        if len(run.rows) % EVERY == 1:
            run.keep()
        if time.perf_counter() > until:
            run.keep()
            break
    times, kinetic, energy = np.array(run.rows).T
    if times[-1] <= FIRST:
        return 75
    record = {"scene": digest(scene), "h": BLOCK / STEPS, "method": "central differences", "until": float(times[-1]),
            "liveliness": float(kinetic[times >= FIRST - 1e-9].mean()), "half_life": None, "checks": [],
            "energy_kept_to": float(np.abs(energy / energy[0] - 1.0).max()), "sampled_every": EVERY * BLOCK,
            "kinetic": [float(f"{k:.5g}") for k in kinetic[::EVERY]],
            "energy": [float(f"{e:.5g}") for e in energy[::EVERY]]}
    (FOLDER / f"{chosen.name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0 if times[-1] >= chosen.seconds - 1e-9 else 75


if __name__ == "__main__":
    sys.exit(main())
