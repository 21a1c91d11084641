"""BUNNY: dropped at several angles onto a ground with friction. [ConJac BUNNY, Fig. 8, Table 1]

    python -m benchmarks.scenes.bunny [--picture docs/gallery/bunny.png]

The mesh is the shared bunny, 12 cm long, 344 g, 6,216 nodes (the paper's has 5,988). Eight dynamic nodes where
*Suggest* puts them; μ = 0.3, β = 0.5 and γ = 1/3 as in the paper. Drop height, angles, step and the ground's stiffness
are ours: 3 cm, 5 ms, 100 N/m a node, which a node in contact feels as −k (n · (x − x_s)) n. The paper's α = 0.1 adds
−α k (1 − n nᵀ) to K and nothing to f: in a step that is a drag of β h α k = 0.025 N s/m on every touching node at these
numbers, whatever its load, which stops sliding that μ would let go on; so here friction alone acts along the ground,
but for one row of the paper's α.

What a row says of slip is the speed along the ground of touching nodes, as a mean over contacts and steps weighted with
the normal impulses: `before` friction, as Bridson's filter wants it at each node by itself (`node_by_node`), and what
is `left` in the velocities. `moved` is the same of the positions, where corrections move quasistatic nodes besides;
`moved_at_rest` that of the last quarter of the run.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import meshes

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import Claim, claim
from benchmarks.scenes.scene import Scene
from solver.build.suggest import MODES, STEP
from solver.contact.laws.filter import Filter
from solver.contact.laws.interface import Friction, Respond, SlidingNodes
from solver.fields.suggest import farthest_nodes, scale_to_equal_energy
from solver.integrators.modes import lowest
from solver.world.nodes import Nodes

MU, BETA, H, NODES = 0.3, 0.5, 5.0e-3, 8
CALM = 1.0  #: β of Vanilla, which blows up at 0.5
STIFFNESS, HEIGHT, SECONDS = 100.0, 0.03, 0.4  #: of the ground [N/m] a node, of the drop [m], of the run [s]
MATERIAL = 4.0e4, 0.45  #: E [Pa], ν
ALPHA = 0.1  #: of the paper
SLOPE = 0.2  #: tangent of the slope on which it is set down, below μ
NONE = np.zeros(0, dtype=np.int32)


def turn(axis: int, degrees: float) -> np.ndarray:
    """A turn about x, y or z, (3, 3)."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i, j = ((1, 2), (2, 0), (0, 1))[axis]
    out = np.eye(3)
    out[i, i] = out[j, j] = c
    out[i, j], out[j, i] = -s, s
    return out


ANGLES = {"feet": turn(1, 0.0), "nose": turn(1, -60.0), "side": turn(0, 70.0)}


@cache
def scene(angle: str = "feet", law: str | None = "coulomb", slope: float = 0.0, alpha: float = 0.0) -> Scene:
    """angle: a key of ANGLES. law: of the catalogue. slope: of the ground, on which it is then set down. alpha: the
    ground's tangential share."""
    nodes, tets = meshes.tetrahedra("bunny")
    leaning = turn(1, np.degrees(np.arctan(slope)))
    nodes = nodes @ ANGLES[angle].T
    nodes = (nodes - [0.0, 0.0, nodes[:, 2].min() - (0.0 if slope else HEIGHT)]) @ leaning.T
    ground: dict[str, Any] = {"point": [0.0, 0.0, 0.0], "normal": leaning[:, 2].tolist(), "stiffness": STIFFNESS,
                              "tangential_share": alpha}
    if law is not None:
        ground["friction"] = {"kind": law, "params": {"friction_coefficient": MU}}
    return Scene(np.ascontiguousarray(nodes), tets, NONE, suggested, (NODES,), *MATERIAL,
                 seconds=SECONDS, ground=ground,
                 paper={"vertices": 5988, "tets": 27695, "n_d": 8, "mu": 0.3, "alpha": 0.1, "beta": 0.5},
                 ours="height, angles, step, ground's stiffness, mesh")


@cache
def suggested(count: int) -> np.ndarray:
    """Dynamic nodes of the bunny as *Suggest* picks them, from its slowest vibrations."""
    nodes, tets = meshes.tetrahedra("bunny")
    world = Scene(nodes, tets, NONE, lambda _: NONE, (0,), *MATERIAL).world("vanilla")
    modes = 3 * count + MODES[0]
    tangent = world.tangent(world.initial_state(), 0.0)
    basis = lowest(tangent, modes, STEP, None)[:, :modes]
    stiffness = -np.einsum("ij,ij->j", basis, tangent.stiffness(basis))
    motion = scale_to_equal_energy(basis.reshape(-1, 3, modes), stiffness)
    return farthest_nodes(nodes, tets, world.mass, motion, count, NONE, NONE)


@dataclass
class Watched:
    """A friction law that does what another one does and records the load and speeds of each contact."""

    law: Friction
    rows: list[tuple[float, ...]] = field(default_factory=list)  #: of each contact: load and three speeds
    last: SlidingNodes | None = None

    @property
    def coefficient(self) -> float:
        return self.law.coefficient

    @property
    def has_static_friction(self) -> bool:
        return self.law.has_static_friction

    def impulses(self, rubbing: SlidingNodes, respond: Respond) -> np.ndarray:
        r = self.law.impulses(rubbing, respond)
        one = Filter({"friction_coefficient": MU}).impulses(rubbing, respond) / rubbing.mass[:, None]
        left = rubbing.along(rubbing.slip + respond(r))
        speeds = (np.linalg.norm(v, axis=1) for v in (rubbing.slip, rubbing.slip + one, left))
        self.rows += zip(rubbing.normal_impulse, *speeds)
        self.last = rubbing
        return r


