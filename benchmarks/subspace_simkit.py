"""Compare a step of a reduced body with simkit (Benchekroun, MIT), written in numpy by an author of the paper.

Both compute skinning eigenmodes and cubature points of the same octobot of one stiffness, as the paper does, and take
one step of ARAP from a stretch of a tenth: seconds before the first step, milliseconds of a mixed iteration with its
line search, and the distance of the converged steps, since each chooses its own points. One thread.

    python3.11 -m venv build/simkit && build/simkit/bin/pip install 'simkit[solvers]==0.1.8'

CONJAC_SIMKIT names another Python that has it.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.creatures import OCTOBOT, meshed
from benchmarks.report import claim, emit
from benchmarks.subspace import NO_GRAVITY, H
from benchmarks.subspace_whole import skinned
from solver import catalogue
from solver.parts.modes.body import Stepping
from solver.parts.modes.operators import Substance
from solver.parts.modes.stepping import Iterating

ROOT = Path(__file__).resolve().parents[1]
TETS, YOUNG, TIMED, ITERATIONS = 30_000, 1e5, 15, 30


def python() -> Path:
    return Path(os.environ.get("CONJAC_SIMKIT", ROOT / "build" / "simkit" / "bin" / "python"))


def main() -> None:
    threads.configure(1)
    nodes, tets = meshed(replace(OCTOBOT, tets=TETS))
    material = Substance.of(catalogue.find("material", "arap").load(), 1000.0, youngs_modulus=YOUNG).repeat(len(tets))
    one = Stepping(gravity=NO_GRAVITY, iterating=Iterating(iterations=1, tolerance=0.0, guarded=False))
    began = time.perf_counter()
    body = skinned(nodes, tets, material, OCTOBOT.modes, OCTOBOT.points, one)
    ours = {"precomputed_s": round(time.perf_counter() - began, 2), "points": body.points.count}
    state = body.fit_state(nodes * [1.1, 1.0, 1.0])
    spent = []
    for _ in range(TIMED):
        began = time.perf_counter()
        body.step(state, H)
        spent.append(1e3 * (time.perf_counter() - began))
    ours["iteration_ms"] = round(float(np.median(spent)), 3)
    body.stepping = replace(one, iterating=Iterating(iterations=ITERATIONS, tolerance=1e-12))
    there = body.positions(body.step(state, H))
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder, "in.npz"), Path(folder, "out.npz")
        # its ARAP has ½ μ |S − 1|², ours μ |S − 1|² with μ = E/2
        np.savez(given, nodes=nodes, tets=tets, mu=np.full(len(tets), YOUNG), modes=OCTOBOT.modes, h=H, density=1000.0,
                 points=OCTOBOT.points, iterations=ITERATIONS)
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        subprocess.run([python(), "-P", Path(__file__).with_name("simkit_program.py"), given, out], check=True,
                       env=environment, cwd=folder)
        loaded = np.load(out)
        spent_before = float(loaded["eigenmodes"] + loaded["cubature"])
        theirs = {"precomputed_s": round(spent_before, 2), "points": int(loaded["points"]), "iteration_ms":
                  round(float(loaded["ms"]), 3), "last_move": float(loaded["moves"][-1])}
        away, moved = abs(loaded["places"] - there).max(), abs(there - nodes * [1.1, 1.0, 1.0]).max()
    over = theirs["iteration_ms"] / ours["iteration_ms"]
    emit("subspace_simkit", [claim("iteration_over_simkit", over, "", ">= 10")],
         {"tets": len(tets), "apart_of_move": round(float(away / moved), 3),
          "programs": {"ours": ours, "simkit": theirs}})


if __name__ == "__main__":
    main()
