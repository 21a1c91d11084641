"""Matrices of cases: `make test` runs a part of one, in which each value of each axis still stands, and `make test-all`
all of it."""

from collections.abc import Sequence
from itertools import product

import pytest


def some(cases: Sequence, *short) -> list:
    """All cases; those that are none of `short` are long. A case is a value, or a tuple of values."""
    cases = list(cases)
    assert all(one in cases for one in short), f"{short} is not among {cases}"
    return [_param(case, case in short) for case in cases]


def crossed(*axes: Sequence) -> list:
    """Every value of each axis with every one of the others; those off the diagonal are long."""
    axes = tuple(list(axis) for axis in axes)
    diagonal = {tuple(place % len(axis) for axis in axes) for place in range(max(map(len, axes)))}
    return [_param(tuple(axis[at] for axis, at in zip(axes, places)), places in diagonal)
            for places in product(*(range(len(axis)) for axis in axes))]


def _param(case, short: bool):
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=() if short else pytest.mark.long)
