"""Measure a step of large meshes: bars of 100k to 1M tetrahedra, multigrid compared with the direct factor.

    python -m benchmarks.scale multigrid           100k to 400k tetrahedra, and how they grow
    python -m benchmarks.scale million             1M
    python -m benchmarks.scale direct              the direct factor up to 400k tetrahedra
    python -m benchmarks.scale direct --direct-1m  with that of 1M tetrahedra, some 6 GB and minutes
    python -m benchmarks.scale poisson             192k tetrahedra of ν = 0.49

Each mesh and method runs in a process of its own, so that its memory is measured alone. Bars of 1 x 1 x 4, six
tetrahedra a cube, ν = 0.45, pinned at one end; ConJac has four dynamic nodes. The first step builds the V-cycle and is
given separately; "processor" is the time of all threads together, which varies less on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import Claim, claim, emit
from benchmarks.run import PARTS
from benchmarks.step import own_peak, spread, watched
from solver import catalogue
from solver.contact.laws.ground_penalty import GroundPenalty
from solver.coordinates.free_nodes import FreeNodes
from solver.forces.elastic import Elastic
from solver.linear.choose import choose
from solver.meshing.grid import box_tets
from solver.meshing.volume import face_parts, tet_volumes
from solver.nonlinear.newton import NewtonDirect
from solver.parts.interface import Mesh
from solver.world.bodies import BodyInWorld, lump_mass
from solver.world.nodes import Nodes

WIDTHS = (16, 20, 26, 35)  #: cubes across a bar: 98k, 192k, 422k and 1.03M tetrahedra
DIRECT_WIDTHS = (16, 20, 26)
H, STEPS, MODULUS, DYNAMIC = 1 / 96, 5, 3e4, 4

Part = tuple[list[Claim], dict[str, Any]]


def make(width: int, method: str, linear: str, poisson: float) -> tuple[Nodes, dict[str, float]]:
    """The bar's world, and what building its parts took [s]."""
    spent, began = {}, time.perf_counter()

    def lap(name: str) -> None:
        nonlocal began
        now = time.perf_counter()
        spent[name], began = now - began, now

    nodes, tets = box_tets((width, width, 4 * width), (0.1, 0.1, 0.4))
    count = len(tets)
    material = catalogue.find("material", "stable_neo_hookean").load()
    elastic = Elastic(nodes, tets, material, material.constants(np.full(count, MODULUS), np.full(count, poisson)))
    volumes = tet_volumes(nodes, tets)
    mass = lump_mass(nodes, tets, volumes, np.full(count, 1000.0))
    lap("elements")
    number, labels = face_parts(tets)
    parts = [np.unique(tets[labels == part]) for part in range(number)]
    lap("parts")
    coordinates = FreeNodes(nodes, np.flatnonzero(nodes[:, 2] == 0.0).astype(np.int32), None)
    dynamic = spread(nodes, DYNAMIC if method == "conjac" else 0)
    solver = choose(linear, (count,))
    mesh = Mesh(elastic.tets, nodes, mass, parts, coordinates, dynamic, MODULUS * float(np.cbrt(6 * volumes.mean())))
    entry = catalogue.find("method", method)
    params = {param.key: param.default for param in entry.params} | {"beta": 1.0, "gamma": 1 / 3}
    condensation = entry.load()(mesh, solver, params)
    lap("condensation")
    body = BodyInWorld("bar", slice(0, len(nodes)), float(np.linalg.norm(np.ptp(nodes, axis=0))), None, None)
    world = Nodes([body], [elastic], coordinates, nodes, mass, np.array([5.0, 0.0, -9.81]),
                  GroundPenalty.nowhere(coordinates.is_free), 1,
                  condensation=condensation, integrator=catalogue.find("integrator", "semi_implicit").load()({}),
                  stage_solver=NewtonDirect({"tolerance": 1e-6, "iterations": 100}), linear=solver)
    lap("world")
    return world, spent


