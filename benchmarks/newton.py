"""Compare stage solvers on the BAR of the dissertation's ch. 5: iterations, factors and time.

    python -m benchmarks.newton                      NEWTON-D, NEWTON-L0 and QLB: what the claims need, 4 to 5 minutes
    python -m benchmarks.newton --all                every stage solver, and variants of how a factor is kept
    python -m benchmarks.newton --variants           the same with E and nu of Table 5.2, two materials in turn, fibers
    python -m benchmarks.newton --factors            Fig. 5.3: how fast meshes of about one node count are factored
    --steps N, --solvers KEY,KEY                     a part of it

The bar has 45 x 15 x 15 nodes (10,125, 51,744 tetrahedra), 7.03 mm apart: 3.00 kg at 1000 kg/m3. E = 2e4, nu = 0.49,
stable Neo-Hookean, quasistatic, no gravity, h = 0.05 s, 5 s. One end is pinned. The other moves rigidly, each 1.25 s
with smooth starts and stops: compressed to 0.75 of the length; stretched to 1.4; bent by 90 degrees along an arc of the
rest length; straightened and twisted by 180 degrees. Solved means |residual| <= 1e-6 (1 N + |residual at the guess|),
largest entries, for all of them; all have the same guess (the last step's velocities) and the same line search.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import replace
from typing import Any

from benchmarks import meshes

from solver import threads  # isort: skip  # first: it sets what numba reads

import numpy as np
import scipy.sparse as sp

from benchmarks.report import claim, emit
from solver import catalogue
from solver.assembly.pattern import Pattern, node_graph
from solver.contact.laws.ground_penalty import GroundPenalty
from solver.coordinates.free_nodes import FreeNodes
from solver.coordinates.prescribed import Motion
from solver.errors import StepFailed
from solver.forces.elastic import Elastic
from solver.forces.fibers import Fibers
from solver.linear.choose import choose
from solver.meshing.grid import box_tets
from solver.meshing.volume import tet_volumes
from solver.nonlinear.bounded_search import BoundedSearch
from solver.nonlinear.newton_frozen import NewtonFrozen
from solver.nonlinear.problem import StageProblem
from solver.nonlinear.reused_factor import ReusedFactor
from solver.parts.interface import Mesh
from solver.state import State
from solver.world.bodies import BodyInWorld, lump_mass
from solver.world.nodes import Nodes

CELLS, CELL, H, STEPS = (44, 14, 14), 0.00703, 0.05, 100
CLAIMED = ("newton_d", "newton_l0", "qlb")
PAPER_D, PAPER_L0 = 3.3, 2.12  #: HYBRID-L1 against NEWTON-D and NEWTON-L0
TIMES = np.array([0.0, 1.25, 2.5, 3.75, 5.0])
POSES = np.array([[1.0, 0.0, 0.0], [0.75, 0.0, 0.0], [1.4, 0.0, 0.0], [1.0, np.pi / 2, 0.0], [1.0, 0.0, np.pi]])
MOST_SECONDS = 400.0  #: of one solver; one that takes longer is said to have been cut


def pose(moment: float) -> np.ndarray:
    """Stretch, bend [rad] and twist [rad] of the moving end."""
    k = min(int(np.searchsorted(TIMES, moment, side="right")) - 1, len(TIMES) - 2)
    fraction = min((moment - TIMES[k]) / (TIMES[k + 1] - TIMES[k]), 1.0)
    fraction = fraction * fraction * (3.0 - 2.0 * fraction)
    return (1.0 - fraction) * POSES[k] + fraction * POSES[k + 1]


def moving_end(moment: float, section: np.ndarray, length: float) -> np.ndarray:
    """Return where the nodes of the end stand, (k, 3). section: (k, 3), about its centre."""
    stretch, bend, twist = pose(moment)
    c, s = np.cos(twist), np.sin(twist)
    turned = section @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]]).T
    c, s = np.cos(bend), np.sin(bend)
    turned = turned @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]).T
    drop = (1.0 - c) / bend if bend > 1e-9 else 0.0
    return turned + stretch * length * np.array([np.sinc(bend / np.pi), 0.0, -drop])


def bar(young: Any = 2e4, poisson: float = 0.49, fibers: float = 0.0) -> Nodes:
    """young: one number, or (soft, stiff) in turns of an eighth of the length. fibers: what aSTVK adds along x [Pa]."""
    nodes, tets = box_tets(CELLS, tuple(CELL * cells for cells in CELLS))
    nodes = np.ascontiguousarray(nodes - [0.0, CELL * CELLS[1] / 2, CELL * CELLS[2] / 2])
    length = float(nodes[:, 0].max())
    slices = (8 * nodes[tets].mean(axis=1)[:, 0] / length).astype(int) % 2
    material = catalogue.find("material", "stable_neo_hookean").load()
    stiffness = np.broadcast_to(np.asarray(young, float), 2)[slices]
    along = Fibers(catalogue.find("fiber_material", "astvk").load(), np.tile([1.0, 0.0, 0.0], (len(tets), 1)),
                   {"fiber_modulus": np.full(len(tets), fibers)}) if fibers else None
    elastic = Elastic(nodes, tets, material, material.constants(stiffness, np.full(len(tets), poisson)), along)
    pinned = np.flatnonzero((nodes[:, 0] < 1e-9) | (nodes[:, 0] > length - 1e-9)).astype(np.int32)
    moves = nodes[pinned, 0] > 1e-9
    samples = np.repeat(nodes[pinned][None], STEPS + 3, axis=0)
    for k in range(len(samples)):
        samples[k, moves] = moving_end(min(k * H, TIMES[-1]), nodes[pinned][moves] - [length, 0, 0], length)
    volumes = tet_volumes(nodes, tets)
    mass = lump_mass(nodes, tets, volumes, np.full(len(tets), 1000.0))
    coordinates = FreeNodes(nodes, pinned, Motion(samples, H))
    linear = choose()
    mesh = Mesh(elastic.tets, nodes, mass, [np.arange(len(nodes), dtype=np.int32)], coordinates,
                np.zeros(0, dtype=np.int32), float(stiffness.max()) * CELL)
    full = catalogue.find("method", "vanilla").load()(mesh, linear, {"beta": 1.0})
    integrator = catalogue.find("integrator", "quasistatic").load()({})
    body = BodyInWorld("bar", slice(0, len(nodes)), float(np.linalg.norm(np.ptp(nodes, axis=0))), None, None)
    return Nodes([body], [elastic], coordinates, nodes, mass, np.zeros(3),
                 GroundPenalty.nowhere(coordinates.is_free), 1, condensation=full, integrator=integrator, linear=linear,
                 stage_solver=stage_solver("newton_d"))


class AtTheGuess(ReusedFactor):
    """One factorization at the predicted state, for every step: what an extrapolated factor would be at best."""

    def renew(self, problem: StageProblem, unknowns: np.ndarray, share: float = 1.0) -> None:
        self.forget()
        problem.factors.factor(problem, unknowns, False)
        self._own(problem)


class NewtonAtTheGuess(NewtonFrozen):
    factor = AtTheGuess


#: name in the table: catalogue key or class, and what differs from the defaults
VARIANTS: dict[str, tuple[Any, dict[str, float]]] = {
    "newton_l0, a factor each step": ("newton_l0", {"patience": 0.0}),
    "newton_l1, two factors each step": ("newton_l1", {"patience": 0.0}),
    "newton_l1, at the predicted state": (NewtonAtTheGuess, {"patience": 0.0}),
    "qlb, no pairs": ("qlb", {"memory": 0}),
}


def stage_solver(kind: Any, **changed: float) -> Any:
    """One of the catalogue with the benchmark's rule of when it is done, or a class that takes NEWTON-L0's settings."""
    entry = catalogue.find("stage_solver", kind if isinstance(kind, str) else "newton_l0")
    params = {param.key: param.default for param in entry.params}
    params |= {"tolerance": 1e-6, "force_scale": 1.0, "iterations": 300} | changed
    return (entry.load() if isinstance(kind, str) else kind)(params)


def drive(world: Nodes, solver: Any, steps: int, h: float = H, start: State | None = None,
          cap: float = MOST_SECONDS) -> tuple[dict[str, Any], np.ndarray]:
    """Return its price, and the last positions of the free nodes. start: the world's initial state by default."""
    world.stage_solver = solver
    counts: Counter[str] = Counter()
    search = BoundedSearch.search

    def counted(self: BoundedSearch, *args: Any) -> Any:
        counts["iterations"] += 1
        return search(self, *args)

    each: list[int] = []
    factored = world.linear.factored
    state = world.initial_state() if start is None else start
    BoundedSearch.search = counted  # type: ignore[method-assign]
    failed = ""
    began = time.perf_counter()
    try:
        for k in range(steps):
            before = counts["iterations"]
            state = world.step(replace(state, time=k * h), h)
            each.append(counts["iterations"] - before)
            if time.perf_counter() - began > cap:
                failed = f"cut after {cap:g} s"
                break
    except StepFailed as failure:
        failed = str(failure)
    finally:
        BoundedSearch.search = search  # type: ignore[method-assign]
    seconds = time.perf_counter() - began
    row = {"seconds": round(seconds, 2), "steps": len(each), "iterations": sum(each),
           "factorizations": world.linear.factored - factored, "most_in_a_step": max(each, default=0)}
    return row | ({"stopped": failed} if failed else {}), state.q


