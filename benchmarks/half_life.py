"""Compare half-lives of wobbles with the setting *Wobble Half-Life*, for each integrator of the front and each step.

Three bodies are let go from their slowest wobble, bent by 3 % of their size: a bar between two held ends, an ear
that is held at its foot, and a block that flies freely. A half-life of 0.75 s is asked for. What is got is how fast the
height falls in that wobble, moved and moving, from the first step to one half-life later. `half_life_error` is the
worst |got − asked| / asked.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from benchmarks.report import claim, emit
from benchmarks.scenes.scene import NONE, Scene
from solver.errors import StepFailed
from solver.meshing.grid import box_tets
from solver.parts.nodes.full import Full
from solver.simulate import advance
from solver.world.nodes import Nodes

HALF_LIFE, BENT = 0.75, 0.03  #: [s]; of the largest side
STEPS = (1 / 50, 1 / 100, 1 / 200)  #: the scenes' frames are 1/25 s
QUICK: dict[str, Any] = {"kind": "quick"}
TIGHT: dict[str, Any] = {"kind": "qlb", "params": {"tolerance": 1e-6}}
#: those that docs/integrators.md names for what lives on
FRONT: dict[str, tuple[str, dict[str, Any]]] = {
    "SDIRK2, Quick": ("sdirk2", QUICK), "SDIRK2, QLB": ("sdirk2", TIGHT), "Semi-Implicit SDIRK2": ("ssdirk2", QUICK),
    "BDF2, Quick": ("bdf2", QUICK), "TR-BDF2, QLB": ("tr_bdf2", TIGHT), "Implicit Midpoint, QLB": ("midpoint", TIGHT)}
RIGID = 1.0e-6  #: of the fastest wobble that is looked at, in ω²


def bodies() -> dict[str, Scene]:
    """Each wobbles at 2 to 4 Hz."""
    found = {}
    for name, cells, size, young, ends in (("bar", (14, 3, 4), (0.7, 0.15, 0.2), 2.0e4, 2),
                                           ("ear", (3, 2, 8), (0.12, 0.06, 0.3), 6.0e4, 1),
                                           ("block", (5, 4, 3), (1.0, 0.8, 0.6), 1.0e5, 0)):
        nodes, tets = box_tets(cells, size)
        axis = int(np.argmax(size))
        sides = [nodes[:, axis] < 1e-9, nodes[:, axis] > size[axis] - 1e-9][:ends]
        pinned = np.flatnonzero(np.any(sides, axis=0)).astype(np.int32) if ends else NONE
        found[name] = Scene(nodes, tets, pinned, lambda count: NONE, (0,), young, 0.4, gravity=(0.0, 0.0, 0.0),
                            damping={"wobble_half_life": HALF_LIFE})
    return found


class Slowest:
    """The slowest wobble of a world's rest shape, found here once more, without what the product has found."""

    def __init__(self, world: Nodes) -> None:
        lin = world.linearise_at(world.rest, None, 0.0, False)
        free, whole = world.coordinates.free, world.condensation
        assert isinstance(whole, Full)
        whole.pattern.gather(lin.blocks, lin.node_blocks, -1.0, np.zeros(len(world.rest)))
        lower = whole.pattern.matrix()
        rows = (3 * whole.pattern.position[free][:, None] + np.arange(3)).ravel()
        stiffness = (lower + sp.tril(lower, -1).T).tocsr()[rows][:, rows].tocsc()
        self._mass = np.repeat(world.mass[free], 3)
        squares, modes = sla.eigsh(stiffness, k=10, M=sp.diags(self._mass).tocsc(), sigma=-1.0)
        first = int(np.flatnonzero(squares > RIGID * squares.max())[0])
        self.mode, self._square = modes[:, first], float(squares[first])
        self._rest = world.rest[free].ravel()

    @property
    def hertz(self) -> float:
        return float(np.sqrt(self._square) / (2.0 * np.pi))

    def height(self, q: np.ndarray, u: np.ndarray) -> float:
        """Return the height of the wobble, however far it has moved and is moving."""
        along = self._mass * self.mode
        return float(np.hypot(along @ (q - self._rest), along @ u / np.sqrt(self._square)))


def got(scene: Scene, integrator: str, stage_solver: dict[str, Any], h: float) -> tuple[float, float, list[str]]:
    """Seconds in which the height is halved, the wobble's frequency [Hz], and what the log says. Raises StepFailed."""
    world = scene.world("vanilla", integrator=integrator, stage_solver=stage_solver, step=h)
    slowest, state = Slowest(world), world.initial_state()
    bend = BENT * float(np.ptp(scene.nodes, axis=0).max()) / np.abs(slowest.mode).max()
    state, heights = replace(state, q=state.q + bend * slowest.mode), []
    for _ in range(round(HALF_LIFE / h)):
        state = advance(world, state, h, 1)
        heights.append(slowest.height(state.q, state.u))
    fall = np.polyfit(h * np.arange(len(heights)), np.log(heights), 1)[0]
    return -float(np.log(2.0) / fall), slowest.hertz, [note for note in world.notes if "Half-Life" in note]


def main() -> None:
    threads.configure(1)
    rows: dict[str, dict[str, Any]] = {}
    for name, scene in bodies().items():
        rows[name] = {}
        for label, (integrator, stage_solver) in FRONT.items():
            for h in STEPS:
                key = f"{label}, 1/{round(1 / h)} s"
                try:
                    seconds, hertz, notes = got(scene, integrator, stage_solver, h)
                    row: dict[str, Any] = {"hertz": round(hertz, 3), "half-life": round(seconds, 3),
                                           "error": round(abs(seconds - HALF_LIFE) / HALF_LIFE, 3)}
                except StepFailed as failure:
                    row, notes = {"failed": str(failure), "error": float("inf")}, []
                rows[name][key] = row
                print(name, key, row, *notes, file=sys.stderr, flush=True)
    worst = max(row["error"] for body in rows.values() for row in body.values())
    emit("half_life", [claim("half_life_error", worst, "of what was asked", "<= 0.2")], rows)


if __name__ == "__main__":
    main()
