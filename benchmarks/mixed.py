"""Compare mixed finite elements as a stage solver with the default and with truncated Newton.

    python -m benchmarks.mixed                          all of it
    python -m benchmarks.mixed --only bar,hetero        some scenes of `lively` alone, no claims

`hinge`: two blocks of 1e9 Pa with one of 1e5 Pa between them, 72 tetrahedra, released level from a wall, Backward Euler
at 1/60 s for half a second. The error of the tip relative to solved stages, divided by the largest drop, by iterations
of a stage of both methods. Newton's has projected stiffness with a line search.
`iterations`: of a step of that swing, mean and maximum, until the Newton decrement is a thousandth of the first, for
blocks as stiff as the hinge, a thousand and a hundred thousand times as stiff (fig. 9 of the paper).
`fewer_iterations`, a factor of ten, is limited by the smallest count: the decrement is that of the step with which an
iteration begins, so two mixed ones are known to suffice in the third, and Newton's method takes eleven at most in steps
as short as these. In steps of 1/15 s, from a bend, it takes dozens: that is `subspace.stiffness`.
`over_energy`: a bar released where it is pulled to 1.6 times its length and twisted by 2 rad, SDIRK2 at 1/24 to 1/96 s:
the largest energy of a step relative to the initial one, with and without the guard.
Scenes of `lively`: preserved motion and cost, as there, of the default and of Mixed with one and two iterations;
`factors` are those of a step, `redone` the stages that the guard left to Newton's method.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks import lively, meshes
from benchmarks.lively_scenes import WATCHED, Watched, stored_truth
from benchmarks.report import claim, emit
from benchmarks.scenes.scene import Scene
from solver import catalogue
from solver.errors import Diverged, StepFailed
from solver.meshing.grid import box_tets
from solver.nonlinear.bounded_search import BoundedSearch
from solver.nonlinear.interface import StageSolver
from solver.nonlinear.limits import StopRule
from solver.nonlinear.mixed_fem import MixedFEM
from solver.nonlinear.problem import Evaluation, StageProblem
from solver.simulate import advance
from solver.state import State, Vec
from solver.world.nodes import Nodes

LENGTH, CELLS, SIZE = 0.4, (6, 2, 1), (0.4, 0.05, 0.04)  #: of the hinge [m]
SOFT, STIFF = 1.0e5, 1.0e9  #: [Pa]
H, STEPS = 1 / 60, 30  #: [s]
RATIOS = (1.0, 1e3, 1e5)
ENOUGH, MOST = 1.0e-3, 200  #: of the first decrement; iterations
COUNTS = (1, 2, 4)
SCENES = ("bar", "ears", "hetero", "dragon")
STEPS_OF_SCENES = (1 / 48, 1 / 96)
SETTINGS = {lively.DEFAULT: lively.Setting("vanilla", "sdirk2", {"kind": "quick"})} | {
    f"Vanilla, SDIRK2, Mixed, {count} iteration{'s' if count > 1 else ''}": lively.Setting(
        "vanilla", "sdirk2", {"kind": "mixed", "params": {"mixed_iterations": count}}) for count in (1, 2)}
UNENDING = {"strain_left": 1e-12, "decrement_left": 1e-14}  #: none of the rules ends a stage

Row = dict[str, Any]


def solver(key: str, **params: float) -> Any:
    """A stage solver with these parameters, all others as they are by default."""
    entry = catalogue.find("stage_solver", key)
    return entry.load()({one.key: params.get(one.key, one.default) for one in entry.params})


class Cut(StageSolver):
    """Newton's method on projected stiffness with a line search, cut after so many iterations."""

    def __init__(self, count: int) -> None:
        self.limits, self._count = StopRule.of({}), count
        self.decrements: list[float] = []

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        at, self.decrements = problem.evaluate(guess), []
        for _ in range(self._count):
            problem.factors.factor(problem, at.unknowns, False)
            direction = problem.system.linear.solve(-at.residual)
            self.decrements.append(float(np.sqrt(max(-at.residual @ direction, 0.0))))
            if self.decrements[-1] <= ENOUGH * self.decrements[0]:
                break
            at, _ = BoundedSearch(problem).search(at, direction)
        return at.unknowns


