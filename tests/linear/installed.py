"""Linear solvers that are installed: the zips have no scikit-sparse, and what only it can do is skipped there."""

import pytest

from solver.linear.interface import available

DIRECT = "cholmod" if available("cholmod") is not None else "cvxopt"


def installed(key):
    """The class of a linear solver; skips the test where its library is missing."""
    found = available(key)
    if found is None:
        pytest.skip(f"the library of the linear solver {key} is not installed")
    return found
