"""CHAIN: friction is larger where more hangs, so the root stops before the tip; and all earlier with thicker pins."""

import numpy as np
import pytest

from benchmarks.scenes import chain


def test_its_root_stops_before_its_tip_and_all_earlier_with_twice_the_radius():
    thin = chain.rates(3.0)
    thick = chain.rates(2.0, radius=2.0 * chain.RADIUS)
    assert np.abs(thin).max() > 1.0 and np.abs(thick).max() > 1.0  # it swings
    hinges = chain.stops(thin)
    assert hinges.max() < 2.9 and chain.stops(thick).max() < 1.9  # and both have stopped
    assert hinges[0] < hinges[-1] - 0.2
    # with pins of twice the radius one hinge after the other
    assert (np.diff(chain.stops(thick)) >= 0.0).all()
    assert (chain.stops(thick) < hinges).all()


@pytest.mark.long
@pytest.mark.parametrize("seconds", [(0.3,), pytest.param((0.1, 0.5), marks=pytest.mark.long)])
def test_staggered_projections_come_to_bisp_s_answer(seconds):
    """Both settle in every stage; found 9e-6 of what friction changes, at half a second 3e-4."""
    result = chain.beside_staggered(4, seconds, steps=2)
    assert result["bisp"]["unsettled"] == result["staggered"]["unsettled"] == 0.0
    assert result["apart"] <= 1e-3
    assert max(result["bisp"]["off"], result["staggered"]["off"]) <= 1e-3
    assert result["staggered"]["passes"] > 5 * result["bisp"]["passes"]
