"""Measure many constraints: 1,000 hard rows on the dragon, 100 strands in contact, and filtered gradients of rows.

    python -m benchmarks.holds rows|strands|gradients

rows: one ball constraint holds 334 points of the dragon's skin at fixed positions, with three hard rows each; Vanilla
FEM, Backward Euler by NEWTON-D, thread milliseconds in turns, medians; and the distance of the points from their
positions at the end. Points at nodes leave the unknowns of a step (mass modification), so this is compared with a
dragon on which these nodes are pinned, as both move alike. Points within faces of the skin, of three nodes each, keep
their rows. They are compared with the dragon without them, which has as many unknowns and oscillates, so the time of an
iteration is compared: that of a step divided by its factors.
strands: 100 ropes of 50 nodes, pinned at their upper ends, fall from aslant and swing through each other's positions
with *Collisions*; thread milliseconds a step, median and mean of half a second.
gradients: rows of single nodes removed from the unknowns (`mass_modification`), by filtered conjugate gradients to
1e-6, compared with CHOLMOD's factor of the matrix without these unknowns and its solution, of one step of grids of 98
thousand and of a million tetrahedra. `analysed_s` is the time of the factor's symbolic analysis, once a bake, and
counts in neither.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np
import scipy.sparse as sp

from benchmarks import meshes
from benchmarks.report import claim, emit
from benchmarks.step import own_peak
from solver import catalogue
from solver.assembly.pattern import Pattern, node_graph
from solver.build import point_constraints
from solver.build.world import build
from solver.constraints.enforcement.interface import RowSystem
from solver.constraints.enforcement.mass_modification import MassModification
from solver.forces.elastic import Elastic
from solver.job.load import load
from solver.linear.choose import choose
from solver.meshing.grid import box_tets
from solver.meshing.volume import tet_volumes
from solver.world.bodies import lump_mass
from solver.world.nodes import Nodes

H, WARM, STEPS = 1 / 96, 6, 24
POINTS = 334  #: of the ball, three rows each
STRANDS, LINKS, APART, THICK, LONG = 10, 49, 0.008, 0.002, 0.3  #: of a row of strands, their links, and sizes [m]
SMALL, LARGE = 16, 35  #: cubes across a bar: 98k and 1.03M tetrahedra
ENOUGH = 1.0e-6  #: of the right-hand side: what gradients are asked for


def written(folder: Path, scene: dict[str, Any], arrays: dict[str, Any]) -> Path:
    """A job folder of a second, Backward Euler."""
    (folder / "arrays").mkdir(parents=True)
    for name, value in arrays.items():
        np.save(folder / "arrays" / f"{name}.npy", value)
    whole = {"version": 1, "name": "holds", "time": {"start": 1, "end": 25, "fps": 24, "step": H},
             "integrator": {"kind": "backward_euler"}, **scene}
    (folder / "scene.json").write_text(json.dumps(whole), encoding="utf-8")
    return folder


def part_of(folder: Path) -> Nodes:
    """The one part of a job's world."""
    part = build(load(folder), lambda *_: None)[0].parts[0]
    assert isinstance(part, Nodes)
    return part