def drop(one: Scene, method: str = "conjac", beta: float = BETA) -> tuple[dict[str, Any], np.ndarray]:
    """A run's row, and the positions after each step, (steps + 1, n, 3) [m]. Raises StepFailed."""
    # one linear solve a step, as the paper has it
    params: dict[str, Any] = {"solve_impacts": False} if method == "conjac" else {}
    world: Nodes = one.world(method, NODES, beta=beta, **params)
    law = world.ground.friction
    watched = None if law is None else Watched(law)
    world = replace(world, ground=replace(world.ground, friction=watched))
    state, xs, spent, moved = one.start(world), [one.nodes], [], []
    for i in range(round(one.seconds / H)):
        began = time.perf_counter()
        state = replace(world.step(state, H), time=(i + 1) * H)
        spent.append(time.perf_counter() - began)
        xs.append(world.coordinates.positions(state.q, state.time))
        if watched is not None and watched.last is not None:
            rubbing = watched.last
            slip = rubbing.along((xs[-1] - xs[-2])[rubbing.nodes]) / H
            moved += zip(np.full(len(slip), i), rubbing.normal_impulse, np.linalg.norm(slip, axis=1))
            watched.last = None
    mass_fraction = world.mass / world.mass.sum()
    displacement = mass_fraction @ (xs[-1] - xs[0])
    row: dict[str, Any] = {"ms_a_step": round(1e3 * float(np.median(spent)), 1),
                           "centre_moved_mm": [round(1e3 * float(d), 2) for d in displacement],
                           "last_speed_mm_s": round(
                               1e3 * float(np.linalg.norm(mass_fraction @ world.velocity(state))), 2)}
    if watched is not None and watched.rows:
        load, *speeds = np.array(watched.rows).T
        names = ("before", "node_by_node", "left")
        row["slip_mm_s"] = {name: round(1e3 * float(load @ v / load.sum()), 2) for name, v in zip(names, speeds)}
        step, load, slip = np.array(moved).T
        for name, part in (("moved", step >= 0), ("moved_at_rest", step >= 0.75 * len(spent))):
            row["slip_mm_s"][name] = round(1e3 * float(load[part] @ slip[part] / load[part].sum()), 2)
    return row, np.array(xs)


def row(picture: Path | None = None) -> dict[str, Any]:
    """The scene's row in benchmarks/conjac_scenes.py."""
    first = scene()
    out: dict[str, Any] = {"vertices": len(first.nodes), "tets": len(first.tets), "n_d": NODES, "h": H, "beta": BETA,
                            "paper": first.paper, "ours": first.ours}
    seen = {}
    for angle in ANGLES:
        for law in ("coulomb", "filter"):
            out[f"{angle} {law}"], xs = drop(scene(angle, law))
            if law == "coulomb":
                seen[angle] = xs
            print(f"  {angle} {law}: {out[f'{angle} {law}']}", file=sys.stderr, flush=True)
    out["feet coulomb, alpha"] = drop(scene("feet", alpha=ALPHA))[0]
    out["feet coulomb vanilla"] = {"beta": CALM} | drop(scene("feet"), "vanilla", CALM)[0]
    for law in ("coulomb", "filter"):
        out[f"on a slope of {SLOPE:g}, {law}"] = drop(scene("feet", law, SLOPE))[0]
    if picture is not None:
        draw(seen, picture)
    return out


def draw(seen: dict[str, np.ndarray], path: Path) -> None:
    """Each angle as a row of moments."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    triangles, moments = meshes.skin("bunny"), (0.0, 0.085, 0.1, 0.13, 0.19, 0.39)
    figure = plt.figure(figsize=(12.0, 5.4))
    floor = np.array([[-0.12, -0.09, 0.0], [0.12, -0.09, 0.0], [0.12, 0.09, 0.0], [-0.12, 0.09, 0.0]])
    for i, xs in enumerate(seen.values()):
        for j, moment in enumerate(moments):
            axes = figure.add_subplot(len(seen), len(moments), i * len(moments) + j + 1, projection="3d",
                                      computed_zorder=False)
            x = xs[round(moment / H)] - [*np.ptp(xs[0], axis=0)[:2] / 2 + xs[0].min(axis=0)[:2], 0.0]
            axes.plot_trisurf(*floor.T, triangles=[[0, 1, 2], [0, 2, 3]], color="#c8c4bc", linewidth=0, zorder=0)
            axes.plot_trisurf(*x.T, triangles=triangles, color="#d9a066", linewidth=0, antialiased=False, zorder=1)
            axes.set(xlim=(-0.075, 0.075), ylim=(-0.075, 0.075), zlim=(0.0, 0.15))
            axes.set_box_aspect((0.15, 0.15, 0.15), zoom=1.4)
            axes.view_init(14.0, -80.0)
            axes.set_axis_off()
            if i == 0:
                axes.set_title(f"{1e3 * moment:.0f} ms", fontsize=9, y=0.92)
    figure.subplots_adjust(0.0, 0.0, 1.0, 0.96, 0.0, 0.0)
    figure.savefig(path, dpi=100)


def measured() -> tuple[dict[str, Any], list[Claim]]:
    """The row, and that friction holds the bunny on a slope."""
    made = row()
    crept = np.linalg.norm(made[f"on a slope of {SLOPE:g}, coulomb"]["centre_moved_mm"][:2])
    return made, [claim("bunny_stands_on_a_slope", float(crept), "mm in 0.4 s", "<= 2")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--picture", type=Path, help="draw the drops with Coulomb's law into this file")
    chosen = parser.parse_args()
    threads.configure(None)
    print(json.dumps(row(chosen.picture)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
