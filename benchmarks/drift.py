"""Measure the drift of constraints in ten seconds: 1 kg swings on a rod of 1 m from level, steps of 1/96 s.

    python -m benchmarks.drift [--picture]

distance, rope: a block of jelly that a hard *Distance* ties to a place, and ten links of an inextensible rope with the
weight, with the steps of a bake. hard: rows J v = −φ/h, linearised once a step; velocity: rows J v = 0; compliant: α of
1e-6 m/N. And two references: symplectic, of the same α, and acceleration: the differential-algebraic equation by Runge
and Kutta's fourth order, alone and stabilised with ω of 20/s. --picture writes docs/constraints_drift.png.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np
import scipy.sparse as sp

from benchmarks.constraints import world
from benchmarks.holds import part_of, written
from benchmarks.report import claim, emit
from solver import catalogue
from solver.constraints.enforcement.interface import RowSystem
from solver.constraints.points.ends import BodyShape, bind_points
from solver.meshing.grid import box_tets
from solver.state import Vec
from solver.world.nodes import Nodes

H, SECONDS, LENGTH, WEIGHT = 1 / 96, 10.0, 1.0, 9.81
STEPS, LAST = round(SECONDS / H), round(1.0 / H)  #: all, and those of the tenth second
ALPHA, RATE = 1.0e-6, 20.0  #: of the compliant ways [m/N], and of the stabilised accelerations [1/s]
FAR = 1.0e9  #: times as heavy as the weight is what it hangs on
PICTURE = Path(__file__).resolve().parents[1] / "docs" / "constraints_drift.png"
#: line of the picture: row, label
LINES = {"distance": "Hard, as baked", "rope": "Rope, as baked", "hard": "Hard rows, linearised once",
         "velocity": "Rows of velocities", "compliant": "Compliant", "symplectic": "Compliant, symplectic",
         "acceleration": "Accelerations", "stabilised": "Accelerations, stabilised"}
DASHED = {"compliant"}  #: it is off by as much as rows that are linearised once


def rod() -> Any:
    """A distance between two points."""
    rest = np.array([[0.0, 0.0, 0.0], [LENGTH, 0.0, 0.0]])
    none = {"tets": np.zeros((0, 4), np.int32), "skin": np.zeros((0, 3), np.int32), "wires": np.zeros((0, 2), np.int32)}
    ends = [bind_points(BodyShape(str(k), np.array([k]), *none.values()), rest[k:k + 1], rest) for k in (0, 1)]
    return catalogue.find("constraint", "distance").load()(*ends, rest, {"at_most": False}, None)


def by_rows(family: str, key: str, alpha: float, with_value: bool = True) -> Vec:
    """φ after each step of x += h v [m], (steps,), by one of the ways."""
    solver, one = catalogue.find(family, key).load()(), rod()
    x, v = np.array([[0.0, 0.0, 0.0], [LENGTH, 0.0, 0.0]]), np.zeros((2, 3))
    each = np.repeat([FAR, 1.0], 3)
    push = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -WEIGHT])
    off = np.empty(STEPS)
    for step in range(STEPS):
        rows = one.rows(x, 0.0)
        stage = RowSystem(sp.csc_array(sp.diags_array(each)), each * v.ravel() + H * push,
                          lambda rhs: rhs / each[:, None], rows.jacobian(2),
                          rows.value if with_value else np.zeros(1), H, H, velocity=v.ravel())
        v = solver.solve(stage, np.array([alpha])).v.reshape(2, 3)
        x = x + H * v
        off[step] = one.rows(x, 0.0).value[0]
    return off


def by_accelerations(rate: float) -> Vec:
    """Return the drift of the differential-algebraic equation at each step."""
    reference, one = catalogue.find("reference", "acceleration").load()(rate), rod()
    mass, push = np.array([FAR, 1.0]), np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -WEIGHT]])

    def slope(state: Vec) -> Vec:
        x, v = state[:6].reshape(2, 3), state[6:].reshape(2, 3)
        return np.concatenate([v.ravel(), reference.solve(mass, push, one.rows(x, 0.0), v)[0].ravel()])

    state, off = np.array([0.0, 0.0, 0.0, LENGTH, 0.0, 0.0, *np.zeros(6)]), np.empty(STEPS)
    for step in range(STEPS):
        a = slope(state)
        b = slope(state + 0.5 * H * a)
        c = slope(state + 0.5 * H * b)
        d = slope(state + H * c)
        state = state + H / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        off[step] = one.rows(state[:6].reshape(2, 3), 0.0).value[0]
    return off


def distance(folder: Path) -> Vec:
    """Return how far a hard distance is off that a block of jelly of 1 kg swings on, after each step [m], (steps,)."""
    nodes, tets = box_tets((1, 1, 1), (0.1, 0.1, 0.1))
    nodes = nodes + [LENGTH, -0.05, -0.05]
    point = [LENGTH, 0.0, 0.0]
    body = {"name": "Weight", "tets": {"nodes": "arrays/n.npy", "tets": "arrays/t.npy"}, "density": 1000.0,
            "method": {"kind": "vanilla"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 1e5, "poisson_ratio": 0.4}}}
    tie = {"kind": {"kind": "distance"}, "ends": [{"body": "Weight", "point": point},
                                                  {"vertices": "arrays/h.npy", "point": [0.0, 0.0, 0.0]}]}
    part = part_of(written(folder, {"bodies": [body], "constraints": [tie]},
                           {"n": nodes, "t": tets, "h": np.zeros((1, 3))}))
    return stepped(part, lambda x, time: part.constraints[0].rows(x, time).value)


def rope(folder: Path) -> Vec:
    """Return how far that one of ten links is off by most after each step [m], (steps,)."""
    positions = np.zeros((11, 3))
    positions[:, 0] = np.linspace(0.0, LENGTH, 11)
    edges = np.stack([np.arange(10), np.arange(1, 11)], axis=1)
    part = world(folder, positions, edges, np.append(np.zeros(10), 1.0))
    return stepped(part, lambda x, _: np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1) - 0.1)


def stepped(part: Nodes, measured: Any) -> Vec:
    """Return the largest drift after each step of a part, (steps,)."""
    state, off = part.initial_state(), np.empty(STEPS)
    for step in range(STEPS):
        state = part.step(state, H)
        x = part.coordinates.positions(state.q, state.time, state.carrier_motion)
        off[step] = np.abs(measured(x, state.time)).max()
    return off


def draw(found: dict[str, Vec]) -> None:
    """The picture of the manual."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.2, 4.3))
    seconds = H * np.arange(1, STEPS + 1)
    for name, label in LINES.items():
        # the largest so far: what swings through zero would hide the others
        most = np.maximum(np.maximum.accumulate(np.abs(found[name])), 1e-17)
        # what lies on another line is seen between its dashes
        axes.semilogy(seconds, most, label=label, linewidth=1.2, dashes=(6, 4) if name in DASHED else (None, None))
    axes.set_xlabel("s")
    axes.set_ylabel("m off its length, the most so far")
    axes.set_ylim(1e-17, 1.0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--picture", action="store_true", help="write docs/constraints_drift.png")
    chosen = parser.parse_args()
    threads.configure(1)
    with tempfile.TemporaryDirectory(prefix="conjac-drift-") as name:
        found = {"distance": distance(Path(name) / "distance"), "rope": rope(Path(name) / "rope")}
    found |= {"hard": by_rows("enforcement", "hard", 0.0), "velocity": by_rows("enforcement", "hard", 0.0, False),
              "compliant": by_rows("enforcement", "compliant", ALPHA),
              "symplectic": by_rows("reference", "symplectic", ALPHA),
              "acceleration": by_accelerations(0.0), "stabilised": by_accelerations(RATE)}
    if chosen.picture:
        draw(found)
    last = {name: float(np.abs(off[-LAST:]).max()) for name, off in found.items()}
    worst = max(last["distance"], last["rope"])
    emit("drift", [claim("hard_drift", float(f"{worst:.2g}"), "m", "<= 1e-8")],
         {"off_m": {name: {"tenth_second": float(f"{last[name]:.2g}"), "most": float(f"{np.abs(off).max():.2g}")}
                    for name, off in found.items()}})


if __name__ == "__main__":
    main()