def dragon(folder: Path, pinned: np.ndarray, positions: np.ndarray | None) -> Path:
    """A job of the dragon, pinned by its lowest nodes and others, (k,), and tied at places (p, 3) [m], if any, to where
    they are."""
    nodes, tets = meshes.tetrahedra("dragon")
    low = np.flatnonzero(nodes[:, 2] < nodes[:, 2].min() + 0.002)
    body = {"name": "Dragon", "tets": {"nodes": "arrays/n.npy", "tets": "arrays/t.npy"}, "method": {"kind": "vanilla"},
            "pin": {"nodes": "arrays/p.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 3e4, "poisson_ratio": 0.4}}}
    arrays = {"n": nodes, "t": tets, "p": np.union1d(low, pinned).astype(np.int32)}
    ties = []
    if positions is not None:
        point = positions[0].tolist()
        ties = [{"kind": {"kind": "ball"}, "ends": [{"body": "Dragon", "point": point},
                                                    {"vertices": "arrays/h.npy", "edges": "arrays/e.npy",
                                                     "point": point}]}]
        arrays |= {"h": positions, "e": np.stack([np.arange(len(positions) - 1), np.arange(1, len(positions))],
                                              axis=1).astype(np.int32)}
    return written(folder, {"bodies": [body], "constraints": ties}, arrays)


def rows(folder: Path) -> tuple[dict[str, Any], list[Any]]:
    """Return the rows of a dragon with hard rows at nodes and within faces, with pins, and free."""
    nodes, skin = meshes.tetrahedra("dragon")[0], meshes.skin("dragon")
    above = nodes[:, 2] > nodes[:, 2].min() + 0.01
    points, faces = np.unique(skin[above[skin]]), skin[above[skin].all(axis=1)]
    points, faces = (some[np.linspace(0, len(some) - 1, POINTS).astype(int)] for some in (points, faces))
    none = np.zeros(0, np.int32)
    parts = {name: tied_part(dragon(folder / name, pinned, positions), positions) for name, pinned, positions in (
        ("nodes", none, nodes[points]), ("pins", points, None),
        ("faces", none, nodes[faces].mean(axis=1)), ("free", none, None))}
    states = {name: part.initial_state() for name, part in parts.items()}
    times: dict[str, list[float]] = {name: [] for name in parts}
    factors = dict.fromkeys(parts, 0)
    for step in range(WARM + STEPS):
        for name, part in parts.items():
            began, factored = time.thread_time(), part.factored
            states[name] = part.step(states[name], H)
            if step >= WARM:
                times[name].append(1e3 * (time.thread_time() - began))
                factors[name] += part.factored - factored
    ms = {name: statistics.median(each) for name, each in times.items()}
    per_factor = {name: sum(each) / factors[name] for name, each in times.items()}
    x = {name: parts[name].coordinates.positions(states[name].q, states[name].time) for name in ("nodes", "faces")}
    off = {"nodes": x["nodes"][points] - nodes[points], "faces": (x["faces"] - parts["faces"].rest)[faces].mean(axis=1)}
    found = {"rows": 3 * POINTS, **{f"ms_{name}": round(each, 1) for name, each in ms.items()},
             **{f"factors_{name}": round(count / STEPS, 2) for name, count in factors.items()},
             **{f"ms_per_factor_{name}": round(each, 1) for name, each in per_factor.items()},
             **{f"off_m_{name}": float(f"{np.abs(each).max():.2g}") for name, each in off.items()}}
    return found, [claim("hard_rows_share", round(ms["nodes"] / ms["pins"] - 1.0, 3), "", "<= 0.3"),
                   claim("hard_rows_faces_share", round(per_factor["faces"] / per_factor["free"] - 1.0, 3), "",
                         "<= 0.3")]


def tied_part(folder: Path, positions: np.ndarray | None) -> Nodes:
    """The part of a job whose ball is at all these positions, (p, 3) [m]: the panel's ball has one."""
    one_point = point_constraints.points_of
    if positions is not None:
        point_constraints.points_of = lambda one, end: positions
    try:
        return part_of(folder)
    finally:
        point_constraints.points_of = one_point


def strands(folder: Path) -> tuple[dict[str, Any], list[Any]]:
    """Return the row of ropes that touch each other."""
    distance = np.linspace(0.0, LONG, LINKS + 1)
    roots = APART * np.stack(np.meshgrid(np.arange(STRANDS), np.arange(STRANDS)), axis=-1).reshape(-1, 2)
    # each leans by a little more than the one before it, so they meet as they swing
    lean = 0.25 + 0.15 * np.arange(len(roots)) / len(roots)
    positions = np.concatenate([
        np.column_stack([x + distance * np.sin(a), np.full(LINKS + 1, y), -distance * np.cos(a)])
        for (x, y), a in zip(roots, lean)])
    first = (LINKS + 1) * np.arange(len(roots))
    edges = np.concatenate([np.stack([start + np.arange(LINKS), start + np.arange(1, LINKS + 1)], axis=1)
                            for start in first])
    weights = np.zeros(len(positions))
    weights[first] = 1.0
    body = {"name": "Strands", "method": {"kind": "vanilla"}, "pin": {"weights": "arrays/w.npy"},
            "surface": {"vertices": "arrays/v.npy", "triangles": "arrays/t.npy"},
            "rope": {"edges": "arrays/e.npy", "linear_density": 0.005, "bending_stiffness": 1e-6, "thickness": THICK}}
    part = part_of(written(folder, {"bodies": [body], "contact": {}, "stage_solver": {"kind": "newton_visible"}},
                           {"v": positions, "t": np.zeros((0, 3), np.int32), "e": edges.astype(np.int32),
                            "w": weights}))
    state, times = part.initial_state(), []
    for _ in range(2 * STEPS):
        began = time.thread_time()
        state = part.step(state, H)
        times.append(1e3 * (time.thread_time() - began))
    ms = statistics.median(times)
    return ({"median_ms": round(ms, 1), "mean_ms": round(statistics.mean(times), 1), "most_ms": round(max(times), 1),
             "factors": round(part.factored / len(times), 2)}, [claim("strands_step", round(ms, 1), "ms", "<= 60")])


def gradients(folder: Path) -> tuple[dict[str, Any], list[Any]]:
    """Return the row of bars of tetrahedra with their lower ends held: the filtered gradients, and the factor."""
    found = {"100k": one_stage(SMALL), "1m": one_stage(LARGE)}
    ratio = {name: round(row["gradients_s"] / (row["factor_s"] + row["solve_s"]), 2) for name, row in found.items()}
    return found, [claim("gradients_over_factor", ratio["100k"], "times", "<= 1"),
                   claim("gradients_over_factor_million", ratio["1m"], "times", "<= 1"),
                   claim("gradients_million", found["1m"]["gradients_s"], "s", "<= 60")]


def one_stage(width: int) -> dict[str, Any]:
    """Return the times of one linearised step of a bar of cubes, `width` across."""
    nodes, tets = box_tets((width, width, 4 * width), (0.1, 0.1, 0.4))
    material = catalogue.find("material", "stable_neo_hookean").load()
    count = len(tets)
    elastic = Elastic(nodes, tets, material, material.constants(np.full(count, 3e4), np.full(count, 0.45)))
    mass = lump_mass(nodes, tets, tet_volumes(nodes, tets), np.full(count, 1000.0))
    forces, blocks = np.zeros((*elastic.tets.shape, 3)), np.zeros((len(elastic.tets), 6, 9))
    elastic.fill(nodes, True, forces, blocks)
    pinned = np.flatnonzero(nodes[:, 2] == 0.0)
    free = np.setdiff1d(np.arange(len(nodes)), pinned).astype(np.int32)
    rhs = np.repeat(mass, 3).reshape(-1, 3) * np.array([5.0 * H, 0.0, -9.81 * H])

    def matrix_of(order: np.ndarray) -> sp.csc_matrix:
        """The lower triangle of the step's matrix for these nodes, in their order."""
        pattern = Pattern(elastic.tets, order, len(nodes))
        pattern.gather(blocks, np.zeros((len(nodes), 3, 3)), -H * H, mass)
        return pattern.matrix()

    lower = matrix_of(np.arange(len(nodes), dtype=np.int32))
    matrix = sp.csc_matrix(lower + sp.tril(lower, -1).T)
    columns = (3 * pinned[:, None] + np.arange(3)).ravel()
    rows = sp.csr_array((np.ones(len(columns)), (np.arange(len(columns)), columns)),
                        shape=(len(columns), 3 * len(nodes)))
    system = RowSystem(matrix, rhs.ravel(), lambda impulses: impulses, rows, np.zeros(len(columns)), H, H)
    solver = MassModification(ENOUGH)
    began = time.perf_counter()
    v = solver.solve(system, np.zeros(len(columns))).v
    out = {"tets": count, "rows": len(columns), "gradients_s": round(time.perf_counter() - began, 3),
           "iterations": solver.taken}
    del system, matrix, lower  # the factor needs the memory
    linear = choose("cholmod")
    began = time.perf_counter()
    order = free[linear.order(node_graph(elastic.tets, len(nodes))[free][:, free])]
    lower = matrix_of(order)
    linear.analyse(lower, 0)
    out["analysed_s"] = round(time.perf_counter() - began, 3)
    began = time.perf_counter()
    linear.factor(lower, nodes[order])
    out["factor_s"] = round(time.perf_counter() - began, 3)
    began = time.perf_counter()
    u = linear.solve(rhs[order].ravel())
    out["solve_s"] = round(time.perf_counter() - began, 3)
    out["apart"] = float(f"{np.abs(v.reshape(-1, 3)[order].ravel() - u).max() / np.abs(u).max():.2g}")
    out["peak_gb"] = round(own_peak() * 2**20 / 1e9, 2)
    return out


PARTS = {"rows": rows, "strands": strands, "gradients": gradients}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=PARTS)
    name = parser.parse_args().name
    threads.configure(1)
    with tempfile.TemporaryDirectory(prefix="conjac-holds-") as folder:
        details, claims = PARTS[name](Path(folder))
    emit(f"holds.{name}", claims, details)


if __name__ == "__main__":
    main()
