"""Compare fifty ducks in a crate with Newton's vertex block descent, MuJoCo's flexes and Rapier's soft bodies: cost of
a step, convergence, and penetration.

All start from one state, in which ours has let the ducks fall on each other (24 steps of 1/100 s by Quick), with the
same tetrahedra, masses, moduli, friction and step, on one thread of the processor. Two errors are measured alike for
each. `changes`: the distance of the first step's end from that with FINE iterations (of ours NEWTON-D's), relative to
the largest displacement of that step: below CONVERGED a program has converged, and only then its time is compared.
`depth`: the deepest node of a duck in another duck or out of the crate after any step, and whether any edge goes
through any face, by ipctk's exact test.

Newton has contact springs of STIFFNESS and bounds displacements so that separate surfaces remain so; MuJoCo has soft
constraints and takes one linearised step, with St. Venant-Kirchhoff's material; Rapier takes substeps, one for each of
its iterations, with implicit Neo-Hookean tetrahedra and soft contact constraints that it relaxes. None is ours, and all
are in a Python of their own, so that nothing of them enters ConJac's:

    python3.11 -m venv build/peers
    build/peers/bin/pip install newton==1.8.0 warp-lang==1.19.0 mujoco==4.0.0 rapier3d==0.36.1

CONJAC_PEERS names another Python that has them. The row names a missing program, which is not compared. Newton compiles
for minutes at its first run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.contact import stepped
from benchmarks.report import Claim, claim, emit
from benchmarks.scenes import ducks
from solver.meshing.winding import winding_numbers
from solver.state import Index, State, Vec
from solver.world.nodes import Nodes

ROOT = Path(__file__).resolve().parents[1]
COUNT, FALLEN, STEPS, H = 50, 24, 3, 0.01  #: ducks; steps before, and measured ones, of H [s]
HALF, YOUNG, POISSON, FRICTION, NEAR = 0.36, 4e4, 0.45, 0.3, 0.004  #: as `scenes.ducks` has them
STIFFNESS = 1.0e4  #: of Newton's contact springs [N/m]
ITERATIONS = {"newton": (10, 100), "mujoco": (100, 300), "rapier": (4, 40)}
FINE = {"newton": 400, "mujoco": 2000, "rapier": 400}
MODULES = {"newton": "newton", "mujoco": "mujoco", "rapier": "rapier3d"}
CONVERGED = 0.03  #: Quick ends at some 0.02 of its own
SECONDS = 600.0  #: after which a program is given up

Row = dict[str, Any]


def python() -> Path:
    """The one that has the other programs."""
    return Path(os.environ.get("CONJAC_PEERS", ROOT / "build" / "peers" / "bin" / "python"))


def is_there(name: str) -> bool:
    return python().exists() and subprocess.run([python(), "-P", "-c", f"import {MODULES[name]}"],
                                                cwd=python().parent, capture_output=True).returncode == 0


def ran(name: str, folder: Path, scene: Row, iterations: int, steps: int) -> Row | None:
    """Return a program's answer; None where it gave up."""
    given, answer = folder / "scene.npz", folder / "answer.npz"
    np.savez(given, **scene, steps=steps)
    script = str(Path(__file__).with_name("peer_programs.py"))
    try:
        done = subprocess.run([python(), "-P", script, name, given, answer, str(iterations)], timeout=SECONDS,
                              capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return None
    with np.load(answer) as file:
        return {key: file[key] for key in file.files}


def depth(x: Vec, triangles: Index, half: float) -> float:
    """How deep the deepest node of a body is in another one or out of the crate [m].

    x: (b, n, 3) [m]. triangles: of the nodes of one, (t, 3). half: of the crate [m].
    """
    skin = np.unique(triangles)
    beyond = np.concatenate([-x[:, skin, 2], np.abs(x[:, skin, :2]).max(axis=2) - half], axis=1)
    deepest = max(float(beyond.max()), 0.0)
    low, high = x.min(axis=1), x.max(axis=1)
    for k, body in enumerate(x):
        for other in np.flatnonzero(((low < high[k]) & (high > low[k])).all(axis=1)):
            points = x[other][skin]
            points = points[((points > low[k]) & (points < high[k])).all(axis=1)]
            if other != k and len(points):
                points = points[winding_numbers(points, body, triangles) > 0.5]
                if len(points):
                    deepest = max(deepest, float(to_surface(points, body[triangles]).max()))
    return deepest


def to_surface(points: Vec, corners: Vec) -> Vec:
    """Return the distances of points (p, 3) to the nearest of triangles (t, 3, 3), (p,) [m]."""
    nearest = np.full(len(points), np.inf)
    for a, b, c in corners:
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal)
        above, is_over = np.abs((points - a) @ normal), np.ones(len(points), bool)
        for p, q in ((a, b), (b, c), (c, a)):
            is_over &= (points - p) @ np.cross(normal, q - p) >= 0.0
            along = np.clip((points - p) @ (q - p) / ((q - p) @ (q - p)), 0.0, 1.0)
            nearest = np.minimum(nearest, np.linalg.norm(points - p - along[:, None] * (q - p), axis=1))
        nearest = np.where(is_over, np.minimum(nearest, above), nearest)
    return nearest