def hinge(stage_solver: Any, stiff: float = STIFF) -> Nodes:
    """The blocks in their world."""
    nodes, tets = box_tets(CELLS, SIZE)
    middle = nodes[tets].mean(axis=1)[:, 0]
    young = np.where((middle > LENGTH / 3) & (middle < LENGTH / 2), SOFT, stiff)
    none = np.zeros(0, dtype=np.int32)
    scene = Scene(nodes, tets, np.flatnonzero(nodes[:, 0] < 1e-9), lambda _: none, (0,), SOFT, 0.4, element_young=young)
    world = scene.world("vanilla", integrator="backward_euler", step=H)
    world.stage_solver = stage_solver
    return world


def drops(stage_solver: Any, steps: int = STEPS) -> np.ndarray:
    """How far the tip is above where it began after each step [m]."""
    world = hinge(stage_solver)
    tip, state, out = int(np.argmax(world.rest @ [1.0, 0.1, 0.1])), world.initial_state(), []
    for _ in range(steps):
        state = world.step(state, H)
        out.append(world.coordinates.positions(state.q, state.time)[tip, 2] - world.rest[tip, 2])
    return np.array(out)


def hinged() -> tuple[dict[str, float], dict[str, float]]:
    """Return the tip's largest error by both methods, as a share of the largest drop, by iterations of a stage."""
    known = drops(solver("newton_d", tolerance=1e-9))

    def off(stage_solver: Any) -> float:
        return float(np.abs(drops(stage_solver) - known).max() / np.abs(known).max())

    return ({str(count): off(solver("mixed", mixed_iterations=count, **UNENDING)) for count in COUNTS},
            {str(count): off(Cut(count)) for count in (*COUNTS, 8)})


def iterations() -> dict[str, Row]:
    """How many both methods take in a step of the swing on average, by how much stiffer the blocks are."""
    out: dict[str, Row] = {}
    for ratio in RATIOS:
        row = out[f"{ratio:.0e}"] = {}
        for label, one in (("mixed", solver("mixed", mixed_iterations=MOST, decrement_left=ENOUGH, strain_left=1e-12)),
                           ("newton", Cut(MOST))):
            world, counts = hinge(one, ratio * SOFT), []
            state = world.initial_state()
            for _ in range(STEPS):
                state = world.step(state, H)
                below = np.flatnonzero(np.array(one.decrements) <= ENOUGH * one.decrements[0])
                counts.append(int(below[0]) if len(below) else MOST)
            row[label], row[f"{label}_most"] = round(float(np.mean(counts)), 2), max(counts)
        print("iterations", ratio, row, file=sys.stderr, flush=True)
    return out


class Unguarded(MixedFEM):
    """Whatever its iterations find is taken."""

    def _gains(self, problem: StageProblem, begins: Evaluation, end: Evaluation) -> bool:
        return False


def over_energy() -> dict[str, Row]:
    """The largest energy in 24 steps over that at the start, with the guard and without."""
    nodes, tets = box_tets((12, 3, 3), (0.24, 0.06, 0.06))
    x, y, z = (nodes - [0.0, 0.03, 0.03]).T
    angle = 2.0 * x / 0.24
    pulled = np.stack([1.6 * x, np.cos(angle) * y - np.sin(angle) * z, np.sin(angle) * y + np.cos(angle) * z], axis=1)
    none = np.zeros(0, dtype=np.int32)
    scene = Scene(nodes, tets, np.flatnonzero(nodes[:, 0] < 1e-9), lambda _: none, (0,), 3e4, 0.45,
                  gravity=(0.0, 0.0, 0.0))
    entry, out = catalogue.find("stage_solver", "mixed"), dict[str, Row]()
    for h in (1 / 24, 1 / 48, 1 / 96):
        for count in COUNTS:
            params = {one.key: one.default for one in entry.params} | {"mixed_iterations": count}
            out[f"{count}, 1/{round(1 / h)} s"] = row = {"iterations": count, "steps_a_second": round(1 / h)}
            for label, kind in (("guarded", MixedFEM), ("unguarded", Unguarded)):
                world = scene.world("vanilla", integrator="sdirk2")
                world.stage_solver = kind(params)
                state = world.initial_state()
                state = replace(state, q=(pulled + [0.0, 0.03, 0.03])[world.coordinates.free].ravel())
                energies = [energy(world, state)]
                try:
                    for _ in range(24):
                        state = world.step(state, h)
                        energies.append(energy(world, state))
                except StepFailed as failure:
                    row[f"{label}_failed"] = str(failure)
                row[label] = float(f"{max(energies[1:]) / energies[0]:.3g}")
            print("over_energy", row, file=sys.stderr, flush=True)
    return out


