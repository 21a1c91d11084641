"""A ball with default settings between plates: SDIRK2, Quick, steps of 1/48 s."""

import pytest

from benchmarks.contact_truths import QUICK, squeezed


@pytest.mark.long
def test_a_ball_with_default_settings_is_near_hertz():
    """The row `hertz` has 4,096 nodes, where few corners of faces carry less of the force."""
    nodes, off = squeezed(9, QUICK)
    assert nodes == 1000
    assert 0.0 < off <= 0.07
