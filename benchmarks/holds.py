"""What many holds cost: 1,000 hard rows on the dragon, 100 strands that touch, and the filtered gradients of rows.

    python -m benchmarks.holds rows|strands|gradients

rows: nodes of the dragon's skin are held by one ball constraint of 334 points, three hard rows each, to places that do
not move; beside a step of the dragon with the same nodes pinned, so that both move alike; Vanilla FEM, Backward Euler
by NEWTON-D, thread milliseconds by turns, medians; and how far the places are off at the end. Evaluating the rows takes
a twentieth of a step that factors once. What passes the goal is the factor itself: nodes that rows hold stay unknowns,
and with as many pinned all over its skin the dragon's factor has little more than half of the work.
strands: 100 ropes of 50 nodes, pinned at their upper ends, fall from aslant and swing through each other's places with
*Collisions*; thread milliseconds a step, median and mean of half a second.
gradients: rows of single nodes out of the unknowns (`mass_modification`), by filtered conjugate gradients to 1e-6,
beside a factor of the matrix without these unknowns, of one step of a grid of tetrahedra.
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
from solver import catalogue
from solver.assembly.pattern import Pattern, node_graph
from solver.build import point_constraints
from solver.build.world import build
from solver.constraints.ways.interface import RowSystem
from solver.constraints.ways.mass_modification import MassModification
from solver.forces.elastic import Elastic
from solver.job.load import load
from solver.linear.choose import choose
from solver.meshing.grid import box_tets
from solver.meshing.volume import tet_volumes
from solver.world.bodies import lumped_mass
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


def dragon(folder: Path, points: np.ndarray, tied: bool) -> Path:
    """A job of the dragon, pinned by its lowest nodes, with nodes `points` (k,) tied to where they are, or pinned."""
    nodes, tets = meshes.tetrahedra("dragon")
    held = nodes[points]
    low = np.flatnonzero(nodes[:, 2] < nodes[:, 2].min() + 0.002)
    low = (low if tied else np.union1d(low, points)).astype(np.int32)
    body = {"name": "Dragon", "tets": {"nodes": "arrays/n.npy", "tets": "arrays/t.npy"}, "method": {"kind": "vanilla"},
            "pin": {"nodes": "arrays/p.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 3e4, "poisson_ratio": 0.4}}}
    tie = {"kind": {"kind": "ball"}, "ends": [{"body": "Dragon", "point": held[0].tolist()},
                                              {"vertices": "arrays/h.npy", "edges": "arrays/e.npy",
                                               "point": held[0].tolist()}]}
    chain = np.stack([np.arange(len(held) - 1), np.arange(1, len(held))], axis=1).astype(np.int32)
    return written(folder, {"bodies": [body], "constraints": [tie] if tied else []},
                   {"n": nodes, "t": tets, "p": low, "h": held, "e": chain})


def rows(folder: Path) -> tuple[dict[str, Any], list[Any]]:
    """Of the dragon with its rows and with pins."""
    nodes = meshes.tetrahedra("dragon")[0]
    skin = np.unique(meshes.skin("dragon"))
    points = skin[nodes[skin, 2] > nodes[:, 2].min() + 0.01]
    points = points[np.linspace(0, len(points) - 1, POINTS).astype(int)]
    one_point = point_constraints.points_of
    point_constraints.points_of = lambda one, end: nodes[points]  # the panel's ball has one point, this one has many
    try:
        parts = {name: part_of(dragon(folder / name, points, tied)) for name, tied in (("rows", True), ("pins", False))}
    finally:
        point_constraints.points_of = one_point
    states = {name: part.initial_state() for name, part in parts.items()}
    times: dict[str, list[float]] = {name: [] for name in parts}
    for step in range(WARM + STEPS):
        for name, part in parts.items():
            began = time.thread_time()
            states[name] = part.step(states[name], H)
            if step >= WARM:
                times[name].append(1e3 * (time.thread_time() - began))
    ms = {name: statistics.median(each) for name, each in times.items()}
    state, part = states["rows"], parts["rows"]
    x = part.coordinates.positions(state.q, state.time)
    off = float(np.abs(part.constraints[0].rows(x, state.time).value).max())
    share = ms["rows"] / ms["pins"] - 1.0
    found = {"ms_rows": round(ms["rows"], 1), "ms_pins": round(ms["pins"], 1), "rows": 3 * POINTS,
             **{f"factors_{name}": round(one.factored / (WARM + STEPS), 2) for name, one in parts.items()},
             "off_m": float(f"{off:.2g}")}
    return found, [claim("hard_rows_share", round(share, 3), "", "<= 0.3")]


def strands(folder: Path) -> tuple[dict[str, Any], list[Any]]:
    """Of ropes that touch each other."""
    way = np.linspace(0.0, LONG, LINKS + 1)
    roots = APART * np.stack(np.meshgrid(np.arange(STRANDS), np.arange(STRANDS)), axis=-1).reshape(-1, 2)
    # each leans by a little more than the one before it, so they meet as they swing
    lean = 0.25 + 0.15 * np.arange(len(roots)) / len(roots)
    places = np.concatenate([np.column_stack([x + way * np.sin(a), np.full(LINKS + 1, y), -way * np.cos(a)])
                             for (x, y), a in zip(roots, lean)])
    first = (LINKS + 1) * np.arange(len(roots))
    edges = np.concatenate([np.stack([start + np.arange(LINKS), start + np.arange(1, LINKS + 1)], axis=1)
                            for start in first])
    weights = np.zeros(len(places))
    weights[first] = 1.0
    body = {"name": "Strands", "method": {"kind": "vanilla"}, "pin": {"weights": "arrays/w.npy"},
            "surface": {"vertices": "arrays/v.npy", "triangles": "arrays/t.npy"},
            "rope": {"edges": "arrays/e.npy", "linear_density": 0.005, "bending_stiffness": 1e-6, "thickness": THICK}}
    part = part_of(written(folder, {"bodies": [body], "contact": {}, "stage_solver": {"kind": "newton_visible"}},
                           {"v": places, "t": np.zeros((0, 3), np.int32), "e": edges.astype(np.int32), "w": weights}))
    state, times = part.initial_state(), []
    for _ in range(2 * STEPS):
        began = time.thread_time()
        state = part.step(state, H)
        times.append(1e3 * (time.thread_time() - began))
    ms = statistics.median(times)
    return ({"median_ms": round(ms, 1), "mean_ms": round(statistics.mean(times), 1), "most_ms": round(max(times), 1),
             "factors": round(part.factored / len(times), 2)}, [claim("strands_step", round(ms, 1), "ms", "<= 60")])


def gradients(folder: Path) -> tuple[dict[str, Any], list[Any]]:
    """Of bars of tetrahedra with their lower ends held: the filtered gradients, and the factor of the smaller one."""
    found = {"100k": one_stage(SMALL, True), "1m": one_stage(LARGE, False)}
    small = found["100k"]
    return found, [claim("gradients_over_factor", round(small["gradients_s"] / small["factor_s"], 2), "times",
                         "<= 1"),
                   claim("gradients_million", found["1m"]["gradients_s"], "s", "<= 60")]


def one_stage(width: int, with_factor: bool) -> dict[str, Any]:
    """Of one linearised step of a bar of cubes, `width` across."""
    nodes, tets = box_tets((width, width, 4 * width), (0.1, 0.1, 0.4))
    material = catalogue.find("material", "stable_neo_hookean").load()
    count = len(tets)
    elastic = Elastic(nodes, tets, material, material.constants(np.full(count, 3e4), np.full(count, 0.45)))
    mass = lumped_mass(nodes, tets, tet_volumes(nodes, tets), np.full(count, 1000.0))
    forces, blocks = np.zeros((*elastic.tets.shape, 3)), np.zeros((len(elastic.tets), 6, 9))
    elastic.fill(nodes, True, forces, blocks)
    held = np.flatnonzero(nodes[:, 2] == 0.0)
    free = np.setdiff1d(np.arange(len(nodes)), held).astype(np.int32)
    right = np.repeat(mass, 3).reshape(-1, 3) * np.array([5.0 * H, 0.0, -9.81 * H])

    pattern = Pattern(elastic.tets, np.arange(len(nodes), dtype=np.int32), len(nodes))
    pattern.gather(blocks, np.zeros((len(nodes), 3, 3)), -H * H, mass)
    lower = pattern.matrix()
    matrix = sp.csc_matrix(lower + sp.tril(lower, -1).T)
    columns = (3 * held[:, None] + np.arange(3)).ravel()
    rows = sp.csr_array((np.ones(len(columns)), (np.arange(len(columns)), columns)),
                        shape=(len(columns), 3 * len(nodes)))
    system = RowSystem(matrix, right.ravel(), lambda impulses: impulses, rows, np.zeros(len(columns)), H, H)
    way = MassModification(ENOUGH)
    began = time.perf_counter()
    v = way.solve(system, np.zeros(len(columns))).v
    out = {"tets": count, "rows": len(columns), "gradients_s": round(time.perf_counter() - began, 3),
           "iterations": way.taken}
    if with_factor:
        linear = choose("auto", [count])
        order = free[linear.order(node_graph(elastic.tets, len(nodes))[free][:, free])]
        small = Pattern(elastic.tets, order, len(nodes))
        small.gather(blocks, np.zeros((len(nodes), 3, 3)), -H * H, mass)
        began = time.perf_counter()
        linear.analyse(small.matrix(), 0)
        linear.factor(small.matrix(), nodes[order])
        u = linear.solve(right[order].ravel())
        out["factor_s"] = round(time.perf_counter() - began, 3)
        out["apart"] = float(f"{np.abs(v.reshape(-1, 3)[order].ravel() - u).max() / np.abs(u).max():.2g}")
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
