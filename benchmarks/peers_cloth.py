"""Compare cloth that falls on a box with Blender's node cloth: cost of a frame, and accuracy.

    python -m benchmarks.peers_cloth

The sheet of `prices.drape` with CELLS² squares, 48 frames at 24 a second, each with its own defaults. `ms` is processor
milliseconds of a frame, the mean of all; `crosses` the number of frames in which an edge goes through a face of sheet
or box, by ipctk's exact test; `depth_mm` the depth of the deepest vertex in the box, `stretch` the longest edge
relative to its rest length, in any frame. `changes` measures convergence: the distance of frame COMPARED from that with
FINE times the constraint steps (of ours, with a tenth of *Edge Left*), relative to the largest displacement until then.

*Cloth Dynamics* ships with Blender 5.3, and 5.2.3 has it too, in a Python of its own, so that nothing of it enters
ConJac's:

    python3.13 -m venv build/peers53 && build/peers53/bin/pip install bpy==5.3.0

CONJAC_BPY53 names another Python that has it. If it is missing, the row says so. Rapier's soft bodies are in `peers`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks import cloth
from benchmarks.report import Claim, claim, emit
from solver.build.world import build
from solver.job.load import load
from solver.simulate import Timeline, advance_frame
from solver.state import Vec
from solver.world.nodes import Nodes

ROOT = Path(__file__).resolve().parents[1]
CELLS, FRAMES, FPS, ABOVE = 60, 48, 24.0, 0.05
COMPARED, FINE = 6, 10  #: frame in which it has met the box and has hardly buckled; constraint steps over the default's
STEPS = (15, 150)  #: constraint steps: the default, and ten times it
MASS, RADIUS = 0.15, 0.002  #: of the sheet [kg], distance at which it collides [m]
SECONDS = 600.0  #: after which the program is given up

Row = dict[str, Any]


def python() -> Path:
    """Return the Python that has bpy 5.3."""
    return Path(os.environ.get("CONJAC_BPY53", ROOT / "build" / "peers53" / "bin" / "python"))


class Ruler:
    """Measures a sheet over the box."""

    def __init__(self, part: Nodes) -> None:
        self._surfaces = part.contacts[0].surfaces  # type: ignore[attr-defined]
        self.vertices, self.triangles = cloth.square(CELLS)
        self._count = len(self.vertices)
        self._box = part.coordinates.positions(part.initial_state().q, 0.0)[self._count:]
        sides = self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        self._edges = np.unique(np.sort(sides, axis=1), axis=0)
        self._rest = self._lengths(self.vertices)

    def _lengths(self, x: Vec) -> Vec:
        lengths: Vec = np.linalg.norm(x[self._edges[:, 0]] - x[self._edges[:, 1]], axis=1)
        return lengths

    def of(self, x: Vec) -> Row:
        """Return what is measured of places after each frame, (frames, n, 3) [m]."""
        low, high = cloth.BOX.min(axis=0), cloth.BOX.max(axis=0)
        inside = np.minimum(x - low, high - x).min(axis=2)
        crossed = [self._surfaces.intersection(np.concatenate([one, self._box])) is not None for one in x]
        return {"crosses": sum(crossed), "depth_mm": round(1e3 * max(float(inside.max()), 0.0), 3),
                "stretch": round(max(float((self._lengths(one) / self._rest).max()) for one in x), 3)}

    def changes(self, x: Vec, fine: Vec) -> float:
        """Return how far one frame is from another of the same time, (n, 3) [m], over the largest move."""
        moved = np.linalg.norm(fine - self.vertices - [0.0, 0.0, ABOVE], axis=1).max()
        return float(np.linalg.norm(x - fine, axis=1).max() / moved)


def ours(part: Nodes, frames: int) -> tuple[Vec, float]:
    """Return places after each frame, (frames, n, 3) [m], and thread milliseconds of a frame."""
    timeline, state, positions = Timeline(1, FRAMES, FPS, cloth.H, FRAMES, largest_deformation=0.5), \
        part.initial_state(), []
    count, began = (CELLS + 1) ** 2, time.thread_time()
    for frame in range(2, frames + 1):
        state = advance_frame(part, state, timeline, frame)  # type: ignore[arg-type]
        positions.append(part.coordinates.positions(state.q, state.time)[:count])
    return np.array(positions), 1e3 * (time.thread_time() - began) / len(positions)


def solved_further(folder: Path) -> Nodes:
    """Return the world of a job with a tenth of *Edge Left*."""
    scene = json.loads((folder / "scene.json").read_text(encoding="utf-8"))
    scene["stage_solver"] = {"kind": "newton_visible", "params": {"edge_left": 3e-4}}
    (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
    part = build(load(folder), lambda *_: None)[0].parts[0]
    assert isinstance(part, Nodes)
    return part


def theirs(folder: Path, ruler: Ruler, steps: int, frames: int) -> dict[str, Any] | None:
    """Return what the program answered with so many constraint steps; None where it gave up."""
    return answer(folder, steps, vertices=ruler.vertices + [0.0, 0.0, ABOVE], triangles=ruler.triangles, box=cloth.BOX,
                  sides=np.array(cloth.SIDES), frames=frames, mass=MASS, radius=RADIUS)


def answer(folder: Path, steps: int, **given: Any) -> dict[str, Any] | None:
    """Return what the program answered of a scene, as `peer_cloth_program` has it; None where it gave up."""
    given_path, answered = folder / "given.npz", folder / "answer.npz"
    np.savez(given_path, **given)
    script = str(Path(__file__).with_name("peer_cloth_program.py"))
    try:
        subprocess.run([python(), "-P", script, given_path, answered, str(steps)], timeout=SECONDS, check=True,
                       capture_output=True, text=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as failure:
        print(failure.stderr, file=sys.stderr)
        return None
    with np.load(answered) as file:
        return {key: file[key] for key in file.files}


def beside(folder: Path, ruler: Ruler) -> dict[str, Row]:
    """Return rows of the program by its constraint steps."""
    rows: dict[str, Row] = {}
    fine = theirs(folder, ruler, FINE * max(STEPS), COMPARED)
    for steps in STEPS:
        found = theirs(folder, ruler, steps, FRAMES)
        if found is None or fine is None:
            rows[f"node cloth, {steps}"] = {"version": "gave up"}
            continue
        rows[f"node cloth, {steps}"] = {"ms": float(found["ms"][1:].mean()), **ruler.of(found["x"][1:]),
                                        "changes": ruler.changes(found["x"][COMPARED - 1], fine["x"][COMPARED - 1]),
                                        "version": str(found["version"])}
    return rows


def main() -> None:
    threads.configure(1)
    with tempfile.TemporaryDirectory(prefix="conjac-peers-cloth-") as name:
        folder = Path(name) / "job"
        part = cloth.world(folder, CELLS, (cloth.BOX, np.array(cloth.SIDES, np.int32)))
        ruler = Ruler(part)
        positions, spent = ours(part, FRAMES)
        fine, _ = ours(solved_further(folder), COMPARED)
        mine: Row = {"ms": spent, **ruler.of(positions), "changes": ruler.changes(positions[COMPARED - 2], fine[-1])}
        is_there = python().exists()
        rows = {"ours": mine} | (beside(Path(name), ruler) if is_there else {})
    made: list[Claim] = [claim("peers_cloth_crosses", mine["crosses"], "frames", "<= 0"),
                         claim("peers_cloth_stretch", mine["stretch"], "of an edge's length", "<= 1.06")]
    emit("peers_cloth", made, {"vertices": (CELLS + 1) ** 2, "absent": None if is_there else "node cloth",
                               "programs": rows})


if __name__ == "__main__":
    main()
