"""Measure the liveliness of a soft beam: potential energy over time of eight integrators (Ascher et al., Fig. 6).

32 x 4 x 4 cells of five tetrahedra, 0.32 x 0.04 x 0.04 m, E = 1e5, ν = 0.4, 1000 kg/m³, stable Neo-Hookean, both ends
fixed; it starts straight and gravity pulls it down. Steps of 1/100 s, 4 s. Size, density, step and time are ours. The
number is the mean potential energy above that of rest in the last second, over what the beam had at the start. Draws
docs/integrators_energy.png.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from benchmarks.scenes.five_tets import box_five_tets
from benchmarks.vanilla import vanilla
from solver.errors import StepFailed
from solver.nonlinear.equilibrium import equilibrium
from solver.world.nodes import Nodes

CELLS, SIZE = (32, 4, 4), (0.32, 0.04, 0.04)
H, STEPS = 1 / 100, 400
PICTURE = Path(__file__).resolve().parents[1] / "docs" / "integrators_energy.png"
MODES = {"modes": 10, "redecompose": 10}
ROWS: dict[str, dict[str, float]] = {
    "backward_euler": {}, "siere": MODES, "str_sbdf2ere": MODES, "tr_bdf2": {}, "sdirk": {},
    "str_bdf2": {}, "tr_bdf2ere": MODES, "str_sbdf2ere_printed": MODES,
}
DRAWN = {"backward_euler": "-", "siere": "-", "str_sbdf2ere": "-.", "tr_bdf2": ":", "sdirk": "--"}


def beam(key: str, params: dict[str, float]) -> Nodes:
    nodes, tets = box_five_tets(CELLS, SIZE)
    ends = (nodes[:, 0] < 1e-9) | (nodes[:, 0] > SIZE[0] - 1e-9)
    return vanilla(nodes, tets, np.flatnonzero(ends), 1e5, 0.4, integrator=key, params=params)


def potential(world: Nodes, x: np.ndarray) -> float:
    """Elastic and gravitational energy [J]."""
    energy = world.evaluate(x, 0.0)[1]
    assert energy is not None
    return energy


def swing(key: str, params: dict[str, float], rest: float) -> tuple[np.ndarray, float]:
    """Potential energy above that of rest at each step [J], NaN from where it blew up, and milliseconds a step."""
    world = beam(key, params)
    state = world.initial_state()
    energies = np.full(STEPS + 1, np.nan)
    began = time.perf_counter()
    for i in range(STEPS + 1):
        energies[i] = potential(world, world.coordinates.positions(state.q, state.time)) - rest
        try:
            state = replace(world.step(state, H), time=(i + 1) * H)
        except StepFailed as failure:
            print(f"{key} after {i} steps: {str(failure)[:80]}", file=sys.stderr)
            break
    return energies, (time.perf_counter() - began) / (i + 1) * 1e3


def rounded(value: float) -> float | None:
    """Four digits, and None where there is no number."""
    return float(f"{value:.4g}") if np.isfinite(value) else None


def draw(curves: dict[str, np.ndarray]) -> None:
    """The paper's figure, and the printed formula beside it."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    from solver import catalogue

    seconds = np.arange(STEPS + 1) * H
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13, 4.5), width_ratios=(2, 1))
    for key, style in DRAWN.items():
        left.plot(seconds, 1e3 * curves[key], style, linewidth=2.5 if key == "backward_euler" else 1.0,
                  label=catalogue.find("integrator", key).label)
    left.set(xlabel="time [s]", ylabel="potential energy above rest [mJ]",
             title="A soft beam let go (Ascher et al., Fig. 6)")
    left.legend(loc="upper right", ncols=3, fontsize="small")
    left.set_ylim(0, 1.25e3 * curves["sdirk"].max())
    for key in ("str_sbdf2ere_printed", "str_sbdf2ere"):
        right.plot(seconds, 1e3 * np.maximum(curves[key], 1e-6), label=catalogue.find("integrator", key).label)
    right.set(xlabel="time [s]", ylabel="potential energy above rest [mJ]", yscale="log",
              title="Eq. 27 as printed, and corrected")
    right.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=100)


def main() -> None:
    threads.configure(None)
    plain = beam("semi_implicit", {})
    free = plain.coordinates.free
    x = equilibrium(plain, plain.rest.copy(), 0.0, free, plain.tets, type(plain.linear)())
    rest = potential(plain, x)
    curves: dict[str, np.ndarray] = {}
    details: dict[str, dict[str, Any]] = {}
    for key, params in ROWS.items():
        curves[key], ms = swing(key, params, rest)
        seconds = curves[key][1:].reshape(-1, round(1 / H)).mean(axis=1) / curves[key][0]
        details[key] = {"left_by_second": [rounded(part) for part in seconds], "ms_a_step": round(ms, 1)}
        print(key, details[key], file=sys.stderr, flush=True)
    left: dict[str, float] = {key: row["left_by_second"][-1] for key, row in details.items()}
    draw(curves)
    shown: dict[str, Any] = {"sag_m": round(float(np.abs(x - plain.rest).max()), 5), "rows": details,
                             "mj_every_0.1_s": {key: [rounded(1e3 * e) for e in curve[::10]]
                                                for key, curve in curves.items()}}
    emit("liveliness", [
        claim("siere_above_be", left["siere"] - left["backward_euler"], "of the start's energy", "> 0", "> 0"),
        claim("str_sbdf2ere_above_siere", left["str_sbdf2ere"] - left["siere"], "of the start's energy", "> 0", "> 0"),
        claim("tr_bdf2_over_str_sbdf2ere", left["tr_bdf2"] / left["str_sbdf2ere"], "", "> 1", "> 1"),
        claim("sdirk_against_tr_bdf2", abs(left["sdirk"] / left["tr_bdf2"] - 1.0), "", "<= 0.05", "about 0"),
        claim("printed_grows_to", float(np.nanmax(curves["str_sbdf2ere_printed"]) / curves["str_sbdf2ere_printed"][0]),
              "times the start's energy", ">= 2"),
    ], shown)


if __name__ == "__main__":
    main()
