"""Measure the cost of a mechanism's step: its growth with the number of joints, and compared with MuJoCo.

The chain of `chains`, at every size from the same posture and for the same few steps, which is a whole step each time:
posture, forces, matrix, factor, solve, advance. Both programs in one process, taking turns, medians. Dense is what the
same system costs when Jᵀ B J is formed and factored as a dense matrix, which is what stiffness between bodies asked for
before the recursion took it in. Rows of their own, by `python -m benchmarks.articulated NAME`: `growth`, `mujoco`,
`klann` (benchmarks/scenes/klann.py), `bisp` and `bisp_printed` (benchmarks/scenes/chain.py). The first three take
11, 60 and 3 s of one core, the others minutes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np
import scipy.linalg

from benchmarks.chains import MuJoCo, Ours
from benchmarks.report import Claim, claim, emit
from benchmarks.run import PARTS
from benchmarks.scenes import klann
from benchmarks.scenes.chain import bisp_beside_printed, bisp_over_sp

STEPS = 20  #: from the start, in which springs stay pressed and both programs stay together
FEW = 5  #: of chains whose steps take long, and of balls, which pressed springs let buckle soon
SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
DENSE = (10, 100, 300, 1000)
HINGES = (10, 100, 200, 1000)
BALLS = (10, 100, 1000)

Part = tuple[list[Claim], dict[str, Any]]


def say(*words: object) -> None:
    print(*words, file=sys.stderr, flush=True)


def step_ms(chains: list[Ours | MuJoCo], seconds: float, steps: int = STEPS) -> list[float]:
    """Milliseconds of a step of each chain, medians over runs of `steps` steps that take turns; the first run warms.

    Of this thread's own time on a core, since both programs use one: what others run meanwhile does not count.
    """
    spent: list[list[float]] = [[] for _ in chains]
    began = time.thread_time()
    while len(spent[0]) < 4 or time.thread_time() - began < seconds:
        for chain, times in zip(chains, spent):
            chain.restart()
            start = time.thread_time()
            for _ in range(steps):
                chain.step()
            times.append((time.thread_time() - start) / steps * 1e3)
    return [float(np.median(times[1:])) for times in spent]


def dense_ms(chain: Ours) -> float:
    """Return the seconds a step that forming and factoring the chain's matrix densely takes."""
    tree, mechanism = chain.tree, chain.mechanism
    chain.step()
    posture = tree.posture(chain.state.q, chain.state.u, chain.state.memory)
    n, m = tree.count, tree.rates
    diagonal, below = mechanism.tree.inertia.copy(), np.zeros((n, 6, 6))
    mechanism.springs.add(posture.E, posture.twist, None, 1e-2, 1e-4, 0.0, np.zeros((n, 6)), diagonal, below)
    spent = []
    for _ in range(4):
        began = time.thread_time()
        J = tree.jacobian(posture).reshape(n, 6, m)
        SJ = diagonal @ J
        SJ[1:] += below[1:] @ J[:-1]
        SJ[:-1] += np.swapaxes(below[1:], 1, 2) @ J[1:]
        A = J.reshape(6 * n, m).T @ SJ.reshape(6 * n, m)
        scipy.linalg.cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
        spent.append((time.thread_time() - began) * 1e3)
    return float(np.median(spent[1:]))


def growth() -> Part:
    """Time against the number of hinges; the sizes take turns too, so that a busy machine bends no curve."""
    chains = [Ours(count, "hinge") for count in SIZES]
    spent = dict(zip(SIZES, step_ms([*chains], 8.0)))
    dense = {chain.tree.count: dense_ms(chain) for chain in chains if chain.tree.count in DENSE}
    say("hinges, ms a step", spent, "dense", dense)
    large = [count for count in SIZES if count >= 100]
    slope = np.polyfit(np.log(large), np.log([spent[count] for count in large]), 1)[0]
    return [claim("exponent", slope, "", "<= 1.1", "near linear")], {"ms_by_hinges": spent, "dense_ms_by_hinges": dense}


def beside_mujoco() -> Part:
    """Return the chain as MuJoCo steps it."""
    try:
        import mujoco
    except ImportError:
        return [], {"mujoco": "is not installed"}
    rows: dict[str, Any] = {}
    for joint, sizes in (("hinge", HINGES), ("ball", BALLS)):
        for count in sizes:
            ours, theirs = Ours(count, joint), MuJoCo(count, joint)
            if joint == "ball" and count >= 1000:  # a step takes it seconds
                mine = step_ms([ours], 0.5, FEW)[0]
                row = apart(ours, theirs)
                row |= {"ours_ms": mine, "mujoco_ms": row["first_step_ms"]}
            else:
                mine, other = step_ms([ours, theirs], 1.0, STEPS if joint == "hinge" and count < 1000 else FEW)
                row = apart(ours, theirs) | {"ours_ms": mine, "mujoco_ms": other}
            row["ratio"] = row["mujoco_ms"] / row["ours_ms"]
            rows[f"{count} {joint}s"] = row
            say(count, f"{joint}s", row)
    unstable = {name: blows_up(name) for name in ("EULER", "IMPLICITFAST", "IMPLICIT", "DISCRETE")}
    claims = [claim(f"mujoco_ratio_{count}", rows[f"{count} hinges"]["ratio"], "times as fast", goal)
              for count, goal in ((10, ">= 0.333"), (100, ">= 0.5"), (200, ">= 1"), (1000, ">= 20"))]
    claims.append(claim("mujoco_ratio_1000_balls", rows["1000 balls"]["ratio"], "times as fast", ">= 20"))
    return claims, {"mujoco": mujoco.__version__, "beside_mujoco": rows, "mujoco_blows_up_with": unstable}


def apart(ours: Ours, theirs: MuJoCo) -> dict[str, float]:
    """How far both programs' rods are from each other after one step from rest [m]: whether it is the same chain."""
    ours.restart()
    theirs.restart()
    ours.step()
    began = time.thread_time()
    theirs.step()
    spent = (time.thread_time() - began) * 1e3
    return {"apart_m": float(np.abs(ours.positions() - theirs.positions()).max()), "first_step_ms": spent}


def blows_up(integrator: str) -> bool:
    """Whether MuJoCo's integrator gives up a hundred hinges within a second."""
    folder_before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # it writes a log beside where it runs
        try:
            chain = MuJoCo(100, "hinge", integrator)
            for _ in range(100):
                chain.step()
        finally:
            os.chdir(folder_before)
    return chain.has_blown_up


MEASURED: dict[str, Callable[[], Part]] = {"growth": growth, "mujoco": beside_mujoco, "klann": klann.realtime,
                                           "bisp": bisp_over_sp, "bisp_printed": bisp_beside_printed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=PARTS["articulated"])
    name = parser.parse_args().name
    threads.configure(None)
    emit(f"articulated.{name}", *MEASURED[name]())


if __name__ == "__main__":
    main()
