"""Scenes that took seconds a frame at 92dd4177, with the settings of new objects: nodes, factors and steps."""

import pytest

bpy = pytest.importorskip("bpy")

from simulated_scenes import gathered, simulated  # noqa: E402

pytestmark = pytest.mark.long


def frames_of(name, folder, count):
    from benchmarks import shaken

    return list(simulated(gathered(shaken.SCENES[name][0](count), folder, count)))


def test_a_box_that_lands_on_a_hammock_takes_few_factors(addon, tmp_path):
    """It took 39 a frame."""
    frames = frames_of("hammock", tmp_path / "job", 12)
    assert sum(frame.factors for frame in frames) <= 28 * len(frames)
    assert not any(frame.halved for frame in frames)


def test_a_shaken_glass_takes_few_factors_and_hardly_any_shorter_steps(addon, tmp_path):
    """It took 48 factors a frame, as steps were cut in most of them."""
    frames = frames_of("glass", tmp_path / "job", 12)
    assert sum(frame.factors for frame in frames) <= 24 * len(frames)
    assert sum(frame.halved > 0 for frame in frames) <= 2
    assert min(frame.shortest for frame in frames) >= 1 / 96 - 1e-9


def test_four_stacked_jellies_stand_and_topple_on_few_nodes_and_factors(addon, tmp_path):
    """Each was filled by 2,400 nodes, however many there were."""
    frames = frames_of("stack", tmp_path / "job", 12)
    standing, toppling = frames[:8], frames[8:]
    assert sum(frame.nodes * frame.factors for frame in standing) <= 40_000 * len(standing)
    assert sum(frame.nodes * frame.factors for frame in toppling) <= 350_000 * len(toppling)
