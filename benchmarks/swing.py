"""Measure the energy of undamped chains of rods with linearised steps, and the cost relative to Semi-Implicit Euler.

Rods of 0.2 m and 1 kg are released level and observed for four seconds at 1/120 s. Shares are relative to the potential
energy that they can lose. The cost of a step is this thread's own time, medians of runs in turns.
"""

from __future__ import annotations

import time
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from solver import catalogue
from solver.coordinates.inertia import box
from solver.coordinates.tree_build import Body, Joint, build
from solver.forces.joint_forces import JointForces, no_law
from solver.forces.springs import Springs
from solver.nonlinear.limits import StopRule
from solver.parts.joints.jointed import Jointed
from solver.parts.joints.on_rates import OnRates
from solver.state import Vec
from solver.world.joints import Joints
from solver.world.mechanisms import OwnFrames

LINK, MASS, WIDTH, GRAVITY, H, SPAN = 0.2, 1.0, 0.02, 9.81, 1 / 120, 4.0
LIVELY, CALM = "leapfrog", "semi_implicit"
CHAINS, PRICED = (10, 20), (20, 50)
STEPS, RUNS = 60, 61


def chain(count: int, integrator: str) -> Joints:
    """`count` rods along X, hinged about Y end to end, the first in the world's origin."""
    inertia = box(LINK, WIDTH, WIDTH).weighing(MASS).spatial()
    at = np.array([[1.0, 0, 0, 0], [0, 0, 1.0, 0], [0, -1.0, 0, 0], [0, 0, 0, 1.0]])  # its Z along the world's Y

    def frame(x: float) -> Vec:
        out = at.copy()
        out[0, 3] = x
        return out

    bodies = [Body(f"rod {i}", inertia) for i in range(count)]
    joints = [Joint(f"joint {i}", "revolute", f"rod {i}", f"rod {i - 1}" if i else None,
                    frame(LINK / 2 if i else 0.0), frame(-LINK / 2)) for i in range(count)]
    tree = build(bodies, joints)
    none = Springs(np.zeros((0, 2), np.int32), np.zeros((0, 2, 3)), np.zeros((0, 3)), tree.parent)
    jointed = Jointed(tree, none, OnRates(tree, JointForces(tree, no_law(tree.rates))), np.array([0, 0, -GRAVITY]), 1.0)
    rest = np.zeros(tree.rates)
    return Joints([], OwnFrames(np.zeros(0, np.int32), np.zeros((0, 4, 4))), tree, jointed,
                  StopRule(1.0e-6, 100, 0.0), rest, rest, 1, recentres=True,
                  integrator=catalogue.find("integrator", integrator).load()({}))


def drop(count: int) -> float:
    """Return the potential energy that `count` level rods can lose [J]."""
    return MASS * GRAVITY * LINK * count**2 / 2


def energies(world: Joints) -> Vec:
    """Energy above that of the start after each step, as a share of the drop."""
    state = world.initial_state()
    start, found = world.energy(state), []
    for _ in range(round(SPAN / H)):
        state = world.step(state, H)
        found.append(world.energy(state) - start)
    return np.array(found) / drop(world.tree.count)


def step_ms(worlds: list[Joints]) -> list[float]:
    """Milliseconds of a step of each."""
    spent: list[list[float]] = [[] for _ in worlds]
    for _ in range(RUNS):
        for world, times in zip(worlds, spent):
            state = world.initial_state()
            began = time.thread_time()
            for _ in range(STEPS):
                state = world.step(state, H)
            times.append((time.thread_time() - began) / STEPS * 1e3)
    return [float(np.median(times[1:])) for times in spent]


def main() -> None:
    """Claims on the integrator of new mechanisms; Semi-Implicit Euler's numbers stand beside them."""
    threads.configure(None)
    rows: dict[str, Any] = {}
    for integrator in (LIVELY, CALM):
        found = {count: energies(chain(count, integrator)) for count in (1, *CHAINS)}
        rows[integrator] = {str(count): {"most": float(one.max()), "least": float(one.min()), "end": float(one[-1])}
                            for count, one in found.items()}
    price = {}
    for count in PRICED:
        lively, calm = step_ms([chain(count, LIVELY), chain(count, CALM)])
        price[str(count)] = {"ms": lively, "semi_implicit_ms": calm, "ratio": lively / calm}
    lively_rows = rows[LIVELY]
    claims = [claim("hinge_loss", -lively_rows["1"]["least"], "of its drop", "<= 0.03"),
              claim("chain_gain", max(0.0, *(lively_rows[str(count)]["most"] for count in CHAINS)), "of its drop",
                    "<= 0.01"),
              claim("leapfrog_cost", max(one["ratio"] for one in price.values()), "steps of Semi-Implicit Euler",
                    "<= 2")]
    emit("swing", claims, {"energy": rows, "price": price})


if __name__ == "__main__":
    main()