def compare(world: Nodes, names: list[str], steps: int, **run: Any) -> dict[str, dict[str, Any]]:
    """Rows by name, each with how far it ends from the first one, as a share of its extent in x. run: as `drive`."""
    rows: dict[str, dict[str, Any]] = {}
    known: np.ndarray | None = None
    for name in names:
        kind, changed = VARIANTS.get(name, (name, {}))
        rows[name], q = drive(world, stage_solver(kind, **changed), steps, **run)
        if known is None:
            known = q
        if rows[name]["steps"] == steps:
            rows[name]["apart"] = float(np.abs(q - known).max() / np.ptp(world.rest[:, 0]))
        print(name, rows[name], file=sys.stderr, flush=True)
    return rows


def claims_of(rows: dict[str, dict[str, Any]], steps: int) -> list[Any]:
    """NEWTON-D and NEWTON-L0 over the fastest that solved every step."""
    solved = {name: row["seconds"] for name, row in rows.items() if row["steps"] == steps}
    best = min(solved, key=lambda name: solved[name])
    out = [claim("bar_seconds", solved[best], f"s with {best}", "<= 60")]
    for id, name, goal, paper in (("newton_d_over_best", "newton_d", ">= 4", PAPER_D),
                                  ("newton_l0_over_best", "newton_l0", ">= 1", PAPER_L0)):
        if name in solved:
            out.append(claim(id, solved[name] / solved[best], "", goal, paper))
    return out


