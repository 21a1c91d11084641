"""Damping curves of each integrator: conjac_addon/ui/damping.json for the panel's picture, and docs/damping.png.

    make manual

The curves are computed by the integrators themselves, one step of q̈ + ω² q = 0 at each ωh. [Ascher 12]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "conjac_addon" / "ui" / "damping.json"
PICTURE = ROOT / "docs" / "damping.png"
sys.path.insert(0, str(ROOT))

from solver import catalogue  # noqa: E402
from solver.integrators.oscillator import damping  # noqa: E402

OMEGA_H = np.geomspace(1e-3, 1e3, 121)
#: a parameter that changes the curve, and where it is tabulated
BETA = ("beta", (0.25, 0.5, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0, 10.0, 100.0))
KNOBS = {"semi_implicit": BETA, "leapfrog": BETA, "semi_implicit_printed": BETA, "siere": BETA,
         "generalized_alpha": ("spectral_radius", (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0))}
WITHOUT = {"quasistatic"}  #: nothing wobbles
REST = {"modes": 0}  #: of additive methods the curve of what is not in the modes, which keep all
FIGURE_3 = ("backward_euler", "bdf2", "sdirk", "tr_bdf2")


def curves(key: str) -> dict:
    """Return d/ω over ωh of an integrator: {"knob", "at": values of the knob, "curves": a list for each value}."""
    entry = catalogue.find("integrator", key)
    knob, values = KNOBS.get(key, (None, (None,)))
    found = []
    for value in values:
        params = {param.key: param.default for param in entry.params} | REST
        if value is not None:
            params[knob] = value
        method = entry.load()(params)
        beta = value if knob == "beta" else 1.0
        found.append([float(f"{damping(method, y, beta):.3g}") for y in OMEGA_H])
    return {"knob": knob, "at": [value for value in values if value is not None], "curves": found}


def table() -> dict:
    """Return the contents of conjac_addon/ui/damping.json: the damping curves of all integrators."""
    keys = [key for key in catalogue.menu("integrator") if key not in WITHOUT]
    return {"omega_h": [float(f"{y:.6g}") for y in OMEGA_H], "integrators": {key: curves(key) for key in keys}}


def draw(known: dict) -> None:
    """Draw docs/damping.png: figure 3 with backward Euler beside it, and the remaining amplitude of an oscillation."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4))
    fine = np.geomspace(0.1, 100, 300)
    for key, style in zip(FIGURE_3, (":", "-.", "-", "--")):
        entry = catalogue.find("integrator", key)
        left.plot(fine, [damping(entry.load()({}), y) for y in fine], style, label=entry.label)
    left.set(xscale="log", xlabel="ωh", ylabel="d / ω", title="Numerical damping (Ascher et al., Fig. 3)")
    left.legend()

    h = 1 / 120
    frequency = np.geomspace(0.3, 60, 300)
    for key in (*FIGURE_3, "midpoint"):
        curve = known["integrators"][key]["curves"][0]
        rate = np.interp(np.log(2 * np.pi * frequency * h), np.log(OMEGA_H), curve) * 2 * np.pi * frequency
        right.plot(frequency, 100 * np.exp(-0.5 * rate), label=catalogue.find("integrator", key).label)
    right.set(xscale="log", xlabel="wobble [Hz]", ylabel="left after one second [%]", title="Step 1/120 s")
    right.legend()
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    known = table()
    TABLE.write_text(json.dumps(known, separators=(",", ":")) + "\n", encoding="utf-8")
    draw(known)
    print(f"wrote {TABLE.relative_to(ROOT)} and {PICTURE.relative_to(ROOT)}")
