"""Measure the cost of stiffness: SIERE and ERE on a swinging armadillo, E from 1e4 to 1e9 (Ascher et al., Fig. 4).

Seconds a step at 1/100 s, ν = 0.4, feet pinned, thrown sideways; both from the same state, after some steps of SIERE;
SIERE's mean includes the modes, which are recomputed every tenth step. ERE's Krylov work is limited to PRODUCTS
products with the stiffness a step, so that the script ends: if the limit ends a step its time is a lower bound, and
marked so. The range of E is ours.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import Any

from benchmarks import meshes

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from benchmarks.vanilla import vanilla
from solver.errors import StepFailed
from solver.integrators import krylov
from solver.integrators.ere import ERE
from solver.meshing.grid import box_tets
from solver.state import State
from solver.world.nodes import Nodes

YOUNG = (1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
H = 1 / 100
SWING, STEPS = 6, 11
PRODUCTS = 6000


def body() -> tuple[np.ndarray, np.ndarray]:
    """The armadillo, or a box of about as many nodes where its mesh is missing."""
    if not meshes.is_there("tets/armadillo.npz"):
        return box_tets((11, 11, 36), (0.05, 0.05, 0.16))
    return meshes.tetrahedra("armadillo")


def swinging(young: float, integrator: str, params: dict[str, float]) -> Nodes:
    nodes, tets = body()
    low = nodes[:, 2] < nodes[:, 2].min() + 0.1 * np.ptp(nodes[:, 2])
    return vanilla(nodes, tets, np.flatnonzero(low), young, 0.4, integrator=integrator, params=params)


def seconds(world: Nodes, state: State, steps: int) -> tuple[State, list[float]]:
    spent = []
    for _ in range(steps):
        began = time.perf_counter()
        state = world.step(state, H)
        spent.append(time.perf_counter() - began)
    return state, spent


def thrown(world: Nodes) -> State:
    """At rest but for a sideways speed that grows with height."""
    state = world.initial_state()
    height = world.rest[world.coordinates.free][:, 2]
    return replace(state, u=np.outer(height / height.max(), [0.3, 0.1, 0.0]).ravel())


def ere(world: Nodes, state: State) -> dict[str, Any]:
    """A step's seconds and products with the stiffness, up to the cap."""
    began = time.perf_counter()
    try:
        world.step(State(state.time, state.q, state.u), H)
    except StepFailed as failure:
        return {"ere_s": round(time.perf_counter() - began, 3), "ere_capped": str(failure)}
    method = world.integrator
    assert isinstance(method, ERE)
    return {"ere_s": round(time.perf_counter() - began, 3), "ere_products": method.products}


def main() -> None:
    threads.configure(None)
    krylov.MOST_PRODUCTS = PRODUCTS
    rows: list[dict[str, Any]] = []
    for young in YOUNG:
        additive = swinging(young, "siere", {})
        state, _ = seconds(additive, thrown(additive), SWING)
        _, spent = seconds(additive, state, STEPS)
        _, plain = seconds(swinging(young, "semi_implicit", {}), State(state.time, state.q, state.u), STEPS)
        rows.append({"young": young, "siere_s": round(float(np.mean(spent)), 4),
                     "siere_between_s": round(float(np.median(spent)), 4),
                     "semi_implicit_s": round(float(np.median(plain)), 4)} | ere(swinging(young, "ere", {}), state))
        print(rows[-1], file=sys.stderr, flush=True)
    soft, stiff = rows[0], rows[-1]
    emit("stiff", [
        claim("siere_cost_growth", stiff["siere_s"] / soft["siere_s"], "", "<= 1.5", "hardly grows"),
        claim("ere_cost_growth", max(row["ere_s"] for row in rows) / soft["ere_s"], "at least", ">= 10", "explodes"),
    ], {"rows": rows, "mesh": "armadillo" if meshes.is_there("tets/armadillo.npz") else "box",
        "most_products": PRODUCTS})


if __name__ == "__main__":
    main()
