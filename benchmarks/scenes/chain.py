"""CHAIN: hinges with friction, all axes at 45 degrees to gravity; it starts level and falls. [Thesis 3.3.2]

    python -m benchmarks.scenes.chain            when each hinge stops, with pins of radius R and 2R
    python -m benchmarks.scenes.chain staggered [LINKS …]     BISP beside Staggered Projections
    python -m benchmarks.scenes.chain plot PNG   how fast each hinge turns
    python -m benchmarks.scenes.chain JOB [R]    writes the job folder, to be baked by `python -m solver bake JOB`

Hinges near the root carry more and so are braked more: the root stops before the tip, and all hinges earlier, one after
the other from the root, with pins of twice the radius. Sizes, masses and μ are ours.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.report import Claim, claim
from solver.build.mechanisms import build_mechanisms
from solver.job.load import load
from solver.state import State
from solver.world.joints import Joints
from solver.world.joints_with_friction import JointsWithFriction

LINKS, LENGTH, WIDTH = 10, 0.1, 0.02  #: [m]
MU, RADIUS, PIN = 0.6, 0.008, 0.03
FPS, STEPS = 24.0, 10  #: steps a frame
SECONDS = 4.0
AT_REST = 1.0e-3  #: [rad/s]
#: Z to (0, 1, 1) / √2, X kept: (w, x, y, z)
TURN = (float(np.cos(np.pi / 8)), -float(np.sin(np.pi / 8)), 0.0, 0.0)
LAW = {"kind": "bisp", "params": {"passes": 20, "agreement": 1e-4}}
KINDS = ("bisp", "staggered")
AGREES, SHARP = 1e-6, 1e-9  #: agreement of both when they stand beside each other, and of their own best answers
MOST = 10_000  #: passes, more than a job may ask for
FEW = 5  #: links, of which the reference agrees at every state; of ten it does not end at 1.0 s


def scene(radius: float = RADIUS, links: int = LINKS, law: dict[str, Any] = LAW, mu: float = MU) -> dict[str, Any]:
    """scene.json as a value."""
    bearing = {"mu": mu, "radius": radius, "length": PIN}
    shape = {"kind": "box", "params": {"size_x": LENGTH, "size_y": WIDTH, "size_z": WIDTH}}
    bodies = [{"name": f"Link {i + 1}", "position": [(i + 0.5) * LENGTH, 0.0, 0.0], "rotation": TURN, "shape": shape,
               "is_collider": False} for i in range(links)]
    joints = [{"name": f"Hinge {i + 1}", "child": f"Link {i + 1}", "parent": f"Link {i}" if i else None,
               "position": [i * LENGTH, 0.0, 0.0], "rotation": TURN, "friction": bearing} for i in range(links)]
    return {"version": 1, "name": "chain", "method": {"kind": "vanilla", "params": {"beta": 1.0}},
            "time": {"start": 1, "end": 1 + round(SECONDS * FPS), "fps": FPS, "step": 1.0 / (FPS * STEPS)},
            "joint_friction": law, "mechanisms": [{"name": "Chain", "bodies": bodies, "joints": joints}]}


def write(folder: Path, **options: Any) -> Path:
    """A job folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scene.json").write_text(json.dumps(scene(**options)), encoding="utf-8")
    return folder


def world(**options: Any) -> Joints:
    """Built as a bake builds it."""
    with tempfile.TemporaryDirectory(prefix="conjac-scene-") as name:
        return build_mechanisms(load(write(Path(name), **options)))


def rates(seconds: float = SECONDS, **options: Any) -> np.ndarray:
    """Return the rates of all hinges after each step, (T, links) [rad/s]."""
    built = world(**options)
    state = built.initial_state()
    out = []
    for _ in range(round(seconds * FPS * STEPS)):
        state = built.step(state, 1.0 / (FPS * STEPS))
        out.append(state.u)
    return np.array(out)


def stops(u: np.ndarray) -> np.ndarray:
    """When each hinge moved last [s], (links,)."""
    last = np.array([np.flatnonzero(np.abs(one) > AT_REST).max(initial=-1) for one in u.T])
    return (last + 1) / (FPS * STEPS)