def separate(count: int) -> tuple[np.ndarray, int]:
    """Tetrahedra that share nothing."""
    return np.arange(count // 4 * 4, dtype=np.int32).reshape(-1, 4), count // 4 * 4


def joined(count: int) -> tuple[np.ndarray, int]:
    """Tetrahedra in a chain, each sharing one node with the next."""
    first = 3 * np.arange((count - 1) // 3, dtype=np.int32)
    return first[:, None] + np.arange(4, dtype=np.int32), 3 * len(first) + 1


def factor_speed(tets: np.ndarray, count: int) -> dict[str, float]:
    """Median milliseconds of a factorization of the graph's Laplacian in 3 x 3 blocks, shifted."""
    linear, graph = choose(), node_graph(tets, count)
    pattern = Pattern(tets, linear.order(graph), count)
    degree = np.asarray(graph.sum(axis=0)).ravel()
    lower = sp.tril(sp.kron((sp.diags(degree + 1.0) - graph).tocsc()[pattern.order][:, pattern.order],
                            np.eye(3) + 0.1, format="csc"), format="csc")
    lower.sort_indices()
    linear.analyse(lower, 0)
    times = []
    for _ in range(6):
        began = time.perf_counter()
        linear.factor(lower)
        times.append((time.perf_counter() - began) * 1e3)
    return {"nodes": count, "tets": len(tets), "neighbours": round(float(degree.mean()), 1),
            "ms": round(float(np.median(times[1:])), 2)}


def factors() -> dict[str, dict[str, float]]:
    """Fig. 5.3: from separate tetrahedra to a dense block."""
    count, bodies = 8000, {}
    if meshes.is_there("tets/dragon.npz") and meshes.is_there("tets/bunny.npz"):
        bodies = {name: meshes.tetrahedra(name)[1] for name in ("dragon", "bunny")}
        count = int(bodies["dragon"].max()) + 1
    side = round(count ** (1 / 3)) - 1
    bodies["block"] = box_tets((side, side, side), (1.0, 1.0, 1.0))[1]
    rows = {"separate": factor_speed(*separate(count)), "joined by nodes": factor_speed(*joined(count))}
    return rows | {name: factor_speed(tets, int(tets.max()) + 1) for name, tets in bodies.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for option in ("all", "variants", "factors"):
        parser.add_argument(f"--{option}", action="store_true")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--solvers", default=",".join(CLAIMED))
    chosen = parser.parse_args()
    threads.configure(None)
    names = chosen.solvers.split(",")
    if chosen.all:
        names = [*catalogue.family("stage_solver"), *VARIANTS]
    details: dict[str, Any] = {"bar": compare(bar(), names, chosen.steps)}
    if chosen.variants:
        for name, changed in {"E 6e3": {"young": 6e3}, "E 5e4": {"young": 5e4}, "E 1e5": {"young": 1e5},
                              "nu 0.42": {"poisson": 0.42}, "E 8e3, 2e4": {"young": (8e3, 2e4)},
                              "fibers 4e4": {"fibers": 4e4}}.items():
            details[f"bar, {name}"] = compare(bar(**changed), list(CLAIMED), chosen.steps)
    if chosen.factors:
        details["factors"] = factors()
    emit("newton", claims_of(details["bar"], chosen.steps), details)


if __name__ == "__main__":
    main()
