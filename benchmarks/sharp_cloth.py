"""Measure EDGE and LO-RES of Table 2.1: cost of a step of cloth that slides over the edge of a box, by stages.

    python -m benchmarks.sharp_cloth

A square of 1 m of cotton lies on a box and hangs over its edge by 43 cm, which pulls it off; without friction, steps
of 1/96 s, one thread. With Sharp Edges (EOL), and for LO-RES also on the regular mesh, which only bends at its own
edges. Medians of the steps after the first quarter of a second and before it flies off the edge, in thread
milliseconds; columns as in the dissertation's table: most faces, share of vertices that slide, shares of collision
detection, remeshing, filling of matrices and the program. The dissertation's times are from another machine of 2016.

LO-RES is some 2,000 small calls of numpy and kernels a step; the kernels and the factor alone take less than half of
its time. The row has the shares of all stages. Its mesh changes at every step, so pattern, ordering and symbolic factor
are recomputed each time, at a higher cost than the factor itself.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

import solver.parts.eol.remeshing as remeshing
import solver.parts.eol.solving as solving
from benchmarks.cloth import SIDES, clocked, square
from benchmarks.report import claim, emit
from benchmarks.table_2_1 import PAPER
from solver.contact.find.sharp import find_sharp_features
from solver.coordinates.prescribed import Constant
from solver.forces.cloth.corotated_membrane import CorotatedMembrane
from solver.forces.cloth.quadratic_bending import QuadraticBending
from solver.parts.eol.cloth import Cloth
from solver.parts.eol.eol_elements import EolElements
from solver.parts.eol.feature_contacts import FeatureContacts
from solver.parts.eol.obstacles import FeatureObstacles, Obstacle
from solver.parts.eol.sliding_cloth import SlidingCloth
from solver.sheet.limits import RemeshLimits
from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.sizing import Sizing
from solver.state import Index, Vec

CORNERS = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])  #: of a unit box
H, WARM, STEPS, EDGE, OUT = 1 / 96, 24, 12, 0.07, 0.004
STRETCH = {"stretch_warp": 1000.0, "stretch_weft": 1000.0, "shear": 300.0, "poisson_ratio": 0.2}
SCENES = {"EDGE (EOL)": (28, True), "LO-RES (EOL)": (7, True), "LO-RES (reg.)": (11, False)}


def solid(name: str, x: Vec, sides: Index) -> FeatureObstacles:
    """One closed surface that cloth without thickness touches without friction. x: (n, 3) [m], sides: (t, 3)."""
    sharp = find_sharp_features(x, sides, np.pi / 6)
    return FeatureObstacles([Obstacle(name, Constant(x), sides, True, sharp, 0.0, 0.0, 0.0)])


def box() -> FeatureObstacles:
    """Return the box below the cloth: its top is z = 0."""
    low, high = np.array([-1.0, -1.0, -1.0]), np.array([EDGE, 1.0, 0.0])
    return solid("Box", low + CORNERS * (high - low), np.array(SIDES, np.int32))


def scene(cells: int, sharp: bool, obstacles: FeatureObstacles, wide: float = 1.0) -> tuple[SlidingCloth, Cloth]:
    """A cloth of so many cells a side at rest over what it touches; wide: what of it is left along the edge [m]."""
    vertices, triangles = square(cells)
    triangles = triangles[(np.abs(vertices[triangles, 1]) < 0.5 * wide + 1e-9).all(axis=1)]
    used, flat = np.unique(triangles, return_inverse=True)
    vertices, triangles = vertices[used], flat.reshape(-1, 3).astype(np.int32)
    x = vertices + [0.0, 0.0, OUT]
    mesh = SheetMesh.at_rest(x, vertices[:, :2], triangles)
    cotton = EolElements(lambda sheet: CorotatedMembrane(sheet, STRETCH),
                         lambda sheet: QuadraticBending(sheet, {"bending_stiffness": 2e-5}), 0.2, 2e-3)
    longest = 1.5 / cells
    steps = SlidingCloth([cotton], np.array([0.0, 0.0, -9.81]), obstacles, RemeshLimits.of(mesh, 1e-3),
                         Sizing(0.35 * longest, longest), lambda time: np.zeros((0, 3)), sharp=sharp)
    return steps, Cloth.at_rest(mesh, np.zeros(0, int))


@contextmanager
def stages_clocked(steps: SlidingCloth, spent: dict[str, float]) -> Iterator[None]:
    """Inside, seconds of each stage of a step are added to `spent`."""
    timed = [(solving, "detect_tunnelling", "detect"), (remeshing, "inside", "detect"),
            (remeshing, "conform", "remesh"), (remeshing, "adapt", "remesh"), (solving, "cone", "fill")]
    functions = [getattr(file, name) for file, name, _ in timed]
    looked = FeatureContacts.rows
    FeatureContacts.rows = clocked(spent, "detect", looked)  # type: ignore[method-assign]
    for (file, name, key), function in zip(timed, functions):
        setattr(file, name, clocked(spent, key, function))
    solves = steps._solving
    solves.assembler.assemble = clocked(spent, "fill", solves.assembler.assemble)  # type: ignore[method-assign]
    solves.program.solve = clocked(spent, "program", solves.program.solve)  # type: ignore[method-assign]
    try:
        yield
    finally:
        FeatureContacts.rows = looked  # type: ignore[method-assign]
        for (file, name, _), function in zip(timed, functions):
            setattr(file, name, function)


def measured(cells: int, sharp: bool) -> dict[str, Any]:
    """A row of the table."""
    steps, cloth = scene(cells, sharp, box())
    spent = dict.fromkeys(("detect", "remesh", "fill", "program"), 0.0)
    times, faces, fraction, gap = list[float](), 0, 0.0, 0.0
    with stages_clocked(steps, spent):
        for k in range(WARM + STEPS):
            if k == WARM:
                spent.update(dict.fromkeys(spent, 0.0))
            began = time.thread_time()
            cloth = steps.step(cloth, k * H, H)
            if k >= WARM:
                times.append(time.thread_time() - began)
                slides = (cloth.mesh.on >= 0) & ~cloth.free
                faces, fraction = max(faces, len(cloth.mesh.faces)), max(fraction, float(slides.mean()))
                off = np.abs(cloth.mesh.x[slides][:, [0, 2]] - [EDGE, 0.0])
                gap = max(gap, float(off.max(initial=0.0)))
    whole = sum(times)
    return {"faces": faces, "sliding_%": round(100 * fraction, 1), "ms": round(1e3 * statistics.median(times), 2),
            **{f"{key}_%": round(100 * value / whole, 1) for key, value in spent.items()}, "gap_m": gap}


def main() -> None:
    threads.configure(1)
    rows = {name: {**measured(*which), "paper_faces": PAPER[name][0], "paper_ms": PAPER[name][1]}
            for name, which in SCENES.items()}
    edge, low = rows["EDGE (EOL)"], rows["LO-RES (EOL)"]
    emit("sharp_cloth", [claim("edge_ms", edge["ms"], "ms", "<= 40", PAPER["EDGE (EOL)"][1]),
                         claim("lo_res_ms", low["ms"], "ms", "<= 3", PAPER["LO-RES (EOL)"][1]),
                         claim("edge_gap", edge["gap_m"], "m", "<= 1e-6")], {"steps": rows, "step": H})


if __name__ == "__main__":
    main()
