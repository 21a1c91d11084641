"""ARMADILLO: limbs are pulled and let go one after another, dynamic nodes sleep and wake. [Thesis 4.4.1]

    python -m benchmarks.scenes.armadillo                   times of all awake and of both thresholds, and the picture
    python -m benchmarks.scenes.armadillo --only awake/0.1  some of them
    python -m benchmarks.scenes.armadillo --seconds 4       not to the end

The armadillo (benchmarks/meshes.py; 14 cm tall, 188 g), E = 6e4, nu = 0.49, held by inner nodes in the middle of its
body; five dynamic nodes: hands, feet, belly. Gravity from the start; then each limb is pulled by a force that grows for
0.15 s, stays for 0.15 s and goes at once, a limb every 1.25 s. What pulls, how hard and when is ours: the
thesis prints none of it. h = 1/100 s, beta = 0.5, gamma = 1/3.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import meshes

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import Claim, claim, emit
from solver import catalogue
from solver.assembly.linearised import Linearised
from solver.contact.laws.ground_penalty import GroundPenalty
from solver.coordinates.free_nodes import FreeNodes
from solver.forces.elastic import Elastic
from solver.linear.choose import choose
from solver.meshing.volume import face_parts, tet_volumes
from solver.nonlinear.newton import NewtonDirect
from solver.parts.conjac.liveliness import AWAKE, LEVEL
from solver.parts.interface import Mesh
from solver.state import Vec
from solver.world.bodies import BodyInWorld, lump_mass
from solver.world.nodes import Nodes

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "gallery" / "armadillo_metric.png"
H, BETA, YOUNG, POISSON = 1 / 100, 0.5, 6e4, 0.49
THRESHOLDS = (0.02, 0.10)  #: of the thesis [1/s]
NAMES = ("left hand", "right hand", "left foot", "right foot", "belly")
TIPS = ((0.052, -0.035, 0.112), (-0.054, -0.030, 0.118), (0.033, 0.010, 0.020), (-0.024, 0.010, 0.020),
          (0.0, 0.010, 0.070))  #: of the dynamic nodes [m]
MIDDLE, CORE = (0.0, 0.012, 0.098), 0.012  #: inner nodes so near to there are held [m]
PULLS = ((2.0, -2.0, 0.8), (-2.0, -2.0, 0.8), (3.0, 2.0, -3.0), (-3.0, -2.0, -3.0))  #: of each limb in turn [N]
REACH = 0.02  #: around a limb's dynamic node, the nodes that share its pull [m]
FIRST, EVERY, GROWS, STAYS = 1.0, 1.25, 0.15, 0.15  #: [s]
SECONDS = FIRST + EVERY * len(PULLS)


class Pulled(Nodes):
    """A world whose limbs are pulled in turn, each node by its share of the mass."""

    def linearise_at(self, x: Vec, v: Vec | None, time: float, project: bool = True) -> Linearised:
        self._pull(time)
        return super().linearise_at(x, v, time, project)

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float]:
        self._pull(time)
        return super().evaluate(x, time)

    def _pull(self, time: float) -> None:
        self._weight = self.mass[:, None] * self.gravity
        for k, (tip, pull) in enumerate(zip(TIPS, PULLS)):
            since = time - FIRST - EVERY * k
            if 0.0 <= since < GROWS + STAYS:
                near = np.linalg.norm(self.rest - tip, axis=1) < REACH
                fraction = np.where(near, self.mass, 0.0) / self.mass[near].sum()
                self._weight = self._weight + min(since / GROWS, 1.0) * fraction[:, None] * np.array(pull)


def world(mesh: tuple[Vec, np.ndarray] | None = None, **adaptive: float) -> Pulled:
    """The body in its world, before anything is pulled.

    mesh: nodes [m] and tetrahedra where the armadillo is, for tests. adaptive: parameters of the method, such as
    adaptive=1, liveliness_threshold=0.02. Raises MissingMesh.
    """
    nodes, tets = mesh or meshes.tetrahedra("armadillo")
    model = catalogue.find("material", "stable_neo_hookean").load()
    elastic = Elastic(nodes, tets, model, model.constants(np.full(len(tets), YOUNG), np.full(len(tets), POISSON)))
    volumes = tet_volumes(nodes, tets)
    mass = lump_mass(nodes, tets, volumes, np.full(len(tets), 1000.0))
    pinned = np.flatnonzero(np.linalg.norm(nodes - MIDDLE, axis=1) < CORE).astype(np.int32)
    dynamic = np.array([np.argmin(np.linalg.norm(nodes - tip, axis=1)) for tip in TIPS], dtype=np.int32)
    coordinates, linear = FreeNodes(nodes, pinned, None), choose()
    number, labels = face_parts(tets)
    mesh = Mesh(elastic.tets, nodes, mass, [np.unique(tets[labels == part]) for part in range(number)], coordinates,
                dynamic, YOUNG * float(np.cbrt(6.0 * volumes.mean())))
    entry = catalogue.find("method", "conjac")
    params = {param.key: param.default for param in entry.params} | {"beta": BETA} | adaptive
    body = BodyInWorld("armadillo", slice(0, len(nodes)), float(np.linalg.norm(np.ptp(nodes, axis=0))), None, None)
    return Pulled([body], [elastic], coordinates, nodes, mass, np.array([0.0, 0.0, -9.81]),
                  GroundPenalty.nowhere(coordinates.is_free), 1, condensation=entry.load()(mesh, linear, params),
                  integrator=catalogue.find("integrator", "semi_implicit").load()({}), linear=linear,
                  stage_solver=NewtonDirect({"tolerance": 1e-6, "iterations": 100}))


VARIANTS: dict[str, dict[str, float]] = {
    "awake": {}, "adaptive, all awake": {"adaptive": 1, "liveliness_threshold": 0.0},
    **{f"{one:g}": {"adaptive": 1, "liveliness_threshold": one} for one in THRESHOLDS}}


def simulate(name: str, seconds: float) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """A row, and the liveliness and sleep of each node at each step, (steps, 5)."""
    made = world(**VARIANTS[name])
    state = made.initial_state()
    made.step(state, H)  # kernels are loaded and arrays touched before anything is timed
    made.stretching(made.rest, made.rest)
    made.evaluate(made.rest, 0.0)
    made.forget_past()
    first, worked, spent, levels, awake, moving = made.linear.factored, 0.0, [], [], [], []
    for _ in range(round(seconds / H)):
        began, cpu = time.perf_counter(), time.process_time()
        after = made.step(state, H)
        spent.append(1e3 * (time.perf_counter() - began))
        worked += time.process_time() - cpu
        speed = made.coordinates.spread((after.q - state.q) / H, None)
        moving.append(0.5 * float((made.mass[:, None] * speed**2).sum()))
        levels.append(after.memory.get(LEVEL, np.zeros(len(NAMES))))
        awake.append(after.memory.get(AWAKE, np.ones(len(NAMES))) > 0.0)
        state = after
    up, all_ms = np.array(awake), np.array(spent)
    quiet = ~up.any(axis=1)
    row = {"seconds": round(all_ms.sum() / 1e3, 2), "cpu_seconds": round(worked, 2),
           "ms_a_step": round(float(np.mean(spent)), 2),
           "factorizations": made.linear.factored - first, "steps": len(spent),
           "kinetic_mJ": round(1e3 * float(np.mean(moving)), 4), "awake_nodes": round(float(up.sum(axis=1).mean()), 2),
           "all_asleep": round(float(quiet.mean()), 3),
           "wakes": dict(zip(NAMES, (np.diff(up.astype(int), axis=0, prepend=0) == 1).sum(axis=0).tolist())),
           "median_ms_by_awake": {int(k): round(float(np.median(all_ms[up.sum(axis=1) == k])), 1)
                                  for k in np.unique(up.sum(axis=1))}}
    return row, np.array(levels), up


def draw(found: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """Liveliness over time, a panel a threshold; bars below are the times awake. [Thesis 4.20]"""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(len(found), 1, figsize=(9.0, 3.4 * len(found)), sharex=True, squeeze=False)
    for (name, (levels, awake)), panel in zip(found.items(), panels[:, 0]):
        times = H * np.arange(1, len(levels) + 1)
        bars = panel.inset_axes((0.0, 0.01, 1.0, 0.2), sharex=panel)
        bars.axis("off")
        bars.set_ylim(-4.2, 1.0)
        for k, label in enumerate(NAMES):
            (line,) = panel.plot(times, levels[:, k], label=label, linewidth=1.0)
            edges = np.flatnonzero(np.diff(np.concatenate([[False], awake[:, k], [False]]).astype(int)))
            bars.broken_barh([(H * a, H * (b - a)) for a, b in edges.reshape(-1, 2)], (-k, 0.7), color=line.get_color())
        panel.axhline(float(name), color="black", linewidth=0.8, linestyle="--")
        for k in range(len(PULLS)):
            panel.axvspan(FIRST + EVERY * k, FIRST + EVERY * k + GROWS + STAYS, color="0.92", zorder=0)
        panel.set_yscale("log")
        panel.set_ylim(1e-6, 10.0)
        panel.set_ylabel("liveliness [1/s]")
        panel.set_title(f"threshold {name}/s (dashed); grey: a limb is pulled; bars: awake", fontsize=10)
    panels[0, 0].legend(loc="upper right", fontsize=8, ncols=5)
    panels[-1, 0].set_xlabel("time [s]")
    panels[-1, 0].set_xlim(0.0, H * len(levels))
    figure.tight_layout()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=90)


def rows(names: list[str], seconds: float = SECONDS, picture: bool = True) -> dict[str, Any]:
    """A row for each of VARIANTS; the thresholds among them into the picture."""
    out, found = {}, {}
    for name in names:
        out[name], levels, awake = simulate(name, seconds)
        print(name, out[name], file=sys.stderr, flush=True)
        if "liveliness_threshold" in VARIANTS[name] and float(VARIANTS[name]["liveliness_threshold"]):
            found[name] = (levels, awake)
    if picture and found:
        draw(found)
    return out


def measured() -> tuple[dict[str, Any], list[Claim]]:
    """The rows, and that letting nodes sleep saves processor time, of all threads."""
    awake, *asleep = rows(["awake", *(f"{one:g}" for one in THRESHOLDS)], picture=False).values()
    made = {"awake": awake} | {f"{one:g}/s": of for one, of in zip(THRESHOLDS, asleep)}
    return made, [claim(f"adaptive_gain_{one:g}", awake["cpu_seconds"] / of["cpu_seconds"], "", "> 1", "saves time")
                  for one, of in zip(THRESHOLDS, asleep)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="/".join(VARIANTS), help=f"of: {'/'.join(VARIANTS)}")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    chosen = parser.parse_args()
    threads.configure(None)
    emit("armadillo_adaptive", [], rows(chosen.only.split("/"), chosen.seconds))


if __name__ == "__main__":
    main()