def one(width: int, method: str, linear: str, poisson: float, steps: int) -> dict[str, Any]:
    """Steps of one bar: seconds of each and of their parts, iterations, peak memory."""
    world, built = make(width, method, linear, poisson)
    timed = watched(world)
    state = world.initial_state()
    rows: list[dict[str, float]] = []
    iterations: list[int] = []
    for _ in range(steps):
        timed.ms.clear()
        began, worked = time.perf_counter(), time.process_time()
        state = world.step(state, H)
        rows.append({"step": (time.perf_counter() - began) * 1e3, "processor": (time.process_time() - worked) * 1e3}
                    | timed.ms)
        iterations.append(getattr(world.linear, "taken", 0))
        print(f"{rows[-1]['step'] / 1e3:.2f} s, {iterations[-1]} iterations", file=sys.stderr, flush=True)
    later = rows[1:] or rows
    median = {name: round(float(np.median([row.get(name, 0.0) for row in later])) / 1e3, 3) for name in rows[-1]}
    return {"tets": 24 * width**3, "nodes": len(world.rest), "built_s": {k: round(v, 2) for k, v in built.items()},
            "first_s": round(rows[0]["step"] / 1e3, 3), "step_s": median.pop("step"), "parts_s": median,
            "iterations": iterations, "peak_gb": round(own_peak() * 2**20 / 1e9, 2),
            "tip": [float(a) for a in world.coordinates.positions(state.q, state.time)[-1]]}


def in_own_process(*arguments: Any) -> dict[str, Any]:
    ran = subprocess.run([sys.executable, "-m", "benchmarks.scale", "--one", *map(str, arguments)],
                         stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).resolve().parents[1])
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    print(*arguments, f"{found['step_s']:.2f} s a step, {found['peak_gb']} GB, {found['iterations']}",
          file=sys.stderr, flush=True)
    return found


def main() -> None:
    threads.configure(None)
    if "--one" in sys.argv:
        width, method, linear, poisson, steps = sys.argv[sys.argv.index("--one") + 1 :]
        print(json.dumps(one(int(width), method, linear, float(poisson), int(steps))))
        return

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=PARTS["scale"])
    parser.add_argument("--direct-1m", action="store_true", help="the direct factor of the largest mesh too")
    chosen = parser.parse_args()
    emit(f"scale.{chosen.name}", *MEASURED[chosen.name](chosen))


def direct(chosen: argparse.Namespace) -> Part:
    """Rows of the direct factor."""
    widths = (*DIRECT_WIDTHS, *((WIDTHS[-1],) if chosen.direct_1m else ()))
    return [], {"direct": {f"vanilla {width}": in_own_process(width, "vanilla", "cholmod", 0.45, 2 if width < 30 else 1)
                           for width in widths}}


def poisson(_chosen: argparse.Namespace) -> Part:
    """Rows of what hardly changes its volume."""
    return [], {"poisson_049": {method: in_own_process(WIDTHS[1], method, "multigrid", 0.49, STEPS)
                                for method in ("vanilla", "conjac")}}


def multigrid(_chosen: argparse.Namespace) -> Part:
    """Rows of all sizes but the largest, and how they grow."""
    rows = {f"{method} {width}": in_own_process(width, method, "multigrid", 0.45, STEPS)
            for width in WIDTHS[:-1] for method in ("vanilla", "conjac")}
    size = np.log([rows[f"conjac {width}"]["tets"] for width in WIDTHS[:-1]])
    grows = [float(np.polyfit(size, np.log([rows[f"{method} {width}"]["step_s"] for width in WIDTHS[:-1]]), 1)[0])
             for method in ("vanilla", "conjac")]
    return [claim("exponent", max(grows), "", "<= 1.15")], {"multigrid": rows,
                                                            "exponents": [round(g, 3) for g in grows]}


def million(_chosen: argparse.Namespace) -> Part:
    """Rows of the largest."""
    large = [in_own_process(WIDTHS[-1], method, "multigrid", 0.45, STEPS) for method in ("vanilla", "conjac")]
    return [claim("vanilla_s_1m", large[0]["step_s"], "s", "<= 8"),
            claim("conjac_s_1m", large[1]["step_s"], "s", "<= 30"),
            claim("memory_gb_1m", max(row["peak_gb"] for row in large), "GB", "<= 6"),
            ], {"million": dict(zip(("vanilla", "conjac"), large))}


MEASURED: dict[str, Callable[[argparse.Namespace], Part]] = {"multigrid": multigrid, "million": million,
                                                             "direct": direct, "poisson": poisson}


if __name__ == "__main__":
    main()