class Ruler:
    """Measures where ducks stand, the same way for all programs."""

    def __init__(self, part: Nodes, start: Vec) -> None:
        """start: (b, n, 3) [m]."""
        self._surfaces, self._start = part.contacts[0].surfaces, start  # type: ignore[attr-defined]
        self._crate = part.coordinates.positions(part.initial_state().q, 0.0)[start.shape[0] * start.shape[1]:]
        faces = self._surfaces.nodes[self._surfaces.triangles]
        self._triangles = faces[(faces < start.shape[1]).all(axis=1)]

    def of(self, x: Vec) -> Row:
        """x: (steps, b n, 3) [m]."""
        bodies = x.reshape(len(x), *self._start.shape)
        crosses = any(self._surfaces.intersection(np.concatenate([one, self._crate])) is not None for one in x)
        return {"depth_mm": round(1e3 * max(depth(one, self._triangles, HALF) for one in bodies), 4),
                "crosses": "yes" if crosses else "no"}

    def changes(self, first: Vec, fine: Vec) -> float:
        """Return the changes of two places after the first step, (b n, 3)."""
        moved = np.linalg.norm(fine - self._start.reshape(-1, 3), axis=1).max()
        return float(np.linalg.norm(first - fine, axis=1).max() / moved)


def ours(folder: Path, state: State, ruler: Ruler, count: int) -> Row:
    """Backward Euler, which the others take, and a new soft body's SDIRK2."""
    rows, nodes = {}, count * len(ducks.duck()[0])

    def steps(kind: str, solver: str, number: int) -> tuple[Vec, list[Row]]:
        part = ducks.falling(folder / kind / solver, count, H, integrator={"kind": kind}, stage_solver={"kind": solver})
        now, positions, steps_rows = state, [], []
        for _ in range(number):
            now, row = stepped(part, now, 1, H)
            positions.append(part.coordinates.positions(now.q, now.time)[:nodes])
            steps_rows.append(row)
        return np.array(positions), steps_rows

    fine = steps("backward_euler", "newton_d", 1)[0][0]
    for kind in ("backward_euler", "sdirk2"):
        x, steps_rows = steps(kind, "quick", STEPS)
        rows[f"ours, {kind}"] = {"ms": float(np.median([row["ms"] for row in steps_rows])),
                                 "iterations": float(np.mean([row["factors"] for row in steps_rows])),
                                 "changes": ruler.changes(x[0], fine) if kind == "backward_euler" else None,
                                 **ruler.of(x), "contacts": max(row["pairs"] for row in steps_rows)}
    return rows


def theirs(name: str, folder: Path, scene: Row, ruler: Ruler) -> Row:
    """Return the rows of one program, with several numbers of iterations."""
    if not is_there(name):
        return {f"{name}, absent": None}
    fine, rows = ran(name, folder, scene, FINE[name], 1), {}
    for iterations in ITERATIONS[name]:
        found = ran(name, folder, scene, iterations, STEPS)
        if found is None or fine is None:
            rows[f"{name}, {iterations}"] = {"version": "gave up"}
            continue
        more = {key: found[key].item() for key in ("contacts", "iterations_used", "warnings") if key in found}
        rows[f"{name}, {iterations}"] = {"ms": float(np.median(found["ms"])), "iterations": iterations,
                                         "changes": ruler.changes(found["x"][0], fine["x"][0]),
                                         **ruler.of(found["x"]), **more, "version": str(found["version"])}
    return rows


def converged(rows: Row, name: str) -> float | None:
    """The least milliseconds of a step with which a program has converged."""
    times = [row["ms"] for key, row in rows.items()
             if key.startswith(name) and row and row.get("changes", 1.0) <= CONVERGED]
    return min(times, default=None)


def claims_of(rows: Row) -> list[Claim]:
    """Return the programs that may be compared: those that converged."""
    mine = rows["ours, backward_euler"]
    found = [claim("peers_depth_mm", max(row["depth_mm"] for key, row in rows.items() if key.startswith("ours")), "mm",
                   "<= 0")]
    for name in ITERATIONS:
        least = converged(rows, name)
        if least is not None:
            found.append(claim(f"peers_{name}_over_ours", least / mine["ms"], "", ">= 1"))
    return found


def main() -> None:
    threads.configure(1)
    with tempfile.TemporaryDirectory(prefix="conjac-peers-") as name:
        folder = Path(name)
        part = ducks.falling(folder / "heap", COUNT, H)
        state, _ = stepped(part, part.initial_state(), FALLEN, H)
        nodes, tets = ducks.duck()
        count = COUNT * len(nodes)
        x, rest = (part.coordinates.positions(one.q, 0.0)[:count].reshape(COUNT, -1, 3)
                   for one in (state, part.initial_state()))
        ruler = Ruler(part, x)
        scene = {"rest": rest, "x": x, "v": part.velocity(state)[:count].reshape(x.shape),
                 "tets": part.tets[:len(tets)], "mass": part.mass[:len(nodes)], "half": HALF, "young": YOUNG,
                 "poisson": POISSON, "friction": FRICTION, "distance": NEAR, "stiffness": STIFFNESS, "h": H}
        rows = ours(folder, state, ruler, COUNT)
        for program in ITERATIONS:
            rows |= theirs(program, folder, scene, ruler)
            print(rows, file=sys.stderr, flush=True)
    absent = [one for one in ITERATIONS if f"{one}, absent" in rows]
    astray = [one for one in ITERATIONS if one not in absent and converged(rows, one) is None]
    emit("peers", claims_of(rows), {"ducks": COUNT, "nodes": count, "steps": STEPS, "absent": ", ".join(absent) or None,
                                    "did_not_converge": ", ".join(astray) or None, "programs": rows})


if __name__ == "__main__":
    main()