def beside_staggered(links: int = LINKS, seconds: tuple[float, ...] = (0.1, 0.5, 1.0, 1.7), steps: int = 4,
                     one_sided: bool = False) -> dict[str, Any]:
    """Whole steps with BISP and with Staggered Projections, from the same states of the chain's fall.

    Both ask the same QP library at the same contact points, agree to the same share and have as many passes as they
    take; both start from their last impulses. one_sided: contact as printed, α >= 0. Medians of the thread's own time
    in ms, also by where they start; passes, iterations and stages without agreement a step. Distances are of rates, as
    a share of what friction changes in a step: `apart` of the two, `off` of each from its own answer where it agrees a
    thousand times as well.
    """
    bisp, staggered = (_rubbing(kind, AGREES, links, one_sided) for kind in KINDS)
    sharp = [_rubbing(kind, SHARP, links, one_sided) for kind in KINDS]
    plain = world(links=links, law={"kind": "none"})
    h = 1.0 / (FPS * STEPS)
    spent: dict[str, list[float]] = {kind: [] for kind in KINDS}
    each: dict[str, list[float]] = {kind: [] for kind in KINDS}
    far: dict[str, list[float]] = {"apart": [], **{kind: [] for kind in KINDS}}
    state = bisp.initial_state()
    counts = {kind: np.zeros(4) for kind in KINDS}
    at = 0
    for start in seconds:
        while at * h < start - 1e-9:
            state, at = bisp.step(state, h), at + 1
        alone = State(state.time, state.q, state.u, {})
        ends = [built.step(alone, h).u for built in (bisp, staggered)]
        change = float(np.abs(plain.step(alone, h).u - ends[0]).max())
        exact = [built.step(alone, h).u for built in sharp]
        for name, one, other in (("apart", ends[0], ends[1]), *zip(KINDS, ends, exact)):
            far[name].append(float(np.abs(one - other).max()) / change)
        for name, built in zip(KINDS, (bisp, staggered)):
            # one step, untimed, leaves its own impulses to start from
            after = built.step(alone, h)
            before = count(built)
            for _ in range(steps):
                began = time.thread_time()
                after = built.step(after, h)
                spent[name].append(1e3 * (time.thread_time() - began))
            counts[name] += count(built) - before
            each[name].append(round(float(np.median(spent[name][-steps:])), 3))
    ms = {name: float(np.median(times)) for name, times in spent.items()}
    by_method = {name: {"ms": ms[name], "ms_by_start": each[name], "off": max(far[name]),
                   **dict(zip(("passes", "iterations", "unsettled"), np.round(of[1:] / of[0], 2)))}
            for name, of in counts.items()}
    return {"links": links, "ratio": ms["staggered"] / ms["bisp"], "apart": max(far["apart"]), **by_method}


def _rubbing(kind: str, agreement: float, links: int, one_sided: bool) -> Joints:
    built = world(links=links, law={"kind": kind, "params": {"agreement": agreement}})
    assert isinstance(built.constraints, JointsWithFriction)
    law = cast(Any, built.constraints.law)
    law.max_sweeps = MOST
    if kind == "staggered":
        law.one_sided = one_sided
    return built


def bisp_over_sp() -> tuple[list[Claim], dict[str, Any]]:
    """How many times faster a step is with BISP, and how far the two are apart, where both agree in every stage; else
    nothing is claimed. The faster of the two references counts, that with points that press both ways, whose contact
    problem is linear; that with contact as printed is a row of its own.
    """
    both = beside_staggered(FEW)
    if any(both[kind]["unsettled"] for kind in KINDS):
        return [], {"beside_staggered": both}
    return ([claim("bisp_over_sp", both["ratio"], "times as fast", ">= 10", "an order of magnitude"),
             claim("bisp_beside_sp", both["apart"], "of friction", "<= 0.01")], {"beside_staggered": both})


def bisp_beside_printed() -> tuple[list[Claim], dict[str, Any]]:
    """Chain with contact as printed, α >= 0. There a bearing presses on its loaded side alone, its friction has a
    sum, and less is left to press: its answer is another one, so nothing is claimed."""
    return [], {"beside_staggered_as_printed": beside_staggered(FEW, one_sided=True)}


def count(built: Joints) -> np.ndarray:
    """Stages, passes, iterations and stages that did not settle, so far."""
    law = built.constraints
    assert isinstance(law, JointsWithFriction)
    return np.array([law.stages, law.sweeps, law.iterations, law.unsettled], dtype=float)


def plot(path: Path) -> None:
    """How fast each hinge turns, with pins of radius R and 2R."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, rows = plt.subplots(2, 1, figsize=(7.5, 5.0), sharex=True, layout="constrained")
    for axes, radius in zip(rows, (RADIUS, 2.0 * RADIUS)):
        u = rates(3.0, radius=radius)
        t = np.arange(1, len(u) + 1) / (FPS * STEPS)
        for k, one in enumerate(u.T):
            axes.plot(t, one, color=plt.get_cmap("viridis")(k / (LINKS - 1)), linewidth=1.0,
                      label=f"hinge {k + 1}" if k in (0, LINKS - 1) else None)
        axes.set_ylabel("rad/s")
        axes.set_title(f"pins of {1e3 * radius:g} mm", fontsize=10)
        axes.legend(loc="upper right", fontsize=8)
    rows[-1].set_xlabel("s")
    figure.savefig(path, dpi=90)


def main() -> int:
    if sys.argv[1:2] == ["plot"]:
        plot(Path(sys.argv[2]))
        return 0
    if sys.argv[1:2] == ["staggered"]:
        for links in map(int, sys.argv[2:] or [LINKS]):
            for one_sided in (False, True):
                compared = beside_staggered(links, one_sided=one_sided)
                print("one-sided" if one_sided else "two-sided", compared, flush=True)
        return 0
    if len(sys.argv) > 1:
        write(Path(sys.argv[1]), radius=float(sys.argv[2]) if len(sys.argv) > 2 else RADIUS)
        return 0
    for radius in (RADIUS, 2.0 * RADIUS):
        print(f"R = {1e3 * radius:g} mm: the hinges stop at", np.round(stops(rates(radius=radius)), 2), "s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