def energy(world: Nodes, state: State) -> float:
    x, v = world.coordinates.positions(state.q, state.time), world.velocity(state)
    return world.evaluate(x, state.time)[1] + 0.5 * float(np.vdot(world.mass[:, None] * v, v))


def scene_rows(name: str, watched: Watched, settings: dict[str, lively.Setting], every: Sequence[float],
               freely: Collection[str] = ()) -> dict[str, Row]:
    """Return what each setting keeps and costs in one scene, for each step [s]. freely: those with Free Turning."""
    look, true, out = watched.look(watched.scene), stored_truth(name, watched)["value"], dict[str, Row]()
    for label, setting in settings.items():
        for h in every:
            row = out[lively.row_key(label, h)] = lively.describe(label, h)
            scene, steps = watched.scene, round(watched.seconds / h)
            world = scene.world(setting.method, lively.NODES, integrator=setting.integrator,
                                stage_solver=setting.stage_solver)
            world.turns_freely = label in freely
            state, began = scene.start(world), world.linear.factored
            seen = [look(world, state)]
            world.step(state, h)  # kernels are compiled before anything is timed
            world.forget_past()
            spent = -lively.time.thread_time()
            try:
                for _ in range(steps):
                    state = advance(world, state, h, 1)
                    seen.append(look(world, state))
            except (StepFailed, Diverged) as failure:
                row["failed"] = str(failure)
                continue
            spent += lively.time.thread_time()
            row |= {"kept": round(watched.measured(np.array(seen)) / true, 3),
                    "cpu_s_s": float(f"{spent / watched.seconds:.3g}"),
                    "factors": round((world.linear.factored - began) / steps, 2),
                    "redone": getattr(world.stage_solver, "newton_stages", None), "braked": world.counts["braked"],
                    "notes": " ".join(world.summary)}
            print(name, row, file=sys.stderr, flush=True)
    return out


def chosen_scenes(sentence: str) -> tuple[list[str], bool]:
    """Return the scenes that the command line names with --only, all where it names none, and whether it names some.
    The solver takes one thread from then on."""
    parser = argparse.ArgumentParser(description=sentence)
    parser.add_argument("--only", default="", help=f"of: {', '.join(SCENES)}")
    only = parser.parse_args().only
    threads.configure(1)
    return [name for name in (only.split(",") if only else SCENES)
            if name != "dragon" or meshes.is_there("tets/dragon.npz")], bool(only)


def main() -> None:
    names, only = chosen_scenes(__doc__.partition("\n")[0])
    if only:
        for name in names:
            scene_rows(name, WATCHED[name](), SETTINGS, STEPS_OF_SCENES)
        return
    ours, newton = hinged()
    counts, energies = iterations(), over_energy()
    found = {name: scene_rows(name, WATCHED[name](), SETTINGS, STEPS_OF_SCENES) for name in names}
    two = list(SETTINGS)[2]
    over = {name: max(rows[lively.row_key(two, h)].get("kept", 0.0) for h in STEPS_OF_SCENES[:1])
            / rows[lively.row_key(lively.DEFAULT, STEPS_OF_SCENES[0])].get("kept", np.inf)
            for name, rows in found.items()}
    stiffest = counts[f"{RATIOS[-1]:.0e}"]
    emit("mixed", [
        claim("mixed_hinge", ours["1"], "of the largest drop", "<= 0.02"),
        claim("newton_hinge", newton["1"], "of the largest drop", ">= 0.5"),
        claim("fewer_iterations", stiffest["newton"] / stiffest["mixed"], "times as few", ">= 10", 10.0),
        claim("guarded_energy", max(row["guarded"] for row in energies.values()), "of the start's", "<= 1.001", 7.7),
        claim("mixed_hetero", over["hetero"], "of what the default keeps", ">= 1"),
    ], {"hinge": {"mixed": ours, "newton": newton}, "iterations": counts, "over_energy": energies,
        "over_default": over} | found)


if __name__ == "__main__":
    main()
