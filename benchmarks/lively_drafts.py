"""Measure the visible motion that drafts preserve, and its cost, on scenes of `lively`, relative to its references.

Kept is the visible energy from 0.6 to 1 s after a body is let go, as a share of the truth, and cost the processor
seconds of a second of motion, as in `benchmarks.lively`. Subspace has its 16 weights, points as it finds them and four
iterations a stage, by SDIRK2; Projective Dynamics ten iterations a step, by BDF2. The time that finding the
subspace takes is in the details. Full bakes of the same scenes are the rows of `lively` and of `mixed`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks import meshes

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.lively import row_key
from benchmarks.lively_scenes import WATCHED, stored_truth
from benchmarks.report import claim, emit
from benchmarks.scenes.scene import Scene
from solver import catalogue
from solver.materials.lame import lame
from solver.parts.modes.body import ReducedBody, Stepping
from solver.parts.modes.operators import Substance
from solver.parts.modes.stepping import Iterating
from solver.parts.projective.body import ProjectiveBody
from solver.parts.projective.constraints import Tets
from solver.state import Vec
from solver.world.nodes import Nodes

SCENES = ("bar", "hetero", "dragon")  #: whose pins stay
STEPS = (1 / 48, 1 / 96)  #: [s]
ITERATIONS = catalogue.find("method", "subspace").params[2].default

Moved = tuple[Vec, Vec]  #: positions [m] and velocities [m/s] of all nodes, (n, 3) each


def moduli(scene: Scene) -> tuple[Vec, Vec]:
    """Young's modulus [Pa] and Poisson ratio of each tetrahedron."""
    count = len(scene.tets)
    return (np.full(count, scene.young) if scene.element_young is None else scene.element_young,
            np.full(count, scene.poisson))


def subspace(scene: Scene, world: Nodes, start: Vec) -> Callable[[float, int], list[Moved]]:
    """Steps of a draft on a subspace, from positions (n, 3) [m]."""
    young, poisson = moduli(scene)
    substance = Substance.of(catalogue.find("material", "stable_neo_hookean").load(), 1000.0, youngs_modulus=young,
                             poisson_ratio=poisson)
    body = ReducedBody.build(
        scene.tets, scene.nodes, substance, [scene.pinned.astype(np.int32)],
        stepping=Stepping("sdirk2", scene.gravity, iterating=Iterating(iterations=int(ITERATIONS))))

    def run(h: float, steps: int) -> list[Moved]:
        state, out = body.fit_state(start), []
        for _ in range(steps + 1):
            out.append((body.positions(state), body.velocities(state)))
            state = body.step(state, h)
        return out

    return run


def projective(scene: Scene, world: Nodes, start: Vec) -> Callable[[float, int], list[Moved]]:
    """Steps of projective dynamics, from positions (n, 3) [m]."""
    elements = Tets(scene.nodes, scene.tets, *lame(*moduli(scene)))
    body = ProjectiveBody(scene.nodes, world.mass.copy(), [elements], scene.pinned.astype(np.int32), scene.gravity,
                          integrator="bdf2")

    def run(h: float, steps: int) -> list[Moved]:
        state, out = replace(body.initial_state(), x=start.copy()), []
        for _ in range(steps + 1):
            out.append((state.x, state.v))
            state = body.step(state, h)
        return out

    return run


DRAFTS = {"Subspace, SDIRK2": subspace, "Projective Dynamics, BDF2": projective}


def rows_of(name: str) -> dict[str, dict[str, Any]]:
    """Return the motion that each draft keeps, and its price."""
    watched = WATCHED[name]()
    scene, true = watched.scene, stored_truth(name, watched)["value"]
    world, look = scene.world("vanilla"), watched.look(scene)
    began = scene.start(world)
    start, free = world.coordinates.positions(began.q, 0.0), world.coordinates.free
    out: dict[str, dict[str, Any]] = {}
    for label, make in DRAFTS.items():
        clock = time.process_time()
        run = make(scene, world, start)
        found_in = time.process_time() - clock
        for h in STEPS:
            run(h, 1)  # kernels are compiled before anything is timed
            clock = time.thread_time()
            moved = run(h, round(watched.seconds / h))
            cost = (time.thread_time() - clock) / watched.seconds
            seen = [look(world, replace(began, q=x[free].ravel(), u=v[free].ravel())) for x, v in moved]
            out[row_key(label, h)] = {"kept": round(watched.measured(np.array(seen)) / true, 3),
                                   "cpu_s_s": float(f"{cost:.3g}"), "found_in_s": round(found_in, 1)}
            print(name, row_key(label, h), out[row_key(label, h)], file=sys.stderr, flush=True)
    return out


def main() -> None:
    threads.configure(1)
    names = [name for name in SCENES if name != "dragon" or meshes.is_there("tets/dragon.npz")]
    found = {name: rows_of(name) for name in names}
    fine = row_key("Subspace, SDIRK2", STEPS[1])
    emit("lively_drafts", [claim(f"{name}_subspace_kept", rows[fine]["kept"], "of the truth", ">= 0.5")
                           for name, rows in found.items()], found)


if __name__ == "__main__":
    main()
