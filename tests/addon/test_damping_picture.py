"""The small picture of the damping of wobbles has the numbers of the integrators."""

import importlib.util
import json
import math
from pathlib import Path

import bpy
import pytest
from calls import calls
from drawn_panels import FakeLayout
from matrix import some

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("damping_curves", ROOT / "scripts" / "damping_curves.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("every", some([1, 6], 6))
def test_the_table_is_what_the_integrators_do(script, every):
    """`make manual` writes the table. every: of so many columns one is computed here."""
    stored = json.loads(script.TABLE.read_text())
    script.OMEGA_H = script.OMEGA_H[::every]
    made = script.table()
    assert stored["omega_h"][::every] == made["omega_h"] and list(stored["integrators"]) == list(made["integrators"])
    for key, curves in made["integrators"].items():
        assert stored["integrators"][key]["at"] == curves["at"]
        for old, new in zip(stored["integrators"][key]["curves"], curves["curves"], strict=True):
            assert old[::every] == pytest.approx(new, rel=5e-3, abs=1e-6), key


def test_numbers_follow_the_damping_of_the_step(addon):
    from conjac.conjac_addon.ui import damping
    from conjac.solver.integrators import oscillator
    from conjac.solver.integrators.backward_euler import BackwardEuler

    h, hertz = 1 / 120, (1.0, 4.0, 16.0)
    fractions = damping.left_after_a_second("backward_euler", 0.0, h, hertz)
    for fraction, f in zip(fractions, hertz):
        omega = 2 * math.pi * f
        want = math.exp(-0.5 * omega * oscillator.damping(BackwardEuler({}), omega * h))
        assert fraction == pytest.approx(want, abs=5e-3)
    assert damping.left_after_a_second("midpoint", 0.0, h, hertz) == pytest.approx([1.0] * 3)
    # the fastest wobble of a step, and one beyond the table's ends
    assert 0.0 <= damping.left_after_a_second("bdf2", 0.0, 1.0, (1e6,))[0] <= 1.0


def test_the_step_that_counts_is_a_whole_part_of_a_frame(soft_cube):
    from conjac.conjac_addon.ui import damping

    scene, settings = bpy.context.scene, soft_cube.conjac
    settings.step, table = 0.03, damping.load_table()
    assert damping._key(table, settings, scene) == ("semi_implicit", 0.5, pytest.approx(1 / 48, abs=1e-6))
    settings.integrator, settings.spectral_radius = "generalized_alpha", 0.25
    assert damping._key(table, settings, scene)[:2] == ("generalized_alpha", 0.25)


def test_the_picture_is_full_where_nothing_dies(addon):
    from conjac.conjac_addon.ui import damping

    picture = damping.pixels(("midpoint", 0.0, 1 / 120))
    assert picture.shape == (damping.HEIGHT, damping.WIDTH, 4)
    assert (picture[-1, :, 2] > 0.3).all()
    calm = damping.pixels(("backward_euler", 0.0, 1 / 24))
    assert calm[damping.HEIGHT // 2, -10, 2] < 0.2 < calm[damping.HEIGHT // 2, 0, 2]


@pytest.fixture
def unread(addon):
    """Return the module as it is before any panel was drawn."""
    from conjac.conjac_addon.ui import damping

    damping._table = None
    return damping


def drawn(damping, settings):
    log = []
    damping.draw(FakeLayout(log), settings, bpy.context.scene)
    return log


def test_drawing_reads_and_computes_nothing(unread, soft_cube, monkeypatch):
    damping = unread

    def never(*_):
        raise AssertionError("this is work, and a panel draws")

    with monkeypatch.context() as patched:
        for name in ("load_table", "left_after_a_second", "pixels"):
            patched.setattr(damping, name, never)
        assert drawn(damping, soft_cube.conjac) == []
    damping.make_wanted()  # what the timer does; only now the settings can be looked up
    assert drawn(damping, soft_cube.conjac) == [] and damping._wanted
    damping.make_wanted()
    with monkeypatch.context() as patched:
        for name in ("load_table", "left_after_a_second", "pixels"):
            patched.setattr(damping, name, never)
        log = drawn(damping, soft_cube.conjac)
        assert calls(drawn, damping, soft_cube.conjac) < 400
    assert "picture" in dict(log) and "4 Hz" in log[-1][1]


def test_a_knob_that_is_turned_shows_the_last_picture_until_the_next_is_made(soft_cube):
    from conjac.conjac_addon.ui import damping

    damping.load_table(), drawn(damping, soft_cube.conjac), damping.make_wanted()
    before = drawn(damping, soft_cube.conjac)
    soft_cube.conjac.beta = 3.0
    assert drawn(damping, soft_cube.conjac) == before
    damping.make_wanted()
    assert drawn(damping, soft_cube.conjac) != before


def test_few_pictures_are_cached_and_those_shown_last(soft_cube):
    from conjac.conjac_addon.ui import damping

    damping.load_table()
    first = damping._key(damping.load_table(), soft_cube.conjac, bpy.context.scene)
    for number in range(2 * damping.MOST):
        drawn(damping, soft_cube.conjac)
        soft_cube.conjac.beta = 0.5 + 0.01 * number
        drawn(damping, soft_cube.conjac), damping.make_wanted()
        soft_cube.conjac.beta = 0.5
    assert len(damping._pictures) == len(damping._numbers) == damping.MOST
    assert set(damping._pictures) == {str(key) for key in damping._numbers} and first in damping._numbers


def test_the_caption_says_what_the_numbers_leave_out(soft_cube):
    from conjac.conjac_addon.ui import damping
    from conjac.solver import catalogue

    settings = soft_cube.conjac
    assert damping.caption(settings) == "Left of a wobble after 1 s:"
    settings.stiffness_damping = 0.01
    assert damping.caption(settings) == "Left of a wobble after 1 s, before material damping:"
    settings.stiffness_damping, settings.wobble_half_life = 0.0, 0.75
    assert damping.caption(settings) == "Left of a wobble after 1 s, before material damping:"
    settings.wobble_half_life = 0.0
    with_modes = [key for key, entry in catalogue.menu("integrator").items() if catalogue.MODES in entry.params]
    assert len(with_modes) >= 6
    for key in with_modes:
        settings.integrator, settings.modes = key, 7
        text = damping.caption(settings)
        assert text == "The slowest 7 wobbles keep their swing. Left of the others after 1 s:"
        damping.load_table(), drawn(damping, settings), damping.make_wanted()
        assert " ".join(words for kind, words in drawn(damping, settings) if kind == "label").startswith(text)
    settings.modes = 0
    assert damping.caption(settings) == "Left of a wobble after 1 s:"
