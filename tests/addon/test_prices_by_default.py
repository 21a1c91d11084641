"""Scenes that took seconds a frame at 92dd4177, with the settings of new objects: factors and steps of their frames."""

import pytest

bpy = pytest.importorskip("bpy")

from simulated_scenes import gathered, simulated  # noqa: E402

pytestmark = pytest.mark.long


def frames_of(name, folder, count):
    from benchmarks import shaken

    return list(simulated(gathered(shaken.SCENES[name][0](count), folder, count)))


def test_a_box_that_lands_on_a_hammock_takes_few_factors(addon, tmp_path):
    """It took 42 a frame: two and three a stage, with friction of its own."""
    frames = frames_of("hammock", tmp_path / "job", 12)
    assert sum(frame.factors for frame in frames) <= 30 * len(frames)
    assert not any(frame.halved for frame in frames)


def test_steps_of_two_bodies_in_a_shaken_glass_are_halved_once_at_most(addon, tmp_path):
    """They were cut to a sixteenth in most frames."""
    frames = frames_of("glass", tmp_path / "job", 12)
    assert min(frame.shortest for frame in frames) >= 1 / 96 - 1e-9
    assert sum(frame.halved for frame in frames) <= len(frames)
