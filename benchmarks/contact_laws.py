"""Compare bounds of a step and barriers on the same impacts. Vanilla FEM, SDIRK2 by Quick.

    python -m benchmarks.contact_laws SCENE

`mat`: a folded mat whose halves hit each other; `balls`: ten balls in a box; scenes of `scenes.touching`.

Bounds: `impacts`, each node moves up to its first contact (continuous collision detection), and `distances`, no node
moves by more than .45 of the smallest distance of its pairs (Chen 2025, Offset Geometric Contact).
Barriers: `log`, the present one, and `cubic`, κ' (1 − d/δ)³ of the same stiffness at half of δ, whose force is finite,
so that only the bound keeps surfaces apart. Measured are the thread's own time, the shortest of four runs, factors, and
the smallest distance at the end.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.contact import RUNS, H, quicker, stepped
from benchmarks.report import claim, emit
from benchmarks.scenes import touching
from solver.contact.find.distance_kernels import DIFFERENCE, SQUARE, squares
from solver.contact.laws.barrier import ActivePairs, Barrier
from solver.errors import ConJacError
from solver.forces.stencils import Stencils
from solver.state import Index, State, Vec
from solver.world.nodes import Nodes

STEPS = 4
FRACTION = 0.45  #: of the least distance
LOOKED_AT = 0.3  #: of a mean edge: pairs that are further apart bound nothing, and no node goes beyond a share of it
LOG_AT_HALF = 15.11  #: slope of the slope of −(s − 1)² ln s, s = (d/δ)², by d/δ at 1/2


class Distances(Barrier):
    """Return the law bounded by distances alone."""

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """Return the largest steps of each node, (n,)."""
        far = LOOKED_AT * self.edge
        near = self.surfaces.find_near_pairs(start, far)
        square = np.empty(len(near.nodes))
        squares(0, len(square), start, near.nodes, near.points, square)
        bound = np.full(len(start), FRACTION * far)
        np.minimum.at(bound, near.nodes, FRACTION * np.sqrt(square)[:, None])
        free = np.ones(len(start), dtype=bool)
        free[self.surfaces.nodes] = False
        bound[free] = np.inf  # nodes inside meet nothing
        least = np.full(int(alike.max()) + 1, 1.0)
        displacement = np.linalg.norm(end - start, axis=1)
        np.minimum.at(least, alike, np.minimum(1.0, bound / np.maximum(displacement, 1e-300)))
        each: Vec = least[alike]
        return each

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the largest step of all."""
        return float(self.largest_steps(start, end, np.zeros(len(start), dtype=np.int32)).min())


class Cubic(Barrier):
    """W = Σ κ δ² LOG_AT_HALF / 3 (1 − d/δ)³."""

    def find_active_pairs(self, x: Vec) -> ActivePairs:
        """Pairs nearer than δ, forces and energy."""
        found = super().find_active_pairs(x)
        left, normals = self._left(found)
        factor = LOG_AT_HALF * found.stiffness
        forces = (factor * found.activation * left**2)[:, None, None] * found.work[:, :4, None] * normals[:, None, :]
        return replace(found, forces=forces, energy=float(np.sum(factor * found.activation**2 * left**3) / 3.0))

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """With what resists along the normal, which is definite."""
        found = self.find_active_pairs(x)
        left, normals = self._left(found)
        size = 2.0 * LOG_AT_HALF * found.stiffness * left
        normal = np.einsum("ki,kj->kij", normals, normals).reshape(-1, 9)
        rows, columns = np.array([1, 2, 2, 3, 3, 3]), np.array([0, 0, 1, 0, 1, 2])
        weights = found.work[:, :4]
        blocks = -(size[:, None] * weights[:, rows] * weights[:, columns])[:, :, None] * normal[:, None, :]
        return Stencils(found.nodes, found.forces, blocks, found.energy)

    @staticmethod
    def _left(found: ActivePairs) -> tuple[Vec, Vec]:
        """1 − d/δ of each pair, and the unit way between its nearest points, which forces push along."""
        distance = np.sqrt(found.work[:, SQUARE])
        return 1.0 - distance / found.activation, found.work[:, DIFFERENCE : DIFFERENCE + 3] / distance[:, None]


LAWS: dict[str, type[Barrier]] = {"log, impacts": Barrier, "log, distances": Distances, "cubic, impacts": Cubic}


def mat(folder: Path) -> tuple[Nodes, State]:
    """Its upper half on the way down."""
    part = touching.folded_mat(folder, H, True)
    state = part.initial_state()
    upper = part.coordinates.positions(state.q, 0.0)[part.coordinates.free, 2] > 0.0
    state.u.reshape(-1, 3)[upper, 2] -= 0.2
    return part, state


def balls(folder: Path) -> tuple[Nodes, State]:
    """Ten in a box."""
    part = touching.balls_in_a_box(folder, 10, 4, H)
    return part, part.initial_state()


SCENES: dict[str, Callable[[Path], tuple[Nodes, State]]] = {"mat": mat, "balls": balls}


def main() -> None:
    scene = sys.argv[1]
    threads.configure(1)
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="conjac-laws-") as name:
        for run in range(RUNS):
            for label, kind in LAWS.items():
                part, state = SCENES[scene](Path(name) / f"{run} {label}".replace(", ", "_"))
                for law in part.contacts:
                    law.__class__ = kind
                try:
                    state, row = stepped(part, state, STEPS)
                except ConJacError as failure:
                    rows[label] = {"gave up": str(failure)}
                    continue
                forces = part.contact_forces(state)
                assert forces is not None
                row["nearest_mm"] = round(1e3 * float(forces[:, 6].min(initial=np.inf)), 6)
                rows[label] = quicker(rows.get(label), row)
    ours = rows["log, impacts"]["ms"]
    claims = [claim(f"log_and_impacts_over_{label.replace(', ', '_and_')}", ours / rows[label]["ms"], "", "<= 1")
              for label in LAWS if label != "log, impacts" and "ms" in rows[label]]
    emit(f"contact_laws.{scene}", claims, {**rows, "steps": STEPS})


if __name__ == "__main__":
    main()
