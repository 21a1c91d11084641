"""Measure elements that come and go, as contact pairs do: pattern and analysis, relative to a numeric factor.

    python -m benchmarks.stencils

The dragon (benchmarks/meshes.py), every free node an unknown; in each turn 2,000 new pairs of a point of its skin and a
nearby triangle to which it does not belong. The elimination ordering is that of the tetrahedra alone, unless pairs make
it expensive. One process; the thread's own time, medians.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks import meshes

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.report import claim, emit
from solver import catalogue
from solver.assembly.pattern import Pattern, node_graph
from solver.forces.elastic import Elastic
from solver.linear.choose import choose
from solver.meshing.volume import boundary_faces, tet_volumes
from solver.state import Index, Vec
from solver.world.bodies import lump_mass

PAIRS, TURNS, NEAR = 2000, 7, 24
YOUNG, POISSON, DENSITY, STIFFNESS, H = 1e5, 0.45, 1000.0, 1e3, 1 / 100


def near_pairs(nodes: Vec, tets: Index) -> Index:
    """A point of the skin and a triangle near it, (k, 4), none of whose corners it shares an element with."""
    skin = boundary_faces(tets)[0]
    points = np.unique(skin)
    _, found = cKDTree(nodes[skin].mean(axis=1)).query(nodes[points], NEAR)
    pairs = np.concatenate([np.repeat(points, NEAR)[:, None], skin[found.ravel()]], axis=1).astype(np.int32)
    graph = node_graph(tets, len(nodes)).tocsr()
    known = np.zeros(len(pairs), dtype=bool)
    for corner in range(1, 4):
        known |= np.asarray(graph[pairs[:, 0], pairs[:, corner]]).ravel() > 0
        known |= pairs[:, 0] == pairs[:, corner]
    return pairs[~known]


def spent(what: Callable[[], object]) -> float:
    """Milliseconds of this thread."""
    began = time.thread_time()
    what()
    return 1e3 * (time.thread_time() - began)


def main() -> None:
    threads.configure(1)
    if not meshes.is_there("tets/dragon.npz"):
        return
    nodes, tets = meshes.tetrahedra("dragon")
    count, mass = len(nodes), lump_mass(nodes, tets, tet_volumes(nodes, tets), np.full(len(tets), DENSITY))
    model = catalogue.find("material", "stable_neo_hookean").load()
    elastic = Elastic(nodes, tets, model, model.constants(np.full(len(tets), YOUNG), np.full(len(tets), POISSON)))
    free = np.flatnonzero(nodes[:, 2] > np.quantile(nodes[:, 2], 0.1)).astype(np.int32)
    linear = choose()
    graph = node_graph(elastic.tets, count)[free][:, free]
    pattern = Pattern(elastic.tets, free[linear.order(graph)], count)
    matrix = pattern.matrix()
    linear.analyse(matrix, 0)

    first = len(elastic.tets)
    blocks = np.zeros((first + PAIRS, 6, 9))
    elastic.fill(nodes, True, np.zeros((first, 4, 3)), blocks[:first])
    blocks[first:, [0, 1, 3]] = STIFFNESS / 3 * np.eye(3).ravel()  # of the point with each corner
    no_blocks = np.zeros((count, 3, 3))
    every, rng = near_pairs(nodes, elastic.tets), np.random.default_rng(0)
    times: dict[str, list[float]] = {"pattern": [], "analysis": [], "factor": [], "factor without pairs": []}
    positions = nodes[pattern.order]
    for _ in range(TURNS):
        pairs = every[rng.choice(len(every), PAIRS, replace=False)]
        times["pattern"].append(spent(lambda pairs=pairs: pattern.update_pairs(pairs)))
        times["analysis"].append(spent(lambda: linear.follow(matrix)))
        pattern.gather(blocks, no_blocks, -(H**2), mass, pairs)
        linear.factor(matrix, positions)  # the first one on a new pattern takes room
        times["factor"].append(spent(lambda: linear.factor(matrix, positions)))
        pattern.gather(blocks[:first], no_blocks, -(H**2), mass)
        linear.factor(matrix, positions)
        times["factor without pairs"].append(spent(lambda: linear.factor(matrix, positions)))
    medians = {name: round(float(np.median(one[1:])), 3) for name, one in times.items()}
    changed = medians["pattern"] + medians["analysis"]
    step = changed + medians["factor"]
    emit("stencils", [claim("changed_pairs_over_factor", changed / medians["factor"], "", "<= 0.15"),
                      claim("changed_pairs_over_factor_without", changed / medians["factor without pairs"], "",
                            "<= 0.15"),
                      # a factor of the graph with pairs is 1.2 of that without in the best order known
                      claim("changed_pairs_and_factor", step / medians["factor without pairs"], "", "<= 1.35")],
         {"nodes": count, "tets": len(tets), "pairs": PAIRS, "ms": medians, "linear solver": type(linear).__name__})


if __name__ == "__main__":
    main()
