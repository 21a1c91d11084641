"""Measure a step: Vanilla and ConJac with 0 to 10 dynamic nodes, and the factor's speed relative to dgemm.

On the dragon (where the shared meshes are) and on a grid of 18 x 18 x 32 nodes; all in one process, methods taking
turns, medians. Peak memory is that of a process of its own that steps the dragon with ten dynamic nodes.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import meshes

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from solver import catalogue
from solver.contact.laws.ground_penalty import GroundPenalty
from solver.coordinates.free_nodes import FreeNodes
from solver.forces.elastic import Elastic
from solver.linear.choose import choose
from solver.meshing.grid import box_tets
from solver.meshing.volume import face_parts, tet_volumes
from solver.parts.interface import Mesh
from solver.world.bodies import BodyInWorld, lump_mass
from solver.world.nodes import Nodes

GRID_GFLOP = 13.9  #: of a factorization in METIS's order, whatever order is used
PAPER = {4: 1.2, 10: 1.4}
H, WARM, STEPS = 1 / 96, 3, 15


def make(nodes: np.ndarray, tets: np.ndarray, method: str, dynamic: np.ndarray, solver: str = "auto",
         integrator: str = "semi_implicit", stage_solver: str = "newton_d") -> Nodes:
    """E = 3e4, ν = 0.49, ρ = 1000; the lowest tenth of the height is pinned. solver: the linear one."""
    material = catalogue.find("material", "stable_neo_hookean").load()
    count = len(tets)
    elastic = Elastic(nodes, tets, material, material.constants(np.full(count, 3e4), np.full(count, 0.49)))
    volumes = tet_volumes(nodes, tets)
    mass = lump_mass(nodes, tets, volumes, np.full(count, 1000.0))
    low, high = nodes[:, 2].min(), nodes[:, 2].max()
    pinned = np.flatnonzero(nodes[:, 2] < low + 0.1 * (high - low)).astype(np.int32)
    coordinates = FreeNodes(nodes, pinned, None)
    parts_of = face_parts(tets)
    parts = [np.unique(tets[parts_of[1] == k]) for k in range(parts_of[0])]
    linear = choose(solver)
    mesh = Mesh(elastic.tets, nodes, mass, parts, coordinates, dynamic.astype(np.int32),
                3e4 * float(np.cbrt(6 * volumes.mean())))
    def found(family: str, key: str, **more: float) -> Any:
        entry = catalogue.find(family, key)
        return entry.load(), {param.key: param.default for param in entry.params} | more

    condensed, params = found("method", method, beta=1.0, gamma=1 / 3)
    condensation = condensed(mesh, linear, params)
    stepped, params = found("integrator", integrator)
    stages, by_default = found("stage_solver", stage_solver)
    body = BodyInWorld("body", slice(0, len(nodes)), float(np.linalg.norm(np.ptp(nodes, axis=0))), None, None)
    return Nodes([body], [elastic], coordinates, nodes, mass, np.array([0.0, 0.0, -9.81]),
                 GroundPenalty.nowhere(coordinates.is_free), 1,
                 condensation=condensation, integrator=stepped(params), stage_solver=stages(by_default), linear=linear)


def spread(nodes: np.ndarray, count: int) -> np.ndarray:
    """Dynamic nodes far from each other and from the pinned foot, the same first ones for every count."""
    low, high = nodes[:, 2].min(), nodes[:, 2].max()
    free = np.flatnonzero(nodes[:, 2] > low + 0.2 * (high - low))
    chosen: list[int] = []
    away = np.full(len(free), np.inf)
    for _ in range(count):
        pick = int(np.argmax(np.where(np.isinf(away), nodes[free, 2], away)))
        chosen.append(int(free[pick]))
        away = np.minimum(away, np.linalg.norm(nodes[free] - nodes[chosen[-1]], axis=1))
    return np.array(chosen, dtype=np.int32)


class Timed:
    """Adds up the time that named methods of objects take."""

    def __init__(self) -> None:
        self.ms: dict[str, float] = defaultdict(float)

    def watch(self, owner: Any, method: str, name: str) -> None:
        inner: Callable[..., Any] = getattr(owner, method)

        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return inner(*args, **kwargs)
            finally:
                self.ms[name] += (time.perf_counter() - began) * 1e3

        setattr(owner, method, timed)


def watched(world: Nodes) -> Timed:
    timed = Timed()
    for elastic in world.elastic:
        timed.watch(elastic, "fill", "elements")
    timed.watch(world.condensation.pattern, "gather", "scatter")
    timed.watch(world.linear, "factor", "factor")
    timed.watch(world.linear, "solve", "solve")
    timed.watch(world.linear, "condense", "solve")
    return timed


def measure(nodes: np.ndarray, tets: np.ndarray, counts: list[int | None]) -> dict[str, dict[str, float]]:
    """Medians in ms of a step and its parts, by method; the methods take turns so that all see the same machine."""
    worlds = [make(nodes, tets, "vanilla" if n is None else "conjac", spread(nodes, n or 0)) for n in counts]
    timers = [watched(world) for world in worlds]
    states = [world.initial_state() for world in worlds]
    rows: list[list[dict[str, float]]] = [[] for _ in counts]
    for turn in range(WARM + STEPS):
        for k, world in enumerate(worlds):
            timers[k].ms.clear()
            began = time.perf_counter()
            states[k] = world.step(states[k], H)
            whole = (time.perf_counter() - began) * 1e3
            if turn >= WARM:
                spent = dict(timers[k].ms)
                rows[k].append(spent | {"step": whole, "other": whole - sum(spent.values())})
    names = ["vanilla" if n is None else f"conjac {n}" for n in counts]
    return {name: {key: round(float(np.median([one.get(key, 0.0) for one in many])), 2)
                   for key in ("step", "elements", "scatter", "factor", "solve", "other")}
            for name, many in zip(names, rows)}


@contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """All cores for dgemm, which the solver itself does not use."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(count):
        yield


