"""Measure violent motion and impacts with the settings of new bodies, as artists use them.

    python -m benchmarks.prices PART

`violent`: the dragon, plucked, SDIRK2 by Quick at 1/48 s: seconds of one thread for a simulated second. While it moves
most, a stage takes 2 factors, 10 iterations and 18 evaluations: 53, 6 and 4 ms each, of which assembly of the matrix is
a third, and elements and their sums over nodes are nearly all of an evaluation. docs/integrators.md, "What a violent
step costs", lists what was tried.
`drape`: a sheet of 1 m² with 10,201 vertices that falls 5 cm onto a box half as wide, 48 frames at 24 a second in steps
of 1/96 s. `drape_10k_s` is seconds of one thread for a frame, the mean of frames 4 to 13 in which it lands; also given
are the cost of these relative to the last ten, the largest stretch of an edge in any frame, and frames in which a face
is crossed, by ipctk's exact test. A step costs some 80 ms for each factor with the assembly before it, and 20 ms for
each solve with the evaluation after it. A stage that buckles everywhere took 30 to 77 iterations and 11 to 30 factors:
it continued until the worst of 30,000 edges was at rest, by steps of a millionth of its energy. Now it ends when the
root mean square of all edges is at rest (`ContactIterations.usual`): a frame of four steps takes 16 to 41 iterations,
13 to 39 factors, where it took 159 to 251 and 60 to 97. The mean height of the sheet is a tenth of a millimetre from
that of stages with a tolerance three times as tight. The rest are impacts, in which some seven iterations detect the
pairs, and folds that flip. Both diagonals of quads and groups of bodies do not matter here: the sheet has no quads and
is one body. Two fifths of a landing frame went into friction's iterations, 20 a stage and up to three factors: their
tolerance was below the work that a fold beside the box leaves, while the nodes on which friction acts were converged to
a hundredth of it. They now test these nodes, and take three. Of frames 6 and 7 are then 59 % Newton's iterations, 22 %
a stage's two starts, of which the better one is taken, and 9 % friction; by kinds of work 25 % numeric factors, 15 %
their assembly, 21 % the search for near pairs, 11 % collision times, 8 % solves. Since then, points on the way back
from the second start are tried only if the first start is not the better one. The goal of 1.2 s would be three factors
a step, as the last frames take. Two of these three lower the stage's energy by half a hundredth and less: the remaining
energy is then below the tolerance, but the root mean square of edges is not. Tried: continuing with the last factor
while its direction strains edges half as much as the step before: as many factors, since an old factor has to reach a
thousandth of the energy, and with a larger tolerance a stage ends four times as far from the root as the old factor
estimates. Three lists of near pairs instead of two: a third of all lists are not rebuilt, and a fiftieth of the time is
saved, as cached lists are searched in parts.
`cubes`: 27 cubes of 30 cm and 448 nodes each in three layers 2 cm apart, which fall 10 cm onto a floor and on each
other: seconds of one thread for a frame at 24 a second, the mean of 16, h = 1/48 s. The cubes squash until all touch
their neighbours on all sides: 57,000 pairs, of which half have the same nearest points as others and are linearised
once (`alike_pairs`). A factor of all 36,000 unknowns takes 25 thousand million multiplications, 70 % of an iteration at
the processor's own speed, and stages of frames 6 to 8 take 4 to 7 of them, to detect the pairs. The goal would be one a
stage. By a profile of frames 6 and 7 are 40 % numeric factors, 20 % their assembly and symbolic part, 16 % friction's
iterations, 12 % the search for near pairs, 6 % collision times. The ordering that is reused from pattern to pattern
costs 2 to 10 % more work than METIS' own for each, which takes a fifth of a factor; updating it more often was no
cheaper. A minimum degree ordering costs three times the work.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks import cloth, lively
from benchmarks.lively_scenes import WATCHED
from benchmarks.report import Claim, claim, emit
from benchmarks.scenes import touching
from solver.meshing.grid import box_tets
from solver.simulate import Timeline, advance_frame
from solver.state import Vec
from solver.world.nodes import Nodes

FPS, DRAPED, LANDING, LAST = 24.0, 48, (4, 13), 10
CELLS, CUBE, GAP, FALL, FALLEN = (6, 7, 7), 0.3, 0.02, 0.1, 16
DENSITY, GRAVITY = 1000.0, 9.81

Part = tuple[list[Claim], dict[str, Any]]


def frames(part: Nodes, h: float, count: int, look: Callable[[Vec], None]) -> list[float]:
    """Return the seconds of this thread for each frame. look: called after a frame with all positions, (n, 3) [m]."""
    timeline = Timeline(1, count, FPS, h, count, largest_deformation=0.5)
    state, spent = part.initial_state(), []
    for frame in range(2, count + 1):
        began = time.thread_time()
        state = advance_frame(part, state, timeline, frame)  # type: ignore[arg-type]
        spent.append(time.thread_time() - began)
        look(part.coordinates.positions(state.q, state.time))
        print(f"frame {frame}: {spent[-1]:.2f} s", file=sys.stderr, flush=True)
    return spent


def drape(folder: Path) -> Part:
    """Measure the part `drape`."""
    part = cloth.world(folder, 100, (cloth.BOX, np.array(cloth.SIDES, np.int32)))
    _, triangles = cloth.square(100)
    edges = np.unique(np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
    rest = np.linalg.norm(part.rest[edges[:, 0]] - part.rest[edges[:, 1]], axis=1)
    stretch, crossed = [], []

    def look(x: Vec) -> None:
        stretch.append(float((np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1) / rest).max()))
        crossed.append(part.contacts[0].surfaces.intersection(x) is not None)  # type: ignore[attr-defined]

    spent = frames(part, cloth.H, DRAPED, look)
    landing = float(np.mean(spent[LANDING[0] - 2 : LANDING[1] - 1]))
    over = landing / float(np.mean(spent[-LAST:]))
    return [claim("drape_10k_s", landing, "s a frame", "<= 1.2"), claim("drape_impact_over_last", over, "", "<= 4"),
            claim("drape_stretch", max(stretch), "of an edge's length", "<= 1.06"),
            claim("drape_crosses", sum(crossed), "frames", "<= 0")], {"frames_s": [round(s, 3) for s in spent]}


def cubes(folder: Path) -> Part:
    """Measure the part `cubes`."""
    nodes, tets = box_tets(CELLS, (CUBE, CUBE, CUBE))
    modulus = DENSITY * max(2.5**2, GRAVITY * CUBE / 0.06)  # that of a new body of this size
    bodies = {f"Cube{k}": (nodes + (CUBE + GAP) * np.array([*divmod(k % 9, 3), k // 9]) + [0.0, 0.0, FALL], tets,
                           modulus) for k in range(27)}
    ends = np.array([[-1.0, -1.0, 0.0], [2.0, -1.0, 0.0], [2.0, 2.0, 0.0], [-1.0, 2.0, 0.0]])
    part = touching.made(folder, bodies, {"Floor": (ends, np.array([[0, 1, 2], [0, 2, 3]]))}, 1 / 48, {})
    crossed = []
    spent = frames(part, 1 / 48, FALLEN + 1,
                   lambda x: crossed.append(part.contacts[0].surfaces.intersection(x) is not None))  # type: ignore[attr-defined]
    return [claim("cubes_27_s", float(np.mean(spent)), "s a frame", "<= 1.5"),
            claim("cubes_27_crosses", sum(crossed), "frames", "<= 0")], {"frames_s": [round(s, 3) for s in spent],
                                                                         "nodes": len(nodes)}


def violent(_: Path) -> Part:
    """Measure the part `violent`."""
    watched = WATCHED["dragon"]()
    seen, cost, notes = lively.ran(watched, lively.SETTINGS[lively.DEFAULT], lively.DEFAULT_STEP,
                                   watched.look(watched.scene))
    return [claim("violent_s", cost, "s of one thread for a simulated second", "<= 6")], {
        "seconds": watched.seconds, "ends_at": float(seen[-1] / seen[0]), "notes": notes}


PARTS = {"drape": drape, "cubes": cubes, "violent": violent}


def main() -> None:
    threads.configure(1)
    with tempfile.TemporaryDirectory(prefix="conjac-prices-") as name:
        emit(f"prices.{sys.argv[1]}", *PARTS[sys.argv[1]](Path(name) / "job"))


if __name__ == "__main__":
    main()
