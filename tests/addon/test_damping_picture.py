"""The small picture of which wobbles live: its numbers are the integrators' own."""

import importlib.util
import json
import math
from pathlib import Path

import bpy
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("damping_curves", ROOT / "scripts" / "damping_curves.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_what_the_integrators_do(script):
    """`make manual` writes it anew."""
    stored = json.loads(script.TABLE.read_text())
    made = script.table()
    assert stored["omega_h"] == made["omega_h"] and list(stored["integrators"]) == list(made["integrators"])
    for key, curves in made["integrators"].items():
        assert stored["integrators"][key]["at"] == curves["at"]
        for old, new in zip(stored["integrators"][key]["curves"], curves["curves"], strict=True):
            assert old == pytest.approx(new, rel=5e-3, abs=1e-6), key


def test_numbers_follow_the_damping_of_the_step(addon):
    from conjac.conjac_addon.ui import damping
    from conjac.solver.integrators import oscillator
    from conjac.solver.integrators.backward_euler import BackwardEuler

    h, hertz = 1 / 120, (1.0, 4.0, 16.0)
    shares = damping.left_after_a_second("backward_euler", 0.0, h, hertz)
    for share, f in zip(shares, hertz):
        omega = 2 * math.pi * f
        want = math.exp(-0.5 * omega * oscillator.damping(BackwardEuler({}), omega * h))
        assert share == pytest.approx(want, abs=5e-3)
    assert damping.left_after_a_second("midpoint", 0.0, h, hertz) == pytest.approx([1.0] * 3)
    # the fastest wobble of a step, and one beyond the table's ends
    assert 0.0 <= damping.left_after_a_second("bdf2", 0.0, 1.0, (1e6,))[0] <= 1.0


def test_the_step_that_counts_is_a_whole_part_of_a_frame(soft_cube):
    from conjac.conjac_addon.ui import damping

    scene, settings = bpy.context.scene, soft_cube.conjac
    settings.step = 0.03
    assert damping._key(settings, scene) == ("semi_implicit", 0.5, pytest.approx(1 / 48, abs=1e-6))
    settings.integrator, settings.spectral_radius = "generalized_alpha", 0.25
    assert damping._key(settings, scene)[:2] == ("generalized_alpha", 0.25)


def test_the_picture_is_full_where_nothing_dies(addon):
    from conjac.conjac_addon.ui import damping

    picture = damping.pixels(("midpoint", 0.0, 1 / 120))
    assert picture.shape == (damping.HEIGHT, damping.WIDTH, 4)
    assert (picture[-1, :, 2] > 0.3).all()
    calm = damping.pixels(("backward_euler", 0.0, 1 / 24))
    assert calm[damping.HEIGHT // 2, -10, 2] < 0.2 < calm[damping.HEIGHT // 2, 0, 2]