def dgemm_gflops(cores: int) -> float:
    """The machine's dense speed on all cores, the best of five."""
    n = 1500
    a, b = np.random.default_rng(0).normal(size=(2, n, n))
    best = np.inf
    with blas_threads(cores):
        for _ in range(6):
            began = time.perf_counter()
            a @ b
            best = min(best, time.perf_counter() - began)
    return 2 * n**3 / best / 1e9


def own_peak() -> float:
    """Peak resident memory of this program [MB]. getrusage's also counts what stood in the process before it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return float(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM"))) / 1024


def peak_memory() -> float:
    """Peak resident memory [MB] of a process that steps the dragon with ten dynamic nodes."""
    ran = subprocess.run([sys.executable, "-m", "benchmarks.step", "--memory"], capture_output=True, text=True,
                         check=True, cwd=Path(__file__).resolve().parents[1])
    return float(json.loads(ran.stdout.splitlines()[-1])["peak_mb"])


def main() -> None:
    threads.configure(None)
    if "--memory" in sys.argv:
        nodes, tets = meshes.tetrahedra("dragon")
        world = make(nodes, tets, "conjac", spread(nodes, 10))
        state = world.initial_state()
        for _ in range(3):
            state = world.step(state, H)
        print(json.dumps({"peak_mb": own_peak()}))
        return

    import numba

    cores = numba.get_num_threads()
    grid_nodes, grid_tets = box_tets((17, 17, 31), (0.17, 0.17, 0.31))
    gflops = [dgemm_gflops(cores)]
    grid = measure(grid_nodes, grid_tets, [None])
    gflops.append(dgemm_gflops(cores))
    ratio = GRID_GFLOP / (grid["vanilla"]["factor"] / 1e3) / max(gflops)
    details: dict[str, Any] = {"grid": grid, "dgemm_gflops": [round(x, 1) for x in gflops]}
    claims = [claim("grid_factor_over_dgemm", ratio, "", ">= 0.3")]
    if meshes.is_there("tets/dragon.npz"):
        rows = measure(*meshes.tetrahedra("dragon"), [None, 0, 2, 4, 6, 8, 10])
        details["dragon"] = rows
        vanilla = rows["vanilla"]
        claims += [
            claim(f"conjac_over_vanilla_nd{n}", rows[f"conjac {n}"]["step"] / vanilla["step"], "", goal, PAPER[n])
            for n, goal in ((4, "<= 1.08"), (10, "<= 1.23"))
        ]
        claims += [
            claim("vanilla_ms", vanilla["step"], "ms", "<= 100"),
            claim("fill_ms", vanilla["elements"] + vanilla["scatter"], "ms", "<= 10"),
            claim("peak_memory_mb", peak_memory(), "MB", "<= 700"),
        ]
    else:
        details["dragon"] = "the mesh is missing"
    emit("step", claims, details)


if __name__ == "__main__":
    main()
