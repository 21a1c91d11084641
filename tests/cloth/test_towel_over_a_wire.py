"""A towel with Sharp Edges stays on a wire while its halves swing together below it, or cross; it fell through."""

import pytest

from benchmarks.contact_truths import towel


@pytest.mark.parametrize("off, friction, itself, least", [
    (0.05, 0.0, True, 0.10), pytest.param(0.0, 0.0, False, 0.28, marks=pytest.mark.long),
    pytest.param(0.05, 0.0, False, 0.10, marks=pytest.mark.long),
    pytest.param(0.0, 0.3, True, 0.28, marks=pytest.mark.long)])
def test_it_is_not_lost_where_its_halves_meet(off, friction, itself, least):
    """least: from the fold to the nearer end after half a second [m]; half of the towel is 30 cm long."""
    found = towel(off, friction, itself, 0.5)
    assert found["fell_s"] is None and not found["failed"]
    assert found["to_end"] > least
