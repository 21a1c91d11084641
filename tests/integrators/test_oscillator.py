"""Integrators on q̈ + ω² q = 0: closed forms of one step, damping curves, and Figure 3.

The peaks of the curves, and where they cross, are those that docs/integrators.md has.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from solver import catalogue
from solver.integrators.oscillator import damping, update_matrix

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "integrators.md").read_text(encoding="utf-8")
NAMED = {"backward_euler": "Backward Euler", "bdf2": "BDF2", "sdirk": "SDIRK, SDIRK2", "tr_bdf2": "TR-BDF2"}
PEAKS = [(key, *map(float, re.search(rf"^\| {name} \| ([\d.]+) \| ([\d.]+) \| \1 at \2 \|$", PAGE, re.M).groups()))
         for key, name in NAMED.items()]
CROSSINGS = re.search(r"BDF2 falls under SDIRK at ωh = ([\d.]+) and under TR-BDF2 at ([\d.]+)\.", PAGE).groups()

SQRT2 = np.sqrt(2.0)
ALPHA = 1 - 1 / SQRT2


def integrator(key, **params):
    entry = catalogue.find("integrator", key)
    defaults = {param.key: param.default for param in entry.params}
    return entry.load()({**defaults, **params})


def radius(key, y, **params):
    return np.abs(np.linalg.eigvals(update_matrix(integrator(key, **params), y))).max()


#: R(z) of u' = λ u with z = λ h; the oscillator's eigenvalues are ± i ω
CLOSED = {
    "backward_euler": lambda z: 1 / (1 - z),
    "semi_implicit": lambda z: 1 / (1 - z),
    "trapezoidal": lambda z: (1 + z / 2) / (1 - z / 2),
    "midpoint": lambda z: (1 + z / 2) / (1 - z / 2),
    "tr_bdf2": lambda z: (12 + 5 * z) / ((4 - z) * (3 - z)),
    "str_bdf2": lambda z: (12 + 5 * z) / ((4 - z) * (3 - z)),
    "sdirk": lambda z: (1 + (1 - 2 * ALPHA) * z) / (1 - ALPHA * z) ** 2,
    "ssdirk2": lambda z: (1 + (1 - 2 * ALPHA) * z) / (1 - ALPHA * z) ** 2,
    "sdirk2": lambda z: (1 + (1 - 2 * ALPHA) * z) / (1 - ALPHA * z) ** 2,
}


@pytest.mark.parametrize("entry", catalogue.family("integrator").values(), ids=lambda entry: entry.key)
def test_the_catalogue_says_which_integrators_damping_means_something_to(entry):
    calm, lively = (update_matrix(integrator(entry.key), 2.0, beta) for beta in (1.0, 0.5))
    assert entry.able("beta") == (not np.array_equal(calm, lively))


@pytest.mark.parametrize("key", CLOSED)
@pytest.mark.parametrize("y", [0.01, 0.3, 2.0, 7.0, 50.0])
def test_one_step_is_the_stability_function(key, y):
    """The eigenvalues of a step are R(iy) and its conjugate."""
    values = np.linalg.eigvals(update_matrix(integrator(key), y))
    want = CLOSED[key](1j * y)
    assert np.sort(values.imag) == pytest.approx(np.sort([want.imag, -want.imag]), abs=1e-12)
    assert values.real == pytest.approx([want.real] * 2, abs=1e-12)


@pytest.mark.parametrize("y", [0.1, 1.0, 30.0])
def test_both_sdirk_are_one_method_on_linear_problems(y):
    ascher, thesis = (update_matrix(integrator(key), y) for key in ("sdirk", "sdirk2"))
    assert np.abs(ascher - thesis).max() <= 1e-14 * max(1, y)


@pytest.mark.parametrize("key", ["bdf2", "sbdf2"])
@pytest.mark.parametrize("y", [0.1, 1.0, 9.0])
def test_bdf2_is_its_characteristic_polynomial(key, y):
    """(1 − 2z/3) r² − 4/3 r + 1/3 = 0 for z = ± i y."""
    values = np.linalg.eigvals(update_matrix(integrator(key), y))
    want = np.concatenate([np.roots([1 - 2 * z / 3, -4 / 3, 1 / 3]) for z in (1j * y, -1j * y)])
    assert max(np.abs(values - root).min() for root in want) <= 1e-12


@pytest.mark.parametrize("rho", [0.0, 0.5, 1.0])
def test_generalized_alpha_leaves_the_chosen_share_of_the_fastest_wobble(rho):
    assert radius("generalized_alpha", 1e5, spectral_radius=rho) == pytest.approx(rho, abs=2e-2 if rho else 1e-2)
    assert radius("generalized_alpha", 0.01, spectral_radius=rho) == pytest.approx(1.0, abs=1e-5)


#: [ERRATA, Fig. 3]
@pytest.mark.parametrize("key,peak,at", PEAKS)
def test_peaks_of_the_damping_curves(key, peak, at):
    method = integrator(key)
    found = minimize_scalar(lambda y: -damping(method, y), bounds=(0.5 * at, 2 * at), method="bounded")
    assert -found.fun == pytest.approx(peak, abs=6e-4)
    assert found.x == pytest.approx(at, rel=6e-3)


@pytest.mark.parametrize("other,at", [*zip(("sdirk", "tr_bdf2"), map(float, CROSSINGS))])
def test_bdf2_damps_less_than_the_others_far_out(other, at):
    crossing = brentq(lambda y: damping(integrator("bdf2"), y) - damping(integrator(other), y), 20.0, 60.0)
    assert crossing == pytest.approx(at, abs=0.06)


@pytest.mark.parametrize("key", ["midpoint", "trapezoidal"])
@pytest.mark.parametrize("y", [0.1, 1.0, 3.0, 20.0])
def test_conservative_methods_do_not_damp(key, y):
    assert abs(damping(integrator(key), y)) <= 1e-13


@pytest.mark.parametrize("key", ["backward_euler", "bdf2", "sbdf2", "sdirk", "sdirk2", "ssdirk2", "tr_bdf2", "str_bdf2",
                                 "semi_implicit", "generalized_alpha", "midpoint", "trapezoidal"])
def test_no_frequency_grows(key):
    for y in np.geomspace(1e-2, 1e3, 40):
        assert radius(key, y) <= 1 + 1e-12
