"""Scenes of jointed bodies from the dissertation that compare no programs: CHAIN and BIPED.

    python -m benchmarks.mechanism_scenes chain

CHAIN: when each hinge stops, with pins of radius R and 2R; the root before the tip, and all earlier with thicker pins.
BIPED: a ragdoll falls down stairs for three seconds in steps of 1/120 s. Milliseconds are the thread's own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import Claim, claim, emit
from benchmarks.run import PARTS
from benchmarks.scenes import biped, chain
from solver.build.mechanisms import build_mechanisms
from solver.job.load import load

SECONDS, H = 3.0, 1 / 120
Part = tuple[dict[str, Any], list[Claim]]


def stops() -> Part:
    """CHAIN's row: where every hinge was still by the end its order says whether friction grows with the load."""
    thin, thick = (chain.stops(chain.rates(radius=factor * chain.RADIUS)) for factor in (1.0, 2.0))
    row = {"links": chain.LINKS, "mu": chain.MU, "stops_at_s": {
        f"R {1e3 * radius:g} mm": {f"hinge {k + 1}": round(float(at), 3) for k, at in enumerate(one)}
        for radius, one in ((chain.RADIUS, thin), (2.0 * chain.RADIUS, thick))}}
    if max(thin.max(), thick.max()) >= chain.SECONDS:
        return row, []  # who still moves has not stopped yet
    return row, [claim("chain_root_stops_before_tip", float(thin[-1] - thin[0]), "s", "> 0", "stops first"),
                 claim("chain_stops_earlier_with_2R", float((thin - thick).min()), "s", "> 0", "all earlier")]


def falls() -> Part:
    """BIPED's row: what a step costs while limbs hit stairs and each other, and how it ends."""
    with tempfile.TemporaryDirectory(prefix="conjac-scene-") as name:
        biped.job(Path(name) / "job", SECONDS, H)
        world = build_mechanisms(load(Path(name) / "job"))
    state, spent = world.initial_state(), []
    for k in range(round(SECONDS / H)):
        began = time.thread_time()
        state = replace(world.step(state, H), time=(k + 1) * H)
        spent.append(1e3 * (time.thread_time() - began))
    pose = world.poses(state)["pose"][: 1 + len(biped.LIMBS)]
    ms = float(np.median(spent))
    return ({"bodies": 1 + len(biped.LIMBS), "steps_of_stairs": biped.STEPS, "h": H, "ms_a_step": round(ms, 3),
             "slowest_ms": round(max(spent), 2), "lowest_body_m": round(biped.lowest_point(pose), 3),
             "walked_m": round(float(pose[0, 1, 3]), 3), "fastest_rate_at_end": round(float(np.abs(state.u).max()), 3),
             "log": " ".join(world.summary)},
            [claim("biped_realtime", SECONDS / (1e-3 * float(np.sum(spent))), "times real time", ">= 1")])


MEASURED: dict[str, Callable[[], Part]] = {"chain": stops, "biped": falls}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=PARTS["mechanism_scenes"])
    name = parser.parse_args().name
    threads.configure(1)
    row, claims = MEASURED[name]()
    print(row, file=sys.stderr, flush=True)
    emit(f"mechanism_scenes.{name}", claims, {name: row})


if __name__ == "__main__":
    main()
